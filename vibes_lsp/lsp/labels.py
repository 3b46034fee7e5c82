"""One annotation in one line, as lenses and plugins show it: model, whereabouts, risk, review. Text from the trail is cut short and inert."""

from __future__ import annotations

from collections.abc import Iterator

from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.markup import flat
from vibes_lsp.lsp.views import View
from vibes_lsp.model.members import Members
from vibes_lsp.reports.words import model_name, review_label, title, whereabouts

READING = "reading the audit trail …"
"""What is said in place of every answer while a large trail is read for the first time: nothing would mean that no AI was here."""

_BETWEEN = " · "


def label(view: View, placement: Placement, facts: Members) -> str:
    """Return what a lens says, above the lines: what was done, and all there is to say about where they are now."""
    parts = [_model(facts), flat(title(placement), 40), whereabouts(placement)]
    if placement.is_pending:
        parts.append("pending")
    return _joined([*parts, *_standing(view, placement, facts)])


def line_text(view: View, placement: Placement, facts: Members) -> str:
    """Return what is said at the end of a line: that an AI wrote it, and the prompt last, for that is what the window's edge may cut.

    Where no line is verified, it is only claimed that an AI wrote it.
    """
    head = "AI" if placement.located.is_proven else "AI (claimed)"
    state = "pending" if placement.is_pending else placement.located.state.value
    parts = [
        f"{head}: {_model(facts)}",
        f"{state}, ambiguous" if placement.located.ambiguous else state,
        *_standing(view, placement, facts),
    ]
    prompt = facts.get("prompt")
    return _joined([*parts, f"“{flat(prompt, 70)}”"] if isinstance(prompt, str) else parts)


def _model(facts: Members) -> str:
    return flat(model_name(facts), 40)


def _standing(view: View, placement: Placement, facts: Members) -> Iterator[str]:
    """Say how far to trust it; what only may be here has no risk here."""
    if facts.get("captured"):
        yield "captured"
    figures = view.report.figures(facts)
    if figures is not None and not placement.is_guess:
        yield f"risk {figures}"
    review = review_label(facts)
    if review is not None:
        yield review


def _joined(parts: list[str]) -> str:
    return _BETWEEN.join(parts).replace("$(", "$ (")  # which VS Code would draw as an icon
