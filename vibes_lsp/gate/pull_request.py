"""The result of a gate run for people who review a pull request: Markdown, and hosts' formats.

Everything from the project is untrusted: in Markdown it is in code spans or quoted in links, which
cannot become other links, mentions, images or HTML.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote

from vibes_lsp.checks.finding import Finding, Severity, pluralize
from vibes_lsp.gate.annotation_decision import GateDecision
from vibes_lsp.gate.report import GateItem, GateReport, summary_line
from vibes_lsp.model.escaping import code_span, single_line, without_pipeline_commands
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.reports.blame import LineCounts
from vibes_lsp.reports.diff import Changes
from vibes_lsp.reports.placements import describe_review, main_reasons, model_name

_MAX_TABLE: Final = 20_000
"""Characters of a table; a comment on GitHub has at most 65,536 in all."""
_MAX_FINDINGS: Final = 25
_MAX_TEXT: Final = 200
_HEAD: Final = ("", "lines", "risk", "why", "model", "review", "prompt")
_COMMANDS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "notice",
}
_CODE_QUALITY: Final = {
    Severity.ERROR: "critical",
    Severity.WARNING: "major",
    Severity.NOTE: "info",
}


def markdown_summary(
    report: GateReport, *, changes: Changes | None = None, links: str | None = None
) -> str:
    """Return the report as Markdown for a pull request; long lists are cut.

    Args:
        report: The result of the gate.
        changes: The changes of the branch, to say how many lines an AI wrote.
        links: The address of the project's files on their host, such as
            `https://example.org/owner/name/blob/COMMIT`.
    """
    return without_pipeline_commands("\n".join(_lines(report, changes, links))) + "\n"


def workflow_commands(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield findings as GitHub's workflow commands, which show them at their lines."""
    for finding in findings:
        line = "" if finding.line is None else f",line={finding.line}"
        if finding.end_line is not None:
            line += f",endLine={finding.end_line}"
        place = f"file={_command_property(finding.file)}{line},title=VIBES {finding.check.id}"
        yield f"::{_COMMANDS[finding.severity]} {place}::{_command_text(finding.message)}"


def code_quality(findings: Sequence[Finding]) -> list[JsonValue]:
    """Return findings as a GitLab Code Quality report."""
    return [_code_quality_issue(finding) for finding in findings]


def _lines(report: GateReport, changes: Changes | None, links: str | None) -> Iterator[str]:
    yield f"### VIBES gate: {'PASS' if report.passed else 'FAIL'}"
    yield ""
    yield f"**{_first_sentence(report, changes)}**"
    failing = [item for item in report.listed if item.fails]
    if failing:
        yield ""
        yield from _table(failing, links)
    if not report.passed:
        yield ""
        yield f"**To pass:** {_remedy(report)}"
    yield from _findings(report)
    passing = [item for item in report.listed if not item.fails]
    if passing:
        count = pluralize(len(passing), "range that passes", "ranges that pass")
        yield ""
        yield f"<details><summary>{count}: flagged or approved</summary>"
        yield ""
        yield from _table(passing, links)
        yield ""
        yield "</details>"
    policy = f", policy of {code_span(report.base[:8], 8)}" if report.base is not None else ""
    yield ""
    yield f"{summary_line(report)}. Blocked at a risk of {report.bound:g} or more{policy}."


def _first_sentence(report: GateReport, changes: Changes | None) -> str:
    """Return how much an AI wrote and what that leads to."""
    blocked, waiting = report.count(GateDecision.BLOCK), report.count(GateDecision.REQUIRE_REVIEW)
    errors = sum(finding.severity == Severity.ERROR for finding in report.findings)
    parts = [
        pluralize(blocked, "range blocks", "ranges block") if blocked else "",
        pluralize(waiting, "range needs a review", "ranges need a review") if waiting else "",
        pluralize(report.rejected, "range is rejected", "ranges are rejected")
        if report.rejected
        else "",
        pluralize(errors, "error in the audit trail", "errors in the audit trail")
        if errors
        else "",
    ]
    outcome = ", ".join(part for part in parts if part) or "nothing blocks"
    if changes is None or not changes.changed_lines:
        return f"{outcome[0].upper()}{outcome[1:]}."
    counts: LineCounts = changes.counts
    written = counts.verified + counts.claimed + counts.edited
    claimed = f" ({counts.claimed:,} only claimed)" if counts.claimed else ""
    return (
        f"{_share(written, changes.changed_lines)} of {changes.changed_lines:,} changed lines are"
        f" an AI's{claimed}; {outcome}."
    )


def _share(part: int, whole: int) -> str:
    """Return a share in percent; one that only rounds to none or all is told apart from them."""
    rounded = f"{part / whole:.0%}"
    if rounded == "0%" and part:
        return "less than 1%"
    return "more than 99%" if rounded == "100%" and part < whole else rounded


def _remedy(report: GateReport) -> str:
    """Return what makes a failing gate pass."""
    who = "a person" if report.base is None else "another person than the author of the code"
    steps = [
        f"{who} approves each range above (`vibes review`, or *Mark reviewed* in an editor) and"
        " commits the audit trail, or the lines are changed so that their risk falls"
        if any(item.fails for item in report.items)
        else "",
        "the errors below are fixed"
        if any(finding.severity == Severity.ERROR for finding in report.findings)
        else "",
    ]
    return "; ".join(step for step in steps if step) + "."


def _table(items: Sequence[GateItem], links: str | None) -> Iterator[str]:
    yield f"| {' | '.join(_HEAD)} |"
    yield f"|{'---|' * len(_HEAD)}"
    size = 0
    for number, item in enumerate(items):
        row = f"| {' | '.join(_row(item, links))} |"
        size += len(row)
        if size > _MAX_TABLE:
            yield ""
            yield f"… and {len(items) - number:,} more"
            return
        yield row


def _row(item: GateItem, links: str | None) -> Iterator[str]:
    """Yield the cells of a table; a code span in one must not contain a vertical bar."""
    rules = [f"rule {_span(reason, _MAX_TEXT)}" for reason in item.reasons[:2]]
    reasons = rules or [_span(reason, _MAX_TEXT) for reason in main_reasons(item.facts)]
    prompt = text(item.facts, "prompt")
    yield f"**{item.verdict}**"
    yield _linked(item, links)
    yield item.score_text or ""
    yield "<br>".join(reasons)
    yield _span(model_name(item.facts), 60)
    yield _span(describe_review(item.facts), 100)
    yield _span(prompt, _MAX_TEXT) if prompt else ""


def _linked(item: GateItem, links: str | None) -> str:
    place = _span(item.location, _MAX_TEXT)
    start, end = item.placement.located.start, item.placement.located.end
    if links is None:
        return place
    lines = "" if start is None else f"#L{start}-L{end}"
    return f"[{place}]({links.rstrip('/')}/{quote(item.path, errors='replace')}{lines})"


def _span(value: object, limit: int) -> str:
    return code_span(str(value).replace("|", "¦"), limit)


def _findings(report: GateReport) -> Iterator[str]:
    important = [finding for finding in report.findings if finding.severity != Severity.NOTE]
    if important:
        yield ""
        yield "#### Findings"
        yield ""
    yield from (_finding(finding) for finding in important[:_MAX_FINDINGS])
    if len(important) > _MAX_FINDINGS:
        yield f"- … and {len(important) - _MAX_FINDINGS:,} more"
    notes = len(report.findings) - len(important)
    if notes:
        yield ""
        yield f"{pluralize(notes, 'note', 'notes')} not shown; `vibes gate --json` lists all."


def _finding(finding: Finding) -> str:
    location, message = (
        code_span(finding.location, _MAX_TEXT),
        code_span(finding.message, 2 * _MAX_TEXT),
    )
    return f"- **{finding.severity.value}** `{finding.check.id}` {location}: {message}"


def _command_text(message: str) -> str:
    return without_pipeline_commands(single_line(message.replace("%", "%25"), 1_000))


def _command_property(path: str) -> str:
    escaped = path.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return without_pipeline_commands(
        single_line(escaped.replace("\r", "%0D").replace("\n", "%0A"), 1_000)
    )


def _code_quality_issue(finding: Finding) -> Members:
    lines: Members = {"begin": finding.line or 1}
    if finding.end_line is not None:
        lines["end"] = finding.end_line
    identity = f"{finding.check.id} {finding.file} {finding.message}"
    return {
        "description": single_line(finding.message, 1_000),
        "check_name": finding.check.id,
        "fingerprint": hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest(),
        "severity": _CODE_QUALITY[finding.severity],
        "location": {"path": finding.file, "lines": lines},
    }
