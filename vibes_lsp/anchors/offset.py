"""How far lines moved between the old and the new text, interpolated from line pairs (R16)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from typing import Final, TypeAlias

from vibes_lsp.anchors.align import ascending
from vibes_lsp.anchors.create_anchors import CONTEXT_LINES

_OWN_SHARE: Final = 0.45
"""A range gets the lines inserted or deleted between two pairs if it has this share of the lines
between them. Buys 0.3 points of both ends, compared with always."""

_FAR: Final = 100
"""A range that is found more than this many lines from its expected start counts as a copy."""

LinePair: TypeAlias = tuple[int, int]
"""A line number in the old text and the number of the same line in the new one."""


def known_within(known: Collection[int], first: int, last: int) -> list[int]:
    """Return the known lines within a range, ascending.

    Takes at most `len(known)` steps: a record may claim any number of lines.
    """
    if last - first < len(known):
        return [line for line in range(first, last + 1) if line in known]
    return sorted(line for line in known if first <= line <= last)


class Offsets:
    """Interpolates line numbers between line pairs.

    Uses the longest selection of pairs that keeps their order, because a block that moved elsewhere
    does not show where its former neighbours are.

    Attributes:
        pairs: The selected pairs, ascending.
    """

    def __init__(self, pairs: Iterable[LinePair]) -> None:
        self.pairs: Final[Sequence[LinePair]] = ascending(pairs)
        self._old = [old for old, _ in self.pairs]
        self._new = [new for _, new in self.pairs]
        self._neighbour_cache: dict[tuple[int, int], Sequence[LinePair]] = {}

    def expected(self, start: int, end: int) -> int:
        """Return the expected new start of a range: moved as far as the nearest pair beside it.

        The range's own pairs do not count.
        """
        around = self._neighbours(start, end)
        if not around:
            return start
        old, new = around[-1] if around[-1][0] - start < start - around[0][0] else around[0]
        return start + new - old

    def expected_starts(self, start: int, end: int) -> set[int]:
        """Return the starts that the neighbours on either side imply and their order allows."""
        around = self._neighbours(start, end)
        starts = {start + new - old for old, new in around}
        for old, new in around:
            starts = {each for each in starts if (old < start) == (new < each)}
        return starts

    def allows(self, start: int, end: int, place: int) -> bool:
        """Whether a start keeps the order and is at most `_FAR` lines from an expected one."""
        around = self._neighbours(start, end)
        near = any(abs(start + new - old - place) <= _FAR for old, new in around)
        return not around or (near and self.keeps_order(start, end, place))

    def agrees(self, start: int, end: int, place: int) -> bool:
        """Whether a range has neighbours on both sides, and both imply the same given start."""
        around = self._neighbours(start, end)
        return len(around) > 1 and all(start + new - old == place for old, new in around)

    def keeps_order(self, start: int, end: int, place: int) -> bool:
        """Whether a start lies between the neighbours of a range."""
        return all((old < start) == (new < place) for old, new in self._neighbours(start, end))

    def expected_end(self, start: int, end: int) -> int | None:
        """Return the expected new last line of an edited range; None if unknown.

        Lines inserted or deleted between a pair within the range and one behind it count as part
        of the range, unless most lines between the two lie outside: the range is known to be
        edited, its neighbours are not. Buys 4.6 points of both ends.
        """
        after = bisect_left(self._old, end)
        within = after - 1 if after and self._old[after - 1] > start else None
        if after < len(self._old):
            begun = start if within is None else self._old[within]
            own, others = end - begun + 1, self._old[after] - end
            if own >= _OWN_SHARE * (own + others):
                return end + self._new[after] - self._old[after]
        return None if within is None else end + self._new[within] - self._old[within]

    def enclosing(self, line: int) -> tuple[LinePair, LinePair | None]:
        """Return the last pair at or before an old line, else (0, 0), and the first after it."""
        after = bisect_right(self._old, line)
        before = self.pairs[after - 1] if after else (0, 0)
        return before, self.pairs[after] if after < len(self.pairs) else None

    def _neighbours(self, start: int, end: int) -> Sequence[LinePair]:
        """Return the nearest pairs before and after a range's first line, without its own."""
        known = self._neighbour_cache.get((start, end))
        if known is None:
            old, total = self._old, len(self._old)
            before, after = bisect_left(old, start) - 1, bisect_right(old, start)
            while after < total and (old[after] < start + CONTEXT_LINES or old[after] == end):
                after += 1
            known = [
                *(self.pairs[before : before + 1] if before >= 0 else ()),
                *self.pairs[after : after + 1],
            ]
            self._neighbour_cache[start, end] = known
        return known
