"""One annotation in one line, as lenses and plugins show it: model, deed, whereabouts, risk, review."""

from __future__ import annotations

from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.markup import flat
from vibes_lsp.lsp.views import View
from vibes_lsp.reports.words import review_label, title, whereabouts


def label(view: View, placement: Placement) -> str:
    """Return what a lens says; text from the trail is cut short, on one line, without control characters."""
    facts = view.report.placement(placement)
    model = facts["model"]
    name = model["name"] if isinstance(model, dict) else "unknown"
    parts = [flat(name, 40), flat(title(placement), 40), whereabouts(placement)]
    if placement.is_pending:
        parts.append("pending")
    if facts.get("captured"):
        parts.append("captured")
    figures = view.report.figures(facts)
    if figures is not None:
        parts.append(f"risk {figures}")
    review = review_label(facts)
    if review is not None:
        parts.append(review)
    return " · ".join(parts).replace("$(", "$ (")  # which VS Code would draw as an icon
