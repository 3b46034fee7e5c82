"""A placement for people: its name, its age, who edited it, and where to show a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from vibes_lsp.anchors.location import LineKind
from vibes_lsp.anchors.syntax.line_names import MAX_LINE, CodeToken, first_token
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.blame import line_kind
from vibes_lsp.reports.placements import describe_lines, main_reasons
from vibes_lsp.trail.records import recorded_lines

_MAX_NAME: Final = 60
_MAX_EDITORS: Final = 2
_MAX_REASON: Final = 200


def first_line(placement: Placement) -> int | None:
    """Return the first line of an annotation that is not a person's, 1-based; None when lost."""
    located = placement.located
    whole = [] if located.start is None else [(located.start, located.end or located.start)]
    return next(_without_people(placement, whole), located.start)


def code_token(placement: Placement, content: Text) -> CodeToken | None:
    """Return the name that an annotation defines, else its first word of code.

    It is on no line of a person, and on no blank one. None if the annotation is lost.
    """
    found = first_token(content.lines, _own_lines(placement))
    line = first_line(placement)
    if found is None and line is not None:
        return CodeToken(line, 0, 0, is_name=False)
    return found


def display_name(placement: Placement, content: Text) -> str:
    """Return what to call an annotation: its function, else its first code; untrusted text."""
    name = placement.current.text("function_name")
    if name:
        return name
    token = code_token(placement, content)
    if token is None or token.line > len(content.lines):
        recorded = recorded_lines(placement.current)
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
        single_line(each, _MAX_REASON) for each in main_reasons(facts, with_review=False)
    ]
    return {"age": describe_age_of(facts, now), "reasons": reasons}


def describe_editors(
    placement: Placement,
    owners: Mapping[int, Placement],
    model_of: Callable[[Placement], str],
) -> str | None:
    """Return who edited the lines of an annotation since, such as `a person and gpt-5`.

    An edited line is the AI's that owns it by a later annotation, else a person's. None where that
    is not proven, and where lines were only removed.

    Args:
        placement: The annotation.
        owners: The owner of each line of the file.
        model_of: Returns the name of an annotation's model, as text that may be shown.
    """
    located = placement.located
    if located.start is None or not (located.kinds and located.is_proven):
        return None
    later: dict[str, None] = {}
    is_by_person = False
    for line, kind in enumerate(located.kinds, located.start):
        if kind not in {LineKind.EDITED, LineKind.HUMAN}:
            continue
        owner = owners.get(line)
        if owner is None or owner.current.id == placement.current.id:
            is_by_person = True
        elif owner.lineage.rank > placement.lineage.rank:
            later[model_of(owner)] = None
    names = [*(["a person"] if is_by_person else []), *list(later)[:_MAX_EDITORS]]
    if len(later) > _MAX_EDITORS:
        names.append("other AIs")
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names) or None


def _own_lines(placement: Placement) -> Iterator[int]:
    """Return the lines of an annotation without those of people.

    If it owns none, as a function's record, these are the lines where it is.
    """
    located = placement.located
    if located.start is None or located.end is None:
        return iter(())
    ranges = placement.owned_ranges or ((located.start, located.end),)
    return _without_people(placement, ranges)


def _without_people(placement: Placement, ranges: Iterable[tuple[int, int]]) -> Iterator[int]:
    for start, end in ranges:
        for line in range(start, end + 1):
            if line_kind(placement, line) != LineKind.HUMAN:
                yield line
