"""Following a range from the text that it was made in to the text of now, line by line (R15, R16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from vibes_lsp.anchors.line_map import MIN_MOVED_LINES, LineMap, count_distinctive, is_distinctive
from vibes_lsp.anchors.location import (
    DatedCommit,
    LineKind,
    LocatedRange,
    Method,
    OriginalText,
    State,
)
from vibes_lsp.anchors.occurrences import find_copies
from vibes_lsp.anchors.text import Text, common_end, common_start

_LOOK_AROUND: Final = 50
"""Lines on either side of a block that are compared to tell copies apart."""

LOST: Final = LocatedRange(None, None, State.LOST, Method.HISTORY, 0.0)


def trace(origin: OriginalText, lines: LineMap, recorded: int) -> LocatedRange:
    """Return where a range is now.

    Args:
        origin: The text that the range was made in, and where.
        lines: From that text to the one of now.
        recorded: The first line as recorded: where it still is, it is exact.
    """
    block = _largest(_blocks(origin, lines), origin)
    if block is None:
        return LOST
    place = block.grown(origin, lines.old, lines.new)
    kinds = place.kinds(lines)
    intact = kinds.count(LineKind.AI)
    whole = intact == len(kinds) == origin.end - origin.start + 1
    if origin.before_edit:
        return LocatedRange(
            place.first,
            place.last,
            State.UNVERIFIED,
            Method.ANCHOR_BEFORE_EDIT,
            0.5,
            older_commit=origin.older_commit,
        )
    if origin.inferred:
        return LocatedRange(
            place.first, place.last, State.UNVERIFIED, Method.HISTORY, 0.6, not whole, None, kinds
        )
    if not whole:
        return LocatedRange(
            place.first, place.last, State.EDITED, Method.HISTORY, 0.9, intact=intact, kinds=kinds
        )
    state = State.EXACT if place.first == recorded else State.MOVED
    ambiguous = _could_be_elsewhere(origin, lines, place)
    return LocatedRange(
        place.first,
        place.last,
        state,
        Method.HISTORY,
        0.5 if ambiguous else 0.99,
        ambiguous,
        intact,
        kinds,
    )


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of a range that are still together: pairs of a line then and a line now, both ascending."""

    pairs: tuple[tuple[int, int], ...]
    moved: bool

    @property
    def first(self) -> int:
        """First line now."""
        return self.pairs[0][1]

    @property
    def last(self) -> int:
        """Last line now."""
        return self.pairs[-1][1]

    def weight(self, lines: Sequence[str]) -> tuple[int, int, bool]:
        """How much of the range this is: lines that say something, all lines, whether they kept their place."""
        kept = [lines[line - 1] for line, _ in self.pairs]
        return sum(map(is_distinctive, kept)), len(kept), not self.moved

    def grown(self, origin: OriginalText, old: Text, new: Text) -> _Block:
        """Return the block with the lines around it that went along, though they might as well be others: braces, blanks."""
        pairs = list(self.pairs)
        line, place = pairs[0]
        while line > origin.start and place > 1 and old.lines[line - 2] == new.lines[place - 2]:
            line, place = line - 1, place - 1
            pairs.insert(0, (line, place))
        line, place = pairs[-1]
        while line < origin.end and place < len(new.lines) and old.lines[line] == new.lines[place]:
            line, place = line + 1, place + 1
            pairs.append((line, place))
        return _Block(tuple(pairs), self.moved)

    def kinds(self, lines: LineMap) -> tuple[LineKind, ...]:
        """Return whose each line is, from the first to the last."""
        first, old, new = self.first, lines.old.lines, lines.new.lines
        kinds = [LineKind.HUMAN] * (self.last - first + 1)
        for line, place in self.pairs:
            kinds[place - first] = (
                LineKind.AI if old[line - 1] == new[place - 1] else LineKind.EDITED
            )
        return tuple(kinds)


def _blocks(origin: OriginalText, lines: LineMap) -> list[_Block]:
    """Return the parts that a range is in now: what kept its place, and each block that went elsewhere."""
    kept: list[tuple[int, int]] = []
    moved: list[list[tuple[int, int]]] = []
    previous: int | None = None
    for line in range(origin.start, origin.end + 1):
        place = lines.unmoved(line)
        if place is not None:
            kept.append((line, place))
            continue
        place = lines.moved(line)
        if place is None:
            continue
        if previous is None or not 0 < place - previous <= origin.end - origin.start + 1:
            moved.append([])
        moved[-1].append((line, place))
        previous = place
    return [
        _Block(tuple(pairs), moved=number > 0)
        for number, pairs in enumerate([_with_changed(origin, lines, kept), *moved])
        if pairs
    ]


def _with_changed(
    origin: OriginalText, lines: LineMap, kept: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the pairs with those of lines that were changed in place."""
    known = {line for line, _ in kept}
    changed = [
        (line, place)
        for line in range(origin.start, origin.end + 1)
        if line not in known and (place := lines.changed(line)) is not None
    ]
    return sorted([*kept, *changed])


def _largest(blocks: Sequence[_Block], origin: OriginalText) -> _Block | None:
    """Return the part that most of a range is in; None when nothing of it is left but what stands everywhere."""
    written = origin.text.lines
    if not blocks:
        return None
    best = blocks[0] if len(blocks) == 1 else max(blocks, key=lambda block: block.weight(written))
    if any(is_distinctive(written[line - 1]) for line, _ in best.pairs):
        return best
    return None if any(map(is_distinctive, written[origin.start - 1 : origin.end])) else best


def _could_be_elsewhere(origin: OriginalText, lines: LineMap, place: _Block) -> bool:
    """Whether an unchanged range may be a copy: its text stands twice, then or now, and what is around it does not tell which is which."""
    block = origin.text.lines[origin.start - 1 : origin.end]
    if place.moved and count_distinctive(block) < MIN_MOVED_LINES:
        return True
    now, then = (
        find_copies(block, lines.new, place.first),
        find_copies(block, lines.old, origin.start),
    )
    if now is None or then is None:
        return True
    if not any(map(is_distinctive, block)) and not _is_held(
        lines, range(origin.start, origin.end + 1), place.first - origin.start
    ):
        return True
    pairs = [(origin.start, other) for other in now] + [(other, place.first) for other in then]
    if not pairs:
        return False
    mine = _surroundings(lines, origin.start, place.first, len(block))
    return any(
        not _is_more(mine, _surroundings(lines, *pair, len(block)))
        for pair in _rivals(lines, pairs, mine, len(block))
    )


def _is_held(lines: LineMap, block: range, shift: int) -> bool:
    """Whether what is around a block that says nothing went with it: on both sides the next line that says something, or the end of the text."""
    old, new = lines.old.lines, lines.new.lines
    before, after = (
        _telling(old, range(block.start - 1, 0, -1)),
        _telling(old, range(block.stop, len(old) + 1)),
    )
    begins = shift == 0 if before is None else _went(lines, before, shift)
    return begins and (
        len(new) - len(old) == shift if after is None else _went(lines, after, shift)
    )


def _telling(lines: Sequence[str], numbers: range) -> int | None:
    """Return the first of some lines that says something, or the last that is looked at; None where there are no more."""
    near = numbers[:_LOOK_AROUND]
    found = next((number for number in near if is_distinctive(lines[number - 1])), None)
    return near[-1] if found is None and len(near) == _LOOK_AROUND else found


def _went(lines: LineMap, line: int, shift: int) -> bool:
    return (lines.unmoved(line) or lines.changed(line)) == line + shift


def _rivals(
    lines: LineMap, pairs: Sequence[tuple[int, int]], mine: tuple[int, int], length: int
) -> Iterator[tuple[int, int]]:
    """Give those pairs of a line then and a line now whose surroundings may be as much: seldom one, of many."""
    old, new = lines.old.compact_lines, lines.new.compact_lines
    before, after = (min(count, _LOOK_AROUND) for count in mine)
    for then, now in pairs:
        first, last = (
            (then - 1 - before, now - 1 - before),
            (then - 2 + length + after, now - 2 + length + after),
        )
        begins = not before or min(first) < 0 or old[first[0]] == new[first[1]]
        if (
            begins
            or not after
            or last[0] >= len(old)
            or last[1] >= len(new)
            or old[last[0]] == new[last[1]]
        ):
            yield then, now


def _surroundings(lines: LineMap, then: int, now: int, length: int) -> tuple[int, int]:
    """Return how many lines before and after a block are the same, then and now; both ends of a text count as one line each."""
    old, new = lines.old.compact_lines, lines.new.compact_lines
    line, place = then - 1, now - 1
    most = min(line, place, _LOOK_AROUND)
    before = (
        common_end(old[line - most : line], new[place - most : place], most)
        if most and old[line - 1] == new[place - 1]
        else 0
    )
    first, other = line + length, place + length
    left = min(len(old) - first, len(new) - other, _LOOK_AROUND)
    is_on = left > 0 and old[first] == new[other]
    after = common_start(old[first : first + left], new[other : other + left], left) if is_on else 0
    begins = line == place == before
    ends = len(old) - first == len(new) - other == after
    return before + begins, after + ends


def _is_more(mine: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether one block has more of its surroundings with it than another, and on no side less."""
    return mine[0] >= other[0] and mine[1] >= other[1] and mine != other


@dataclass(frozen=True, slots=True)
class EditTime:
    """When a recorded edit was made, as history has it.

    Attributes:
        moment: What was committed before this time was there before the edit (R14).
        commits: The commits that came with the edit or after it, whatever their clocks say.
        since: From when on commits have to be told apart: the earliest of all these times.
    """

    moment: datetime
    commits: frozenset[str]
    since: datetime

    def is_after(self, since: DatedCommit) -> bool:
        """Whether a commit was made before the edit."""
        return since.moment < self.moment and since.commit not in self.commits


@dataclass(frozen=True, slots=True)
class LineAges:
    """Since when git has each line of a file.

    Attributes:
        text: The file as the last commit has it.
        lines: For each of its lines the commit that it came with, or a later one that was made before all edits in question.
    """

    text: Text
    lines: Sequence[DatedCommit]

    def of(self, text: Text) -> Sequence[DatedCommit | None]:
        """Return the same for another text of the file; None for lines that the last commit does not have."""
        if text.content == self.text.content:
            return self.lines
        ages: list[DatedCommit | None] = [None] * len(text.lines)
        for line, place in self._kept(text):
            ages[place - 1] = self.lines[line - 1]
        return ages

    def _kept(self, text: Text) -> Iterator[tuple[int, int]]:
        """Give the lines that stand unchanged in another text, each with its place there."""
        lines, old, new = LineMap(self.text, text), self.text.lines, text.lines
        for line in range(1, min(len(old), len(self.lines)) + 1):
            place = lines.unmoved(line)
            if place is not None and old[line - 1] == new[place - 1]:
                yield line, place


def apply_line_ages(
    located: LocatedRange, ages: Sequence[DatedCommit | None], edit: EditTime
) -> LocatedRange:
    """Return a place as history leaves it: all the lines that are claimed there may be older than the edit.

    A place that is sure is proved by its text; `Origin.before_edit` says whether that proves anything.

    Args:
        located: The place.
        ages: Since when git has each line of the text.
        edit: When the edit was made.
    """
    if located.sure or located.is_contradicted or located.start is None or located.end is None:
        return located
    kinds = located.kinds or (LineKind.CLAIMED,) * (located.end - located.start + 1)
    claimed = [
        age
        for age, kind in zip(ages[located.start - 1 : located.end], kinds, strict=False)
        if kind is not LineKind.HUMAN
    ]
    older = [age for age in claimed if age is not None and edit.is_after(age)]
    if not claimed or len(older) < len(claimed):
        return located
    since = max(older, key=lambda age: age.moment)
    return replace(
        located,
        state=State.UNVERIFIED,
        method=Method.OLDER_THAN_EDIT,
        intact=None,
        kinds=(),
        older_commit=since,
    )
