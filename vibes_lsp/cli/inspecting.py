"""An annotation on a terminal, as a reviewer has to see it; all text from the trail and the files is made harmless."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vibes_lsp.cli.output import KIND_MARKS, plain, plain_code, print_line, styled
from vibes_lsp.model.members import JsonValue, text
from vibes_lsp.model.vocabulary import ReviewerKind
from vibes_lsp.reports.inspection import Inspection
from vibes_lsp.reports.words import review_words, title, whereabouts

PAGE_LINES: Final = 300
_PAGE_CHARACTERS: Final = 60_000
_LONG, _SHORT, _NAME = 1_000, 300, 60
_MAX_LISTED: Final = 8

_COLOURS: Final = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "green"}


def show(item: Inspection, position: str) -> bool:
    """Print an annotation, its lines last; say whether all of them were printed.

    Args:
        item: The annotation.
        position: Where it stands in the queue, in words.
    """
    facts = item.facts
    print_line()
    head = [(f"{position}  ", "dim"), (f"{plain(place_of(item))}  ", "bold")]
    if item.figures is not None:
        head.append((f"risk {plain(item.figures)}  ", _COLOURS.get(str(facts["band"]), "")))
    styled([*head, (plain(review_words(facts), _SHORT), "bold" if facts["review"] is not None else "")])
    said = [_named(facts["model"]), _named(facts["tool"]), plain(title(item.placement), _NAME), whereabouts(item.placement)]
    when = [plain(facts["timestamp"], 24)] if facts["timestamp"] else []
    styled([(f"{plain(item.placement.current.id)[:8]} ", "dim"), (" · ".join(plain(each) for each in [*said, *when]), "")])
    for label, content, style in (*_reasons(item), *_factors(facts.get("factors")), *_history(item)):
        styled([(f"{label}: ", "dim"), (content, style)])
    print_line()
    whole = _page(item)
    _print_lines(item, 0, whole)
    left = len(item.lines) - whole
    if left > 0:
        styled([(f"… {left:,} of {len(item.lines):,} lines are not shown; v shows them", "bold yellow")])
    return left <= 0


def show_rest(item: Inspection) -> None:
    """Print the lines that `show` left out."""
    _print_lines(item, _page(item), len(item.lines))


def place_of(item: Inspection) -> str:
    """Return file and lines of an annotation; its text is untrusted."""
    return f"{item.facts['filePath']}:{item.facts['lineStart']}-{item.facts['lineEnd']}"


def _page(item: Inspection) -> int:
    """Return how many lines are printed at once."""
    characters = 0
    for number, (line, _) in enumerate(item.lines[:PAGE_LINES]):
        characters += len(line)
        if characters > _PAGE_CHARACTERS:
            return number
    return min(len(item.lines), PAGE_LINES)


def _print_lines(item: Inspection, first: int, stop: int) -> None:
    width = len(str(item.start + len(item.lines)))
    for number in range(first, stop):
        line, kind = item.lines[number]
        mark, style = KIND_MARKS[kind]
        styled([(f"{item.start + number:>{width}} ", "dim"), (f"{mark} {plain_code(line)}", style)])


def _named(author: JsonValue) -> str:
    members = author if isinstance(author, dict) else {}
    return plain(text(members, "name") or "unknown", _NAME)


def _reasons(item: Inspection) -> Iterator[tuple[str, str, str]]:
    prompt = item.facts.get("prompt")
    if isinstance(prompt, str):
        yield "prompt", plain(prompt, _LONG), "italic"
    if item.decision:
        yield "decision", plain(text(item.decision, "decision_point") or "?", _SHORT), ""
        options = item.decision.get("options")
        for option in (options if isinstance(options, list) else [])[:_MAX_LISTED]:
            if isinstance(option, dict):
                mark = "  chosen" if text(option, "id") == text(item.decision, "selected") else "  not chosen"
                yield mark, plain(text(option, "description") or text(option, "id") or "?", _SHORT), ""
        rationale = text(item.decision, "rationale")
        if rationale:
            yield "  because", plain(rationale, _SHORT), ""
    if item.reasoning is not None and item.reasoning.strip():
        yield "reasoning", plain(item.reasoning, _LONG), ""


def _factors(factors: JsonValue) -> Iterator[tuple[str, str, str]]:
    for factor in (factors if isinstance(factors, list) else [])[: 3 * _MAX_LISTED]:
        if isinstance(factor, dict):
            reason = text(factor, "reason")
            told = f" ({plain(reason, _SHORT)})" if reason else ""
            value, weight = plain(factor.get("value"), 8), plain(factor.get("weight"), 8)
            yield "  risk", f"{plain(text(factor, 'signal') or '?', _NAME)} {value} x {weight}{told}", ""


def _history(item: Inspection) -> Iterator[tuple[str, str, str]]:
    for review, still_holds in item.reviews[-_MAX_LISTED:]:
        kind = {ReviewerKind.AI: " (AI)", ReviewerKind.HUMAN: ""}.get(review.kind, " (unknown)")
        when = plain(review.edge.record.text("timestamp") or "?", 24)
        stale = ", of other lines" if still_holds is False else ""
        note = f": {plain(review.note, _SHORT)}" if review.note else ""
        yield "review", f"{plain(review.verdict or 'reviewed')} by {plain(review.by or 'somebody', _NAME)}{kind} {when}{stale}{note}", ""
    for each in item.earlier[:_MAX_LISTED]:
        first = each.lineage.first.text("timestamp") or "?"
        yield "before it", f"{plain(each.current.id)[:8]} {plain(title(each), _NAME)} {plain(first, 24)}", "dim"
