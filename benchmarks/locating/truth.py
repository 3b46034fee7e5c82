"""Where the lines of a file truly went, from commit to commit, as several witnesses say together.

A map is a list by old line number, whose item 0 is not used: the new line, or `DEAD`, or `UNKNOWN`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.locating.linemaps import UNKNOWN, Change


@dataclass(frozen=True)
class Truth:
    """Where the lines of a file went.

    Attributes:
        lines: The map.
        doubts: Other places where a line may as well be, `DEAD` among them; `UNKNOWN` among them when nothing speaks for the place in
            the map. Lines without any are beyond doubt.
    """

    lines: Sequence[int]
    doubts: Mapping[int, Collection[int]]

    def line(self, number: int, start: int, end: int) -> int:
        """Return where a line of a range is: a line in doubt goes with the nearest one of the range that is beyond doubt."""
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
    """Return the map of a file of so many lines through changes in order."""
    lines = list(range(length + 1))
    for change in changes:
        lines = change.follow(lines)
    return lines


def doubts_of(
    changes: Iterable[tuple[Change, Sequence[bytes], Sequence[bytes]]], length: int
) -> dict[int, set[int]]:
    """Return the other places of lines in doubt after changes in order, each given with the lines before and after it."""
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
    """Return what maps say together: where they differ nothing is known, and each of them may be right.

    Args:
        maps: What each witness says.
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
