"""Move ranges with the edits of a text (R15): edits above shift them, edits inside touch them.

Edits are collected as hunks, as in a diff, and applied to ranges on demand: a keystroke costs the
same for any number of ranges.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from operator import attrgetter


@dataclass(frozen=True, slots=True)
class ShiftedRange:
    """Where lines are after some edits.

    Attributes:
        start: The first, 1-based.
        end: The last, inclusive; `start - 1` when none is left.
        touched: Whether any was changed, or lines were inserted or deleted between them.
        replaced: Whether none is left, and other lines are in their place.
    """

    start: int
    end: int
    touched: bool = False
    replaced: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no line is left."""
        return self.end < self.start

    def within(self, length: int) -> ShiftedRange:
        """Return the part within a text of some length.

        A last line without content disappears with its line end.
        """
        return (
            self
            if self.end <= length
            else ShiftedRange(min(self.start, length + 1), length, touched=True)
        )


@dataclass(slots=True)
class _Hunk:
    """Replaced lines: `removed` lines from index `old` became `inserted` lines from index `new`."""

    old: int
    removed: int
    new: int
    inserted: int

    @property
    def old_end(self) -> int:
        return self.old + self.removed

    @property
    def new_end(self) -> int:
        return self.new + self.inserted

    @property
    def shift(self) -> int:
        """How far the lines below moved, by this hunk and all before it."""
        return self.new_end - self.old_end

    @property
    def is_even(self) -> bool:
        """Whether each removed line has become the inserted one in its place."""
        return self.removed == self.inserted

    def joins(self, start: int, end: int) -> bool:
        """Whether an edit of the new lines from index `start` to before `end` belongs to this hunk.

        An edit that shares lines does. So does an insertion next to lines that were only inserted,
        or where lines were deleted: it may restore them.
        """
        if self.new < end and start < self.new_end:
            return True
        return (
            start == end
            and self.new <= start <= self.new_end
            and (self.removed == 0 or self.inserted < self.removed)
        )


class Edits:
    """The edits of a text since a base version.

    Attributes:
        largest: Maximum number of lines that one edit inserted.
    """

    def __init__(self) -> None:
        self._hunks: list[_Hunk] = []
        self.largest = 0

    def __bool__(self) -> bool:
        return bool(self._hunks)

    def add(self, start: int, removed: int, inserted: int) -> None:
        """Add an edit that replaces lines.

        Args:
            start: Index of the first line in the text before this edit.
            removed: How many lines it removes.
            inserted: How many lines it inserts.
        """
        self.largest = max(self.largest, inserted)
        hunks, end, growth = self._hunks, start + removed, inserted - removed
        low = bisect_left(hunks, start, key=attrgetter("new_end"))
        while low < len(hunks) and hunks[low].new_end == start and not hunks[low].joins(start, end):
            low += 1
        high = low
        while high < len(hunks) and hunks[high].joins(start, end):
            high += 1
        if low == high:
            before = hunks[low - 1].shift if low else 0
            joined = _Hunk(start - before, removed, start, inserted)
        else:
            joined = _joined(hunks[low], hunks[high - 1], start, end, growth)
        if growth:
            for below in hunks[high:]:
                below.new += growth
        hunks[low:high] = [joined] if joined.removed or joined.inserted else []

    def follow(self, start: int, end: int) -> ShiftedRange:
        """Return where the lines `start` to `end` of the base version are now, 1-based, inclusive.

        Lines inserted before the first or after the last do not belong to them. Of lines replaced
        by equally many, each is the one in its place; otherwise replaced lines at an edge are gone.
        """
        first, stop = start - 1, end
        hunks = self._hunks
        low = bisect_right(hunks, first, key=attrgetter("old_end"))
        high = bisect_left(hunks, stop, low, key=attrgetter("old"))
        if low == high:
            shift = hunks[low - 1].shift if low else 0
            return ShiftedRange(start + shift, end + shift)
        now, now_stop = _first_line(hunks[low], first, stop), _stop(hunks[high - 1], first, stop)
        if now < now_stop:
            return ShiftedRange(now + 1, now_stop, touched=True)
        return ShiftedRange(
            now_stop + 1,
            now_stop,
            touched=True,
            replaced=any(hunk.inserted for hunk in hunks[low:high]),
        )

    def origins(self, start: int, end: int) -> list[int]:
        """Return the line of the base version that each line of `follow` is; 0 if it is new.

        Lines between two joined edits count as new as well, so that no new one counts as old.

        Args:
            start: First line in the base version, 1-based.
            end: Last line, inclusive.
        """
        first, stop = start - 1, end
        span, hunks = self.follow(start, end), self._hunks
        low = bisect_right(hunks, first, key=attrgetter("old_end"))
        high = bisect_left(hunks, stop, low, key=attrgetter("old"))
        origins: list[int] = []
        line = first
        for hunk in hunks[low:high]:
            origins += range(line + 1, max(hunk.old, first) + 1)
            origins += [0] * (min(hunk.new_end, span.end) - max(hunk.new, span.start - 1))
            line = min(hunk.old_end, stop)
        return [*origins, *range(line + 1, stop + 1)]


def _joined(first: _Hunk, last: _Hunk, start: int, end: int, growth: int) -> _Hunk:
    """Return one hunk for an edit and the hunks it shares lines with, and all lines between."""
    new, new_end = min(start, first.new), max(end, last.new_end)
    old, old_end = first.old - (first.new - new), last.old_end + (new_end - last.new_end)
    return _Hunk(old, old_end - old, new, new_end - new + growth)


def _first_line(hunk: _Hunk, first: int, stop: int) -> int:
    """Return the new index of the first line of a range, given its first hunk."""
    if first < hunk.old or (first == hunk.old and hunk.old_end <= stop):
        return first + hunk.new - hunk.old
    return hunk.new + first - hunk.old if hunk.is_even else hunk.new_end


def _stop(hunk: _Hunk, first: int, stop: int) -> int:
    """Return the new index after the last line of a range, given its last hunk."""
    if hunk.old_end < stop or (hunk.old_end == stop and first <= hunk.old):
        return stop + hunk.shift
    return hunk.new + stop - hunk.old if hunk.is_even else hunk.new
