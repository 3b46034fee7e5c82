"""A placement for people: its name, its age, and where to show a problem."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from vibes_lsp.anchors.syntax.line_names import MAX_LINE, CodeToken, first_token
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.placements import describe_lines, main_reasons

_MAX_NAME: Final = 60
_MAX_REASON: Final = 200


def code_token(placement: Placement, content: Text) -> CodeToken | None:
    """Return the name that an annotation defines, else its first word of code.

    It is on no blank line. None if the annotation is lost.
    """
    token = first_token(content.lines, _own_lines(placement))
    line = placement.located.start
    if token is None and line is not None:
        return CodeToken(line, 0, 0, is_name=False)
    return token


def display_name(placement: Placement, content: Text) -> str:
    """Return what to call an annotation: its function, else its first code; untrusted text."""
    name = placement.current.text("function_name")
    if name:
        return name
    token = code_token(placement, content)
    if token is None or token.line > len(content.lines):
        recorded = placement.lineage.recorded_lines
        return describe_lines(*recorded) if recorded else "lines without a place"
    line = content.lines[token.line - 1][:MAX_LINE]
    return line[token.start : token.end] if token.is_name else single_line(line, _MAX_NAME)


def describe_age_of(facts: Members, now: datetime) -> str | None:
    """Return how long ago an edit was made; None if that is not known."""
    moment = parse_timestamp(text(facts, "timestamp") or "")
    return None if moment is None else describe_age(moment, now)


def age_and_reasons(facts: Members, now: datetime) -> Members:
    """Return `age` and `reasons` of a placement: when it was made, and why it is a risk."""
    reasons: list[JsonValue] = [
        single_line(reason, _MAX_REASON) for reason in main_reasons(facts, with_review=False)
    ]
    return {"age": describe_age_of(facts, now), "reasons": reasons}


def _own_lines(placement: Placement) -> Iterator[int]:
    """Return the lines of an annotation.

    If it owns none, as a function's record, these are the lines where it is.
    """
    located = placement.located
    if located.start is None or located.end is None:
        return
    for start, end in placement.owned_ranges or ((located.start, located.end),):
        yield from range(start, end + 1)
