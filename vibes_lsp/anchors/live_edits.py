"""Ranges that follow the edits of a text (R15): moved by what happens above them, touched by what happens inside.

Edits are gathered, not applied to every range: a keystroke costs the same however many ranges there are. What was gathered is a
list of hunks, as in a diff, from the text when the gathering began to the text as it is now.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from msgspec.structs import replace

from vibes_lsp.anchors.location import AnchoredRange, LineKind, LocatedRange, Method, State


@dataclass(frozen=True, slots=True)
class ShiftedRange:
    """Where lines are after some edits.

    Attributes:
        start: The first, 1-based.
        end: The last, inclusive; `start - 1` when none is left.
        touched: Whether any of them was changed, or lines came or went between them.
        replaced: Whether none is left, but other lines stand where they stood.
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
        """Return what of it lies in a text of so many lines: the last line goes with its line end when nothing stands in it."""
        return (
            self
            if self.end <= length
            else ShiftedRange(min(self.start, length + 1), length, touched=True)
        )


@dataclass(slots=True)
class _Hunk:
    """Lines that were replaced: `removed` lines from index `old` on became `inserted` lines from index `new` on."""

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
        """How far the lines below it have moved, by it and all hunks before."""
        return self.new_end - self.old_end

    @property
    def is_even(self) -> bool:
        """Whether the lines can be paired: each has become the one that stands in its place."""
        return self.removed == self.inserted

    def joins(self, start: int, end: int) -> bool:
        """Whether an edit of the new lines from index `start` to before `end` belongs to it.

        One that shares lines does; and one that only inserts, right beside lines that were only inserted, or where lines are missing:
        they may be coming back.
        """
        if self.new < end and start < self.new_end:
            return True
        return (
            start == end
            and self.new <= start <= self.new_end
            and (self.removed == 0 or self.inserted < self.removed)
        )


class Edits:
    """The edits of a text since some moment, gathered.

    Attributes:
        largest: The most lines that one edit put in.
    """

    def __init__(self) -> None:
        self._hunks: list[_Hunk] = []
        self.largest = 0

    def __bool__(self) -> bool:
        return bool(self._hunks)

    def add(self, start: int, removed: int, inserted: int) -> None:
        """Take in that lines were replaced.

        Args:
            start: Index of the first of them in the text as it is before this edit.
            removed: How many there were.
            inserted: How many there are instead.
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
        """Return where lines are now that were lines `start` to `end`, 1-based and inclusive, when the gathering began.

        Lines inserted before the first or after the last belong to none of them. Of lines that were replaced by as many, each is
        the one in its place; else those at an edge that was replaced are gone.
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
            replaced=any(each.inserted for each in hunks[low:high]),
        )

    def kinds(self, start: int, end: int, before: Sequence[LineKind]) -> tuple[LineKind, ...]:
        """Return whose each line of a range is now: of those that `follow` returns for it.

        A line that was replaced was edited, one that was put in is a person's. Lines between two
        edits that were joined count as edited, too: less is never called the AI's than it is.

        Args:
            start: First line when the gathering began, 1-based.
            end: Last line, inclusive.
            before: Whose each line was then.
        """
        first, stop = start - 1, end
        span, hunks = self.follow(start, end), self._hunks
        low = bisect_right(hunks, first, key=attrgetter("old_end"))
        high = bisect_left(hunks, stop, low, key=attrgetter("old"))
        found: list[LineKind] = []
        line = first
        for hunk in hunks[low:high]:
            found += before[line - first : max(hunk.old, first) - first]
            for now in range(max(hunk.new, span.start - 1), min(hunk.new_end, span.end)):
                was = before[hunk.old + now - hunk.new - first] if hunk.is_even else None
                is_new = hunk.removed == 0 or was == LineKind.HUMAN
                found.append(LineKind.HUMAN if is_new else LineKind.EDITED)
            line = min(hunk.old_end, stop)
        return (*found, *before[line - first :])


def _joined(first: _Hunk, last: _Hunk, start: int, end: int, growth: int) -> _Hunk:
    """Return one hunk for an edit and the hunks that it shares lines with; what stands between them counts as replaced."""
    new, new_end = min(start, first.new), max(end, last.new_end)
    old, old_end = first.old - (first.new - new), last.old_end + (new_end - last.new_end)
    return _Hunk(old, old_end - old, new, new_end - new + growth)


def _first_line(hunk: _Hunk, first: int, stop: int) -> int:
    """Return the index of the first line of a range now, whose first hunk this is."""
    if first < hunk.old or (first == hunk.old and hunk.old_end <= stop):
        return first + hunk.new - hunk.old
    return hunk.new + first - hunk.old if hunk.is_even else hunk.new_end


def _stop(hunk: _Hunk, first: int, stop: int) -> int:
    """Return the index after the last line of a range now, whose last hunk this is."""
    if hunk.old_end < stop or (hunk.old_end == stop and first <= hunk.old):
        return stop + hunk.shift
    return hunk.new + stop - hunk.old if hunk.is_even else hunk.new


def apply_edits(
    base: LocatedRange,
    recorded: AnchoredRange | None,
    span: ShiftedRange,
    lines: Sequence[str],
    kinds: tuple[LineKind, ...] = (),
) -> LocatedRange:
    """Return where a range is after some edits: as it was verified if none touched it, or if its text is whole again.

    Args:
        base: Where it was before them, which is somewhere.
        recorded: What its record says; None for what has no lines of its own, like a function.
        span: Where its lines are now.
        lines: What stands there now; not looked at where nothing was touched.
        kinds: Whose each of them is, where the base proves it; not looked at either.
    """
    if span.is_empty:
        return replace(
            base, start=None, end=None, state=State.LOST, confidence=0.0, intact=None, kinds=()
        )
    moved = replace(base, start=span.start, end=span.end)
    if recorded is None or base.state == State.UNVERIFIED:
        if not span.touched:
            return moved
        return (
            replace(moved, intact=None, kinds=())
            if base.state == State.UNVERIFIED
            else _edited(moved, kinds)
        )
    state = State.EXACT if span.start == recorded.start else State.MOVED
    if span.touched:
        is_whole = len(lines) == recorded.length and recorded.matches_at(lines, 1)
        return _whole_again(moved, recorded, state) if is_whole else _edited(moved, kinds)
    if base.state == State.EDITED:
        return moved
    method = base.method
    if method == Method.FILE_HASH:  # of a file that is another now
        method = Method.HISTORY if recorded.anchors.hash is None else Method.ANCHOR_HASH
    return replace(moved, state=state, method=method, confidence=min(base.confidence, 0.99))


def _whole_again(moved: LocatedRange, recorded: AnchoredRange, state: State) -> LocatedRange:
    """The text is what the record says; whether another place would fit as well was not looked at again."""
    confidence = 0.5 if moved.ambiguous else 0.99
    return replace(
        moved,
        state=state,
        method=Method.ANCHOR_HASH,
        confidence=confidence,
        intact=recorded.length,
        kinds=(),
    )


def _edited(moved: LocatedRange, kinds: tuple[LineKind, ...]) -> LocatedRange:
    """The place is as sure as it was."""
    if moved.state != State.EDITED:
        moved = replace(
            moved, state=State.EDITED, method=Method.HISTORY, confidence=min(moved.confidence, 0.9)
        )
    return replace(moved, intact=kinds.count(LineKind.AI) if kinds else None, kinds=kinds)
