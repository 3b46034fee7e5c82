"""The true line map of a file from commit to commit, agreed by several sources.

A map is a list by old line number, whose item 0 is unused: the new line, or `DEAD`, or `UNKNOWN`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.locating.linemaps import UNKNOWN, Change


@dataclass(frozen=True)
class Truth:
    """The true line map of a file.

    Attributes:
        lines: The map.
        doubts: Other possible places of a line, perhaps `DEAD`; `UNKNOWN` if nothing supports the
            place in the map. Lines without any are beyond doubt.
    """

    lines: Sequence[int]
    doubts: Mapping[int, Collection[int]]

    def line(self, number: int, start: int, end: int) -> int:
        """Return the place of a line; in doubt, that of the nearest certain line of its range."""
        place = self.lines[number]
        doubts = self.doubts.get(number)
        if not doubts:
            return place
        certain = (
            line
            for line in range(start, end + 1)
            if self.lines[line] > 0 and line not in self.doubts
        )
        nearest = min(certain, key=lambda line: abs(line - number), default=None)
        if nearest is not None and (wanted := self.lines[nearest] + number - nearest) in (
            place,
            *doubts,
        ):
            return wanted
        return UNKNOWN if UNKNOWN in doubts else place


def composed(changes: Iterable[Change], length: int) -> list[int]:
    """Return the line map of a file of some length through changes in order."""
    lines = list(range(length + 1))
    for change in changes:
        lines = change.follow(lines)
    return lines


def doubts_of(
    changes: Iterable[tuple[Change, Sequence[bytes], Sequence[bytes]]], length: int
) -> dict[int, set[int]]:
    """Return the other places of lines in doubt after changes, each with both texts."""
    lines = list(range(length + 1))
    doubts: dict[int, set[int]] = {}
    for change, old, new in changes:
        slides = change.slides(old, new)
        doubts = {
            number: set(change.follow(places)).union(*(slides.get(place, ()) for place in places))
            for number, places in doubts.items()
        }
        if slides:
            for number, line in enumerate(lines):
                if line in slides:
                    doubts[number] = doubts.get(number, set()) | slides[line]
        lines = change.follow(lines)
    return doubts


def agreed(maps: Sequence[Sequence[int]], slid: Mapping[int, set[int]]) -> Truth:
    """Return the agreement of several maps. Where they differ, each may be right.

    Args:
        maps: The map of each source.
        slid: The other places of the lines of the first map.
    """
    lines = list(maps[0])
    doubts = {number: set(places) for number, places in slid.items()}
    for other in maps[1:]:
        for number, line in enumerate(other):
            if line != maps[0][number]:
                lines[number] = UNKNOWN
                doubts.setdefault(number, set()).update((line, maps[0][number]))
    without = {number: places - {lines[number]} for number, places in doubts.items()}
    return Truth(lines, {number: places for number, places in without.items() if places})
