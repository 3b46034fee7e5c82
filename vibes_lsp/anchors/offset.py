"""How far ranges have drifted: those whose place is beyond doubt say where the others are to be expected (R16)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from typing import Final, TypeAlias

from vibes_lsp.anchors.create_anchors import CONTEXT_LINES
from vibes_lsp.anchors.line_map import ascending

_OWN_SHARE: Final = 0.45
"""The share of the lines between two pins from which on a range is taken to have all that was put in or taken out there."""

_FAR: Final = 100
"""Lines that may have been put in between two pins before a range that stands there is taken for a copy."""

Pin: TypeAlias = tuple[int, int]
"""A line as it was recorded, and where it is now."""


def known_within(known: Collection[int], first: int, last: int) -> list[int]:
    """Return those of some lines that are in a range, ascending, in no more steps than there are lines: a record may claim any number of them."""
    if last - first < len(known):
        return [line for line in range(first, last + 1) if line in known]
    return sorted(line for line in known if first <= line <= last)


class Offsets:
    """Interpolates between pins: pairs of a recorded line and the line where it is now.

    Only pins that keep their order count, as many of them as possible: a block that was moved elsewhere tells nothing about
    its neighbours.
    """

    def __init__(self, pins: Iterable[tuple[int, int]]) -> None:
        self._pins = ascending(pins)
        self._recorded = [recorded for recorded, _ in self._pins]
        self._now = [now for _, now in self._pins]
        self._beside: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def expected(self, start: int, end: int) -> int:
        """Return the line where a recorded range is to be expected to begin: drifted as the nearest pin beside it is.

        Its own pins say nothing about it.
        """
        around = self._around(start, end)
        if not around:
            return start
        recorded, now = around[-1] if around[-1][0] - start < start - around[0][0] else around[0]
        return start + now - recorded

    def surprise(self, start: int, end: int, place: int) -> tuple[bool, int]:
        """Return how unlikely a place is for a range: whether it breaks the order, and how far it is from where either neighbour puts it."""
        breaks, distance = False, None
        for recorded, now in self._around(start, end):
            breaks = breaks or (recorded < start) != (now < place)
            other = abs(start + now - recorded - place)
            distance = other if distance is None or other < distance else distance
        return breaks, abs(place - start) if distance is None else distance

    def homes(self, start: int, end: int) -> set[int]:
        """Return where the neighbours of a range put it, on either side of it, in the order that they keep."""
        around = self._around(start, end)
        homes = {start + now - recorded for recorded, now in around}
        for recorded, now in around:
            homes = {home for home in homes if (recorded < start) == (now < home)}
        return homes

    def likeliest(self, start: int, end: int, places: Sequence[int]) -> int:
        """Return the likeliest of some places, which ascend: in order, then as far drifted as a neighbour, then nearest to the expected one."""
        if len(places) == 1:
            return places[0]
        around = self._around(start, end)
        low, high = 0, len(places)
        for recorded, now in around:
            if recorded < start:
                low = bisect_right(places, now)
            else:
                high = bisect_right(places, now)
        if low >= high:  # none keeps the order
            low, high = 0, len(places)
        expected = self.expected(start, end)
        number = bisect_left(places, expected, low, high)
        if number < high and places[number] == expected:
            return expected
        homes = [start + now - recorded for recorded, now in around] or [start]
        nexts = [bisect_left(places, home, low, high) for home in homes]
        beside = {
            places[number]
            for after in nexts
            for number in (after - 1, after)
            if low <= number < high
        }
        return min(
            [
                (min([abs(place - home) for home in homes]), abs(place - expected), place)
                for place in beside
            ]
        )[2]

    def allows(self, start: int, end: int, place: int) -> bool:
        """Whether a place fits between the neighbours of a range, and not much further from either than the range was."""
        breaks, distance = self.surprise(start, end, place)
        return not self.knows(start, end) or (not breaks and distance <= _FAR)

    def agrees(self, start: int, end: int, place: int) -> bool:
        """Whether a range has neighbours on both sides, and both put it at a place."""
        around = self._around(start, end)
        return len(around) > 1 and all(start + now - recorded == place for recorded, now in around)

    def keeps_order(self, start: int, end: int, place: int) -> bool:
        """Whether a place fits between the neighbours of a range."""
        return not self.surprise(start, end, place)[0]

    def knows(self, start: int, end: int) -> bool:
        """Whether a range has neighbours that tell anything."""
        return bool(self._around(start, end))

    def expected_end(self, start: int, end: int) -> int | None:
        """Return the line where the last line of an edited range is to be expected; None when no pin tells.

        Lines that were put in or taken out between a pin within it and one behind it are taken for a part of it, unless most of
        the lines between the two are not: an edit of the range itself is certain, another one near it is not.
        """
        after = bisect_left(self._recorded, end)
        within = after - 1 if after and self._recorded[after - 1] > start else None
        if after < len(self._recorded):
            begun = start if within is None else self._recorded[within]
            own, others = end - begun + 1, self._recorded[after] - end
            if own >= _OWN_SHARE * (own + others):
                return end + self._now[after] - self._recorded[after]
        return None if within is None else end + self._now[within] - self._recorded[within]

    def possible_ends(self, start: int, end: int) -> list[int]:
        """Return the lines where the last line of an edited range would be if all that drifted there did so before it, or all behind it."""
        after = bisect_left(self._recorded, end)
        beside = (
            number
            for number in (after, after - 1)
            if 0 <= number < len(self._recorded) and self._recorded[number] > start
        )
        return [end + self._now[number] - self._recorded[number] for number in beside]

    @property
    def pins(self) -> Sequence[Pin]:
        """The pins that keep their order."""
        return self._pins

    def beside(self, line: int) -> tuple[Pin, Pin | None]:
        """Return the pins before and behind a line, one at it among those before it; the beginning of the text is one."""
        behind = bisect_right(self._recorded, line)
        return self._pins[behind - 1] if behind else (0, 0), self._pins[behind] if behind < len(
            self._pins
        ) else None

    @property
    def last(self) -> int:
        """The last line that a pin is at, as it was recorded; 0 without pins."""
        return self._recorded[-1] if self._recorded else 0

    def _around(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the pins nearest to a range on either side of its first line, less those that it may have set itself."""
        known = self._beside.get((start, end))
        if known is None:
            recorded, pins = self._recorded, self._pins
            before, after, total = (
                bisect_left(recorded, start) - 1,
                bisect_right(recorded, start),
                len(recorded),
            )
            while after < total and (
                recorded[after] < start + CONTEXT_LINES or recorded[after] == end
            ):
                after += 1
            known = pins[before : before + 1] if before >= 0 else []
            if after < total:
                known.append(pins[after])
            self._beside[start, end] = known
        return known
