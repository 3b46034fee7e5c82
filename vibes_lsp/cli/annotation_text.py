"""One annotation in a terminal: its code, who wrote it, what was asked, its risk and reviews."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from vibes_lsp.cli.code import code_lines
from vibes_lsp.cli.output import (
    BAND_STYLES,
    KIND_MARKS,
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


def print_annotation(item: Inspection, position: str) -> bool:
    """Print an annotation, its code first; return whether all lines were printed.

    Args:
        item: The annotation.
        position: Its position in the queue, as text.
    """
    facts = item.facts
    print_line()
    name = facts.get("functionName")
    head = [(f"{position}  ", "dim"), (escape(place_of(item)), "bold")]
    if isinstance(name, str):
        head.append((f" {escape(name, _MAX_NAME)}", "bold"))
    print_styled(head)
    before, after = item.context
    _print_context(item, item.start - len(before), before)
    shown = _page_length(item)
    _print_lines(item, 0, shown)
    left = len(item.lines) - shown
    if left > 0:
        print_styled(
            [
                (
                    f"… {left:,} of {len(item.lines):,} lines not shown; press v to show them",
                    "bold yellow",
                )
            ]
        )
    else:
        _print_removed(item, item.start + len(item.lines))
        _print_context(item, item.start + len(item.lines), after)
    print_line()
    print_summary(item)
    return left <= 0


def print_summary(item: Inspection) -> None:
    """Print who wrote the lines, the main reasons of their risk, the prompt and the review."""
    facts = item.facts
    parts = [
        _named(facts["model"]),
        _named(facts["tool"]),
        escape(describe_edit(item.placement), _MAX_NAME),
        describe_location(item.placement),
        describe_age(item.placement.lineage.first.moment, now()),
    ]
    print_styled(
        [
            (f"{escape(item.placement.current.id)[:8]} ", "dim"),
            (" · ".join(escape(each) for each in parts), ""),
        ]
    )
    if item.risk is not None:
        main = main_reasons(facts, with_review=False)
        reasons = "; ".join(escape(each, _MAX_SHORT_TEXT) for each in main)
        style = BAND_STYLES.get(str(facts["band"]), "")
        parts_of_risk = [("risk: ", "dim"), (escape(item.risk), style)]
        print_styled([*parts_of_risk, (f": {reasons}" if reasons else "", "")])
    prompt = facts.get("prompt")
    if isinstance(prompt, str):
        print_styled([("prompt: ", "dim"), (escape(prompt, _MAX_LONG_TEXT), "italic")])
    review = escape(describe_review(facts), _MAX_SHORT_TEXT)
    print_styled([("review: ", "dim"), (review, "bold")])


def print_details(item: Inspection) -> None:
    """Print what `print_annotation` leaves out: decision, reasoning, risk, reviews and edits."""
    when = item.facts["timestamp"]
    print_styled(
        [
            ("recorded: ", "dim"),
            (f"{escape(when or '?', 24)}, {escape(item.placement.current.id)}", ""),
        ]
    )
    print_reasons(item)
    for label, content, style in (*_factors(item.facts.get("factors")), *_history(item)):
        print_styled([(f"{label}: ", "dim"), (content, style)])


def print_reasons(item: Inspection) -> None:
    """Print the decision and the reasoning behind an annotation."""
    for label, content, style in _reasons(item):
        print_styled([(f"{label}: ", "dim"), (content, style)])


def print_remaining_lines(item: Inspection) -> None:
    """Print the lines that `print_annotation` left out."""
    _print_lines(item, _page_length(item), len(item.lines))


def place_of(item: Inspection) -> str:
    """Return file and lines of an annotation, not escaped."""
    return f"{item.facts['filePath']}:{item.facts['lineStart']}-{item.facts['lineEnd']}"


def _page_length(item: Inspection) -> int:
    """Return how many lines are printed at once."""
    characters = 0
    for number, (line, _) in enumerate(item.lines[:_PAGE_LINES]):
        characters += len(line)
        if characters > _PAGE_CHARACTERS:
            return number
    return min(len(item.lines), _PAGE_LINES)


def _print_lines(item: Inspection, first: int, stop: int) -> None:
    code = code_lines(str(item.facts["filePath"]), [line for line, _ in item.lines[first:stop]])
    for number, line in zip(range(first, stop), code, strict=True):
        _print_removed(item, item.start + number)
        _print_code(item, item.start + number, KIND_MARKS[item.lines[number][1]], line)


def _print_removed(item: Inspection, place: int) -> None:
    """Print the lines that were before a line and are gone."""
    from rich.text import Text  # noqa: PLC0415

    removed = item.removed.get(place, ())
    for line in removed[:_MAX_REMOVED]:
        text = Text(f"{'':{_digits(item)}} - {escape_code(line, _MAX_LINE)}", "red")
        print_text(text, width=terminal_width())
    if len(removed) > _MAX_REMOVED:
        print_styled([(f"… {len(removed) - _MAX_REMOVED:,} more removed lines", "red")])


def _print_context(item: Inspection, start: int, lines: Sequence[str]) -> None:
    code = code_lines(str(item.facts["filePath"]), lines)
    for number, line in enumerate(code, start):
        _print_code(item, number, KIND_MARKS["unrecorded"], line)


def _print_code(item: Inspection, number: int, marked: tuple[str, str], code: Text) -> None:
    from rich.text import Text  # noqa: PLC0415

    mark, style = marked
    print_text(Text.assemble((f"{number:>{_digits(item)}} ", "dim"), (f"{mark} ", style), code))


def _digits(item: Inspection) -> int:
    return len(str(item.start + len(item.lines) + len(item.context[1])))


def _named(author: JsonValue) -> str:
    members = author if isinstance(author, dict) else {}
    return escape(text(members, "name") or "unknown", _MAX_NAME)


def _reasons(item: Inspection) -> Iterator[tuple[str, str, str]]:
    if item.decision:
        yield "decision", escape(text(item.decision, "decision_point") or "?", _MAX_SHORT_TEXT), ""
        options = item.decision.get("options")
        for option in (options if isinstance(options, list) else [])[:_MAX_LISTED]:
            if isinstance(option, dict):
                mark = (
                    "  chosen"
                    if text(option, "id") == text(item.decision, "selected")
                    else "  not chosen"
                )
                yield (
                    mark,
                    escape(
                        text(option, "description") or text(option, "id") or "?", _MAX_SHORT_TEXT
                    ),
                    "",
                )
        rationale = text(item.decision, "rationale")
        if rationale:
            yield "  because", escape(rationale, _MAX_SHORT_TEXT), ""
    if item.reasoning is not None and item.reasoning.strip():
        yield "reasoning", escape(item.reasoning, _MAX_LONG_TEXT), ""


def _factors(factors: JsonValue) -> Iterator[tuple[str, str, str]]:
    for factor in (factors if isinstance(factors, list) else [])[: 3 * _MAX_LISTED]:
        if isinstance(factor, dict):
            reason = text(factor, "reason")
            explanation = f" ({escape(reason, _MAX_SHORT_TEXT)})" if reason else ""
            signal = escape(text(factor, "signal") or "?", _MAX_NAME)
            value, weight = escape(factor.get("value"), 8), escape(factor.get("weight"), 8)
            yield "  risk", f"{signal} {value} x {weight}{explanation}", ""


def _history(item: Inspection) -> Iterator[tuple[str, str, str]]:
    for review, still_holds in item.reviews[-_MAX_LISTED:]:
        kind = {ReviewerKind.AI: " (AI)", ReviewerKind.HUMAN: ""}.get(review.kind, " (unknown)")
        verdict = escape(review.verdict or "reviewed")
        by = f"{escape(review.reviewer or 'unknown', _MAX_NAME)}{kind}"
        when = escape(review.edge.record.text("timestamp") or "?", 24)
        stale = ", stale" if still_holds is False else ""
        note = f": {escape(review.note, _MAX_SHORT_TEXT)}" if review.note else ""
        yield "review", f"{verdict} by {by} {when}{stale}{note}", ""
    for each in item.earlier[:_MAX_LISTED]:
        edit = f"{escape(each.current.id)[:8]} {escape(describe_edit(each), _MAX_NAME)}"
        when = escape(each.lineage.first.text("timestamp") or "?", 24)
        yield "earlier", f"{edit} {when}", "dim"
