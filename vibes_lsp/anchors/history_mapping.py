"""Map ranges from their original text to the current one (R15, R16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.anchors.line_map import MIN_MOVED_LINES, LineMap, count_distinctive, is_distinctive
from vibes_lsp.anchors.location import (
    LineKind,
    LocatedRange,
    Method,
    OriginalText,
    State,
)
from vibes_lsp.anchors.occurrences import find_copies
from vibes_lsp.anchors.text import Text, common_end, common_start

_LOOK_AROUND: Final = 50
"""Lines compared on either side of a block to distinguish copies."""

LOST: Final = LocatedRange(None, None, State.LOST, Method.HISTORY, 0.0)


def map_range(original: OriginalText, line_map: LineMap, recorded: int) -> LocatedRange:
    """Return where a range is now.

    Args:
        original: The original text of the range, and its place in it.
        line_map: The map from that text to the current one.
        recorded: The first line as recorded: a range that is still there is exact.
    """
    block = _largest(_blocks(original, line_map), original)
    if block is None:
        return LOST
    place = block.grown(original, line_map.old, line_map.new)
    kinds = place.kinds(line_map)
    intact = kinds.count(LineKind.AI)
    whole = intact == len(kinds) == original.end - original.start + 1
    if not whole:
        return LocatedRange(
            place.first, place.last, State.EDITED, Method.HISTORY, 0.9, intact=intact, kinds=kinds
        )
    state = State.EXACT if place.first == recorded else State.MOVED
    ambiguous = _could_be_elsewhere(original, line_map, place)
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
    """Lines of a range that are still together: ascending pairs of an old and a new line."""

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
        """How much of the range this is: distinctive lines, all lines, whether it is unmoved."""
        unmoved = [lines[line - 1] for line, _ in self.pairs]
        return sum(map(is_distinctive, unmoved)), len(unmoved), not self.moved

    def grown(self, original: OriginalText, old: Text, new: Text) -> _Block:
        """Return the block with adjacent equal lines that the map left out: braces, blanks."""
        pairs = list(self.pairs)
        line, place = pairs[0]
        while line > original.start and place > 1 and old.lines[line - 2] == new.lines[place - 2]:
            line, place = line - 1, place - 1
            pairs.insert(0, (line, place))
        line, place = pairs[-1]
        while (
            line < original.end and place < len(new.lines) and old.lines[line] == new.lines[place]
        ):
            line, place = line + 1, place + 1
            pairs.append((line, place))
        return _Block(tuple(pairs), self.moved)

    def kinds(self, line_map: LineMap) -> tuple[LineKind, ...]:
        """Return the kind of each line, from the first to the last."""
        first, old, new = self.first, line_map.old.lines, line_map.new.lines
        kinds = [LineKind.UNRECORDED] * (self.last - first + 1)
        for line, place in self.pairs:
            kinds[place - first] = (
                LineKind.AI if old[line - 1] == new[place - 1] else LineKind.EDITED
            )
        return tuple(kinds)


def _blocks(original: OriginalText, line_map: LineMap) -> list[_Block]:
    """Return the parts of a range: the unmoved lines, and each block that moved elsewhere."""
    unmoved: list[tuple[int, int]] = []
    moved: list[list[tuple[int, int]]] = []
    previous: int | None = None
    for line in range(original.start, original.end + 1):
        place = line_map.unmoved(line)
        if place is not None:
            unmoved.append((line, place))
            continue
        place = line_map.moved(line)
        if place is None:
            continue
        if previous is None or not 0 < place - previous <= original.end - original.start + 1:
            moved.append([])
        moved[-1].append((line, place))
        previous = place
    return [
        _Block(tuple(pairs), moved=number > 0)
        for number, pairs in enumerate([_with_changed(original, line_map, unmoved), *moved])
        if pairs
    ]


def _with_changed(
    original: OriginalText, line_map: LineMap, unmoved: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the pairs with those of lines that were changed in place."""
    known = {line for line, _ in unmoved}
    changed = [
        (line, place)
        for line in range(original.start, original.end + 1)
        if line not in known and (place := line_map.changed(line)) is not None
    ]
    return sorted([*unmoved, *changed])


def _largest(blocks: Sequence[_Block], original: OriginalText) -> _Block | None:
    """Return the largest part of a range; None when nothing distinctive of it is left."""
    written = original.text.lines
    if not blocks:
        return None
    best = blocks[0] if len(blocks) == 1 else max(blocks, key=lambda block: block.weight(written))
    if any(is_distinctive(written[line - 1]) for line, _ in best.pairs):
        return best
    return None if any(map(is_distinctive, written[original.start - 1 : original.end])) else best


def _could_be_elsewhere(original: OriginalText, line_map: LineMap, place: _Block) -> bool:
    """Whether an unchanged range may be a copy.

    It may if its text occurs twice in the old or new text and the surroundings do not distinguish
    the occurrences.
    """
    block = original.text.lines[original.start - 1 : original.end]
    if place.moved and count_distinctive(block) < MIN_MOVED_LINES:
        return True
    now, then = (
        find_copies(block, line_map.new, place.first),
        find_copies(block, line_map.old, original.start),
    )
    if now is None or then is None:
        return True
    if not any(map(is_distinctive, block)) and not _is_enclosed(
        line_map, range(original.start, original.end + 1), place.first - original.start
    ):
        return True
    pairs = [(original.start, other) for other in now] + [(other, place.first) for other in then]
    if not pairs:
        return False
    mine = _surroundings(line_map, original.start, place.first, len(block))
    return any(
        not _is_more(mine, _surroundings(line_map, *pair, len(block)))
        for pair in _rivals(line_map, pairs, mine, len(block))
    )


def _is_enclosed(line_map: LineMap, block: range, shift: int) -> bool:
    """Whether the surroundings of a block without distinctive lines moved with it.

    The surroundings are the next distinctive line, or the end of the text, on both sides.
    """
    old, new = line_map.old.lines, line_map.new.lines
    before, after = (
        _next_distinctive(old, range(block.start - 1, 0, -1)),
        _next_distinctive(old, range(block.stop, len(old) + 1)),
    )
    begins = shift == 0 if before is None else _moved_by(line_map, before, shift)
    return begins and (
        len(new) - len(old) == shift if after is None else _moved_by(line_map, after, shift)
    )


def _next_distinctive(lines: Sequence[str], numbers: range) -> int | None:
    """Return the first distinctive line; None if there is none.

    If there is none within the lines compared, return the last of those.
    """
    near = numbers[:_LOOK_AROUND]
    found = next((number for number in near if is_distinctive(lines[number - 1])), None)
    return near[-1] if found is None and len(near) == _LOOK_AROUND else found


def _moved_by(line_map: LineMap, line: int, shift: int) -> bool:
    return (line_map.unmoved(line) or line_map.changed(line)) == line + shift


def _rivals(
    line_map: LineMap, pairs: Sequence[tuple[int, int]], mine: tuple[int, int], length: int
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of an old and a new line whose surroundings may match as well.

    Changes no result; saves up to 20 percent of the time of large files.
    """
    old, new = line_map.old.compact_lines, line_map.new.compact_lines
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


def _surroundings(line_map: LineMap, then: int, now: int, length: int) -> tuple[int, int]:
    """Return how many lines before and after a block are equal in both texts.

    The beginning and the end of a text count as one line each.
    """
    old, new = line_map.old.compact_lines, line_map.new.compact_lines
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
    """Whether one block has more equal surroundings than another, and on no side fewer."""
    return mine[0] >= other[0] and mine[1] >= other[1] and mine != other
