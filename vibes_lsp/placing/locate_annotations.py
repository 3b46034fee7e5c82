"""Locate annotations of a file by their anchors alone: while something is recorded (R15).

Recording may neither run git nor wait. Whose a line is, is decided by `placing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final, TypeAlias

from vibes_lsp.anchors.functions import locate_function
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import LocatedRange, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.placing.placements import Placement, ShownLineage, deduplicate
from vibes_lsp.trail.trail import Trail

_UNFOUND: Final = LocatedRange(None, None, State.LOST, Method.RECORDED, 0.0)
_PLACEHOLDER: Final = LocatedRange(None, None, State.UNVERIFIED, Method.RECORDED, 0.0)
LocationsByLineage: TypeAlias = Mapping[tuple[str, ...], LocatedRange]
"""Where annotations are in a text, by the ids of their lineage."""


def locate_on_lines(
    trail: Trail, path: str, text: Text, lines: tuple[int, int], known_locations: LocationsByLineage
) -> list[Placement]:
    """Return the annotations on some lines of a file that no other edit has replaced.

    Args:
        trail: The trail, refreshed.
        path: Relative to the project, forward slashes.
        text: The file as it is now, saved or not.
        lines: First and last line, 1-based and inclusive; ranges owned outside are left out.
        known_locations: Where annotations are in this text, as far as the caller has tracked them.
    """
    current = [
        each
        for each in trail.lineages_in(path)
        if not each.superseded_by or each.may_be_placeholder
    ]
    shown = deduplicate(current)
    unknown = [each for each in shown if each.lineage.ids not in known_locations]
    found = {
        each.lineage.ids: where
        for each, where in zip(unknown, locate_alone(unknown, path, text), strict=True)
    }
    pairs = [
        (each, where)
        for each in shown
        if not each.lineage.superseded_by
        and _is_on(where := known_locations.get(each.lineage.ids) or found[each.lineage.ids], lines)
    ]
    owned = _owned_ranges(pairs, *lines)
    placements = [
        Placement(path, each, where, owned.get(number, ()))
        for number, (each, where) in enumerate(pairs)
    ]
    return sorted(placements, key=lambda placement: placement.sort_key)


def locate_alone(shown: Sequence[ShownLineage], path: str, text: Text) -> list[LocatedRange]:
    """Return where annotations are in a text by their own anchors."""
    ranges = [None if each.is_placeholder else each.lineage.recorded_range for each in shown]
    located = iter(locate([recorded for recorded in ranges if recorded is not None], text))
    return [
        _without_range(each, path, text)
        if recorded is None
        else _of_action(each, next(located), recorded.start, text)
        for each, recorded in zip(shown, ranges, strict=True)
    ]


def _of_action(shown: ShownLineage, located: LocatedRange, start: int, text: Text) -> LocatedRange:
    """Return a location, of removed text where it was: finding it elsewhere proves nothing."""
    if shown.lineage.action != Action.DELETE:
        return located
    line = max(1, min(start, len(text.lines)))
    return LocatedRange(line, line, State.UNVERIFIED, Method.RECORDED, 0.3)


def _without_range(shown: ShownLineage, path: str, text: Text) -> LocatedRange:
    """Locate an annotation without a range: a placeholder, or a function by its name."""
    if shown.is_placeholder:
        return _PLACEHOLDER
    record = shown.lineage.current
    name = record.text("function_name")
    if not name:
        return _UNFOUND
    return locate_function(
        text, path, name, record.text("function_signature"), shown.lineage.anchor_hash
    )


def _is_on(located: LocatedRange, lines: tuple[int, int]) -> bool:
    return (
        located.start is not None
        and located.end is not None
        and located.start <= lines[1]
        and located.end >= lines[0]
    )


def _owned_ranges(
    pairs: Sequence[tuple[ShownLineage, LocatedRange]], first: int, last: int
) -> dict[int, tuple[tuple[int, int], ...]]:
    """Assign each of some lines to the highest ranked annotation on it; evidence comes first."""
    owners = [-1] * (last - first + 1)
    candidates = [
        (where.sure, number)
        for number, (each, where) in enumerate(pairs)
        if each.may_own_lines and where.may_own
    ]
    for _, number in sorted(candidates):
        where = pairs[number][1]
        start, end = max(where.start or first, first), min(where.end or last, last)
        owners[start - first : end - first + 1] = [number] * max(0, end - start + 1)
    ranges: dict[int, list[tuple[int, int]]] = {}
    line = first
    for owner, run in groupby(owners):
        after = line + len(list(run))
        if owner >= 0:
            ranges.setdefault(owner, []).append((line, after - 1))
        line = after
    return {number: tuple(found) for number, found in ranges.items()}
