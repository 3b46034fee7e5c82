"""How far ranges have drifted: those whose place is beyond doubt say where the others are to be expected (R16)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable


class Drift:
    """Interpolates between pins: pairs of a recorded line and the line where it is now.

    Only pins that keep their order count, as many of them as possible: a block that was moved elsewhere tells nothing about
    its neighbours.
    """

    def __init__(self, pins: Iterable[tuple[int, int]]) -> None:
        kept = _ascending(set(pins))
        self._recorded = [recorded for recorded, _ in kept]
        self._drift = [now - recorded for recorded, now in kept]

    def expected(self, recorded: int) -> int:
        """Return the line where a recorded line is to be expected: drifted as the nearest pin is."""
        if not self._recorded:
            return recorded
        after = bisect_left(self._recorded, recorded)
        before = after - 1
        if after == len(self._recorded):
            return recorded + self._drift[before]
        if before < 0:
            return recorded + self._drift[after]
        nearer = after if self._recorded[after] - recorded < recorded - self._recorded[before] else before
        return recorded + self._drift[nearer]


def _ascending(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest selection in which the second numbers ascend as the first do (patience sorting).

    Of pins with one recorded line at most one is kept, and of those at one place likewise.
    """
    pins = sorted(found, key=lambda pin: (pin[0], -pin[1]))  # so that two of one recorded line never ascend
    tops: list[int] = []
    ends: list[int] = []
    previous: list[int | None] = []
    for number, (_, now) in enumerate(pins):
        pile = bisect_left(tops, now)
        previous.append(ends[pile - 1] if pile else None)
        if pile == len(tops):
            tops.append(now)
            ends.append(number)
        else:
            tops[pile] = now
            ends[pile] = number
    chosen: list[int] = []
    link = ends[-1] if ends else None
    while link is not None:
        chosen.append(link)
        link = previous[link]
    return [pins[number] for number in reversed(chosen)]
