"""How far lines moved between the old and the new text, interpolated from line pairs (R16)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
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


class Offsets:
    """Interpolates line numbers between line pairs.

    Uses the longest selection of pairs that keeps their order, because a block that moved elsewhere
    does not show where its former neighbours are.
    """

    def __init__(self, pairs: Iterable[LinePair]) -> None:
        self._pairs: Final[Sequence[LinePair]] = ascending(pairs)
        self._old = [old for old, _ in self._pairs]

    def expected(self, start: int, end: int) -> int:
        """Return the expected new start of a range: moved as far as the nearest pair beside it."""
        around = self._neighbours(start, end)
        old, new = min(around, key=lambda pair: abs(pair[0] - start), default=(0, 0))
        return start + new - old

    def allows(self, start: int, end: int, place: int) -> bool:
        """Whether a start is near an expected one, and in order with its neighbours."""
        around = self._neighbours(start, end)
        is_near = any(abs(start + new - old - place) <= _FAR for old, new in around)
        return not around or (
            is_near and all((old < start) == (new < place) for old, new in around)
        )

    def expected_end(self, start: int, end: int) -> int | None:
        """Return the expected new last line of an edited range; None if unknown.

        Lines inserted or deleted between a pair within the range and one behind it count as part
        of the range, unless most lines between the two lie outside: the range is known to be
        edited, its neighbours are not. Buys 3.9 points of both ends.
        """
        after = bisect_left(self._old, end)
        within = self._pairs[after - 1] if after and self._old[after - 1] > start else None
        if after < len(self._pairs):
            old, new = self._pairs[after]
            own = end + 1 - (start if within is None else within[0])
            if own >= _OWN_SHARE * (own + old - end):
                return end + new - old
        return None if within is None else end + within[1] - within[0]

    def _neighbours(self, start: int, end: int) -> Sequence[LinePair]:
        """Return the nearest pairs before and after a range's first line, without its own."""
        before, after = bisect_left(self._old, start), bisect_right(self._old, start)
        while after < len(self._old) and (
            self._old[after] < start + CONTEXT_LINES or self._old[after] == end
        ):
            after += 1
        return [*self._pairs[max(before - 1, 0) : before], *self._pairs[after : after + 1]]
