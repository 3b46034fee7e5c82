"""One annotation in a terminal: its code, who wrote it, what was asked, its risk and reviews."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from vibes_lsp.cli.output import (
    BAND_STYLES,
    KIND_MARKS,
    code_lines,
    escape,
    escape_code,
    print_line,
    print_styled,
    print_text,
    terminal_width,
)
from vibes_lsp.cli.project import now
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.members import JsonValue, text
from vibes_lsp.model.vocabulary import ReviewerKind
from vibes_lsp.reports.placements import (
    describe_edit,
    describe_location,
    describe_review,
    main_reasons,
)
from vibes_lsp.reports.record_text import is_selected
from vibes_lsp.reports.review_queue import Inspection

if TYPE_CHECKING:
    from rich.text import Text

_PAGE_LINES: Final = 300
_PAGE_CHARACTERS: Final = 60_000
_MAX_LONG_TEXT: Final = 1_000
_MAX_SHORT_TEXT: Final = 300
_MAX_NAME: Final = 60
_MAX_LINE: Final = 500
_MAX_REMOVED: Final = 40
"""Removed lines that are shown in one place."""
_MAX_LISTED: Final = 8


def print_annotation(inspection: Inspection, position: str) -> bool:
    """Print an annotation, its code first; return whether all lines were printed.

    Args:
        inspection: The annotation.
        position: Its position in the queue, as text.
    """
    facts = inspection.facts
    print_line()
    name = facts.get("functionName")
    head = [(f"{position}  ", "dim"), (escape(place_of(inspection)), "bold")]
    if isinstance(name, str):
        head.append((f" {escape(name, _MAX_NAME)}", "bold"))
    print_styled(head)
    before, after = inspection.context
    _print_context(inspection, inspection.start - len(before), before)
    shown = _page_length(inspection)
    _print_lines(inspection, 0, shown)
    left = len(inspection.lines) - shown
    if left > 0:
        message = f"… {left:,} of {len(inspection.lines):,} lines not shown; press v to show them"
        print_styled([(message, "bold yellow")])
    else:
        _print_removed(inspection, inspection.start + len(inspection.lines))
        _print_context(inspection, inspection.start + len(inspection.lines), after)
    print_line()
    print_summary(inspection)
    return left <= 0


def print_summary(inspection: Inspection) -> None:
    """Print who wrote the lines, the main reasons of their risk, the prompt and the review."""
    facts = inspection.facts
    parts = [
        _named(facts["model"]),
        _named(facts["tool"]),
        escape(describe_edit(inspection.placement), _MAX_NAME),
        describe_location(inspection.placement),
        describe_age(inspection.placement.lineage.first.moment, now()),
    ]
    print_styled(
        [
            (f"{escape(inspection.placement.current.id)[:8]} ", "dim"),
            (" · ".join(escape(part) for part in parts), ""),
        ]
    )
    if inspection.risk is not None:
        main = main_reasons(facts, with_review=False)
        reasons = "; ".join(escape(reason, _MAX_SHORT_TEXT) for reason in main)
        style = BAND_STYLES.get(str(facts["band"]), "")
        parts_of_risk = [("risk: ", "dim"), (escape(inspection.risk), style)]
        print_styled([*parts_of_risk, (f": {reasons}" if reasons else "", "")])
    prompt = facts.get("prompt")
    if isinstance(prompt, str):
        print_styled([("prompt: ", "dim"), (escape(prompt, _MAX_LONG_TEXT), "italic")])
    review = escape(describe_review(facts), _MAX_SHORT_TEXT)
    print_styled([("review: ", "dim"), (review, "bold")])


def print_details(inspection: Inspection) -> None:
    """Print what `print_annotation` leaves out: decision, reasoning, risk, reviews and edits."""
    when = inspection.facts["timestamp"]
    print_styled(
        [
            ("recorded: ", "dim"),
            (f"{escape(when or '?', 24)}, {escape(inspection.placement.current.id)}", ""),
        ]
    )
    print_reasons(inspection)
    for label, content, style in (
        *_factors(inspection.facts.get("factors")),
        *_history(inspection),
    ):
        print_styled([(f"{label}: ", "dim"), (content, style)])


def print_reasons(inspection: Inspection) -> None:
    """Print the decision and the reasoning behind an annotation."""
    for label, content, style in _reasons(inspection):
        print_styled([(f"{label}: ", "dim"), (content, style)])


def print_remaining_lines(inspection: Inspection) -> None:
    """Print the lines that `print_annotation` left out."""
    _print_lines(inspection, _page_length(inspection), len(inspection.lines))


def place_of(inspection: Inspection) -> str:
    """Return file and lines of an annotation, not escaped."""
    facts = inspection.facts
    return f"{facts['filePath']}:{facts['lineStart']}-{facts['lineEnd']}"


def _page_length(inspection: Inspection) -> int:
    """Return how many lines are printed at once."""
    characters = 0
    for number, (line, _) in enumerate(inspection.lines[:_PAGE_LINES]):
        characters += len(line)
        if characters > _PAGE_CHARACTERS:
            return number
    return min(len(inspection.lines), _PAGE_LINES)


def _print_lines(inspection: Inspection, first: int, stop: int) -> None:
    code = code_lines(
        str(inspection.facts["filePath"]),
        [line for line, _ in inspection.lines[first:stop]],
        is_cut=False,
    )
    for number, line in zip(range(first, stop), code, strict=True):
        _print_removed(inspection, inspection.start + number)
        _print_code(
            inspection, inspection.start + number, KIND_MARKS[inspection.lines[number][1]], line
        )


def _print_removed(inspection: Inspection, place: int) -> None:
    """Print the lines that were before a line and are gone."""
    from rich.text import Text  # noqa: PLC0415

    removed = inspection.removed.get(place, ())
    for line in removed[:_MAX_REMOVED]:
        text = Text(f"{'':{_digits(inspection)}} - {escape_code(line, _MAX_LINE)}", "red")
        print_text(text, width=terminal_width())
    if len(removed) > _MAX_REMOVED:
        print_styled([(f"… {len(removed) - _MAX_REMOVED:,} more removed lines", "red")])


def _print_context(inspection: Inspection, start: int, lines: Sequence[str]) -> None:
    code = code_lines(str(inspection.facts["filePath"]), lines)
    for number, line in enumerate(code, start):
        _print_code(inspection, number, KIND_MARKS["unrecorded"], line)


def _print_code(inspection: Inspection, number: int, marked: tuple[str, str], code: Text) -> None:
    from rich.text import Text  # noqa: PLC0415

    mark, style = marked
    print_text(
        Text.assemble((f"{number:>{_digits(inspection)}} ", "dim"), (f"{mark} ", style), code)
    )


def _digits(inspection: Inspection) -> int:
    return len(str(inspection.start + len(inspection.lines) + len(inspection.context[1])))


def _named(author: JsonValue) -> str:
    members = author if isinstance(author, dict) else {}
    return escape(text(members, "name") or "unknown", _MAX_NAME)


def _reasons(inspection: Inspection) -> Iterator[tuple[str, str, str]]:
    if inspection.decision:
        yield (
            "decision",
            escape(text(inspection.decision, "decision_point") or "?", _MAX_SHORT_TEXT),
            "",
        )
        options = inspection.decision.get("options")
        for option in (options if isinstance(options, list) else [])[:_MAX_LISTED]:
            if isinstance(option, dict):
                mark = "  chosen" if is_selected(inspection.decision, option) else "  not chosen"
                yield (
                    mark,
                    escape(
                        text(option, "description") or text(option, "id") or "?", _MAX_SHORT_TEXT
                    ),
                    "",
                )
        rationale = text(inspection.decision, "rationale")
        if rationale:
            yield "  because", escape(rationale, _MAX_SHORT_TEXT), ""
    if inspection.reasoning is not None and inspection.reasoning.strip():
        yield "reasoning", escape(inspection.reasoning, _MAX_LONG_TEXT), ""


def _factors(factors: JsonValue) -> Iterator[tuple[str, str, str]]:
    for factor in (factors if isinstance(factors, list) else [])[: 3 * _MAX_LISTED]:
        if isinstance(factor, dict):
            reason = text(factor, "reason")
            explanation = f" ({escape(reason, _MAX_SHORT_TEXT)})" if reason else ""
            signal = escape(text(factor, "signal") or "?", _MAX_NAME)
            value, weight = escape(factor.get("value"), 8), escape(factor.get("weight"), 8)
            yield "  risk", f"{signal} {value} x {weight}{explanation}", ""


def _history(inspection: Inspection) -> Iterator[tuple[str, str, str]]:
    for review, still_holds in inspection.reviews[-_MAX_LISTED:]:
        kind = {ReviewerKind.AI: " (AI)", ReviewerKind.HUMAN: ""}.get(review.kind, " (unknown)")
        verdict = escape(review.verdict or "reviewed")
        by = f"{escape(review.reviewer or 'unknown', _MAX_NAME)}{kind}"
        when = escape(review.edge.record.text("timestamp") or "?", 24)
        stale = ", stale" if still_holds is False else ""
        note = f": {escape(review.note, _MAX_SHORT_TEXT)}" if review.note else ""
        yield "review", f"{verdict} by {by} {when}{stale}{note}", ""
    for placement in inspection.earlier[:_MAX_LISTED]:
        edit = f"{escape(placement.current.id)[:8]} {escape(describe_edit(placement), _MAX_NAME)}"
        when = escape(placement.lineage.first.text("timestamp") or "?", 24)
        yield "earlier", f"{edit} {when}", "dim"
