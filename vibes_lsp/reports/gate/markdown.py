"""What a gate came to, as Markdown for a pull request. Whatever comes from the project stands in code spans: no host makes anything of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vibes_lsp.checks.finding import Finding, Severity, counted
from vibes_lsp.model.inert import span
from vibes_lsp.model.members import text
from vibes_lsp.reports.gate.deciding import Decision
from vibes_lsp.reports.gate.report import GateReport, Item
from vibes_lsp.reports.words import model_name, review_words

_MAX_ITEMS: Final = 50
_MAX_FINDINGS: Final = 50
_MAX_TEXT: Final = 200


def summary(report: GateReport) -> str:
    """Return the report as Markdown; long lists are cut, and say so."""
    return "\n".join(_lines(report)) + "\n"


def sums(report: GateReport) -> str:
    """Return how many annotations there are of what kind, in words."""
    counts = (
        (report.count(Decision.BLOCK), "blocked"),
        (report.count(Decision.REQUIRE_REVIEW), "to be reviewed"),
        (report.rejected, "rejected"),
        (report.released, "approved"),
        (report.count(Decision.FLAG), "flagged"),
    )
    parts = [f"{number:,} {word}" for number, word in counts if number]
    return f"{counted(len(report.items), 'annotation', 'annotations')}" + (f": {', '.join(parts)}" if parts else "")


def _lines(report: GateReport) -> Iterator[str]:
    yield f"### VIBES gate: {'PASS' if report.passed else 'FAIL'}"
    yield ""
    against = f", by the policy of {span(report.base[:12], 12)}" if report.base is not None else ""
    yield f"{sums(report)}. Blocked from {report.bound:g}{against}."
    shown = list(report.shown)
    if shown:
        yield ""
    yield from (_item(item) for item in shown[:_MAX_ITEMS])
    if len(shown) > _MAX_ITEMS:
        yield f"- … and {len(shown) - _MAX_ITEMS:,} more"
    weighty = [finding for finding in report.findings if finding.severity != Severity.NOTE]
    if weighty:
        yield ""
        yield "#### Findings"
        yield ""
    yield from (_finding(finding) for finding in weighty[:_MAX_FINDINGS])
    if len(weighty) > _MAX_FINDINGS:
        yield f"- … and {len(weighty) - _MAX_FINDINGS:,} more"
    notes = len(report.findings) - len(weighty)
    if notes:
        yield ""
        yield f"{counted(notes, 'note', 'notes')} not shown here; `vibes gate --json` has all."


def _item(item: Item) -> str:
    parts = [
        f"**{item.verdict}** {span(item.place, _MAX_TEXT)}",
        span(model_name(item.facts), 60),
        f"risk {item.figures}" if item.figures is not None else "",
        span(review_words(item.facts), 100),
        *(f"rule {span(reason, _MAX_TEXT)}" for reason in item.reasons[:3]),
        f"prompt {span(prompt, _MAX_TEXT)}" if (prompt := text(item.facts, "prompt")) else "",
    ]
    return "- " + " · ".join(part for part in parts if part)


def _finding(finding: Finding) -> str:
    return f"- **{finding.severity.value}** `{finding.check.id}` {span(finding.place, _MAX_TEXT)}: {span(finding.message, 2 * _MAX_TEXT)}"
