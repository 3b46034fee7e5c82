"""Find placements by line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from vibes_lsp.placing.placements import Placement


class PlacementsByLine:
    """Finds the placements at a line without looking at all of them.

    Args:
        placements: All placements, in the order of answers.
    """

    def __init__(self, placements: Sequence[Placement]) -> None:
        self._placements = placements

    def at(self, line: int) -> list[Placement]:
        """Return the placements whose range includes a line, 1-based, in the order of answers."""
        return self.between(line, line)

    def between(self, first: int, last: int) -> list[Placement]:
        """Return the placements with any of some lines, inclusive, in the order of answers."""
        starts, reach, ranges = self._ranges
        found = []
        number = bisect_right(starts, last) - 1
        while number >= 0 and reach[number] >= first:  # no earlier range reaches further
            if ranges[number][1] >= first:
                found.append(ranges[number][2])
            number -= 1
        return [self._placements[each] for each in sorted(found)]

    @cached_property
    def _ranges(self) -> tuple[list[int], list[int], list[tuple[int, int, int]]]:
        """Where ranges start, how far those up to each reach, and the ranges."""
        ranges = sorted(
            (each.located.start, each.located.end or 0, number)
            for number, each in enumerate(self._placements)
            if each.located.start is not None
        )
        reach = list(accumulate((end for _, end, _ in ranges), max))
        return [start for start, _, _ in ranges], reach, ranges
