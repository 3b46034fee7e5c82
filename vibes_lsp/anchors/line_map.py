"""Map the lines of an old text to those of a new one: unmoved, moved elsewhere or edited in place.

Lines are aligned without their white space.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from vibes_lsp.anchors.align import Stretch, align_within, differing
from vibes_lsp.anchors.text import Text

MIN_MOVED_LINES: Final = 3
"""Different distinctive lines that a block must have to count as moved."""

_MIN_CHARACTERS: Final = 4
"""Characters that a distinctive line must have."""

_MAX_PAIRS: Final = 4_096
"""Product of line counts up to which edited lines are paired by similarity, not by position."""

_SIMILAR: Final = 60.0
"""Similarity, in percent, from which on one line may be an edit of another."""


class LineMap:
    """Where each line of an old text is in a new one. Ignores white space; numbers are 1-based.

    Args:
        old: The old text.
        new: The new text.
        onward: The map from `new` on, if `new` is a version in between. Small steps leave less to
            infer than one large step.
    """

    def __init__(self, old: Text, new: Text, onward: LineMap | None = None) -> None:
        self.old, self.new = old, new
        ours, theirs = old.compact_lines, new.compact_lines
        self._differing = differing(ours, theirs)
        # For each old index: the new one, -1 for lines that are gone, moved or edited.
        self._to = align_within(ours, theirs, self._differing)
        # New indexes by old ones.
        self._moved = _moves(ours, theirs, self._to, self._differing)
        if onward is not None:
            self._follow(onward)
        self._changed: dict[int, int] = {}
        self._paired: set[int] = set()

    def _follow(self, onward: LineMap) -> None:
        """Continue from the version in between. A line that moved once stays moved."""
        self.new = onward.new
        to, moved = [*onward._to, -1], onward._moved
        first, last, _, end = self._differing
        further = {
            line: to[place] if to[place] >= 0 else moved.get(place, -1)
            for line, place in self._moved.items()
        }
        self._moved = {line: place for line, place in further.items() if place >= 0}
        if moved:
            within = {
                place: line for line, place in enumerate(self._to[first:last], first) if place >= 0
            }
            for place, there in moved.items():
                line = (
                    place
                    if place < first
                    else place - end + last
                    if place >= end
                    else within.get(place)
                )
                if line is not None:
                    self._moved[line] = there
        self._to = [*to[:first], *(to[place] for place in self._to[first:last]), *to[end:-1]]

    def unmoved(self, line: int) -> int | None:
        """Return where a line is that stayed in order with its neighbours; None for others."""
        place = self._to[line - 1]
        return place + 1 if place >= 0 else None

    def moved(self, line: int) -> int | None:
        """Return where a line is that moved elsewhere with its block; None for others."""
        place = self._moved.get(line - 1)
        return place + 1 if place is not None else None

    def changed(self, line: int) -> int | None:
        """Return where a line is that was edited in place; None if no line there is similar."""
        if self._to[line - 1] >= 0 or line - 1 in self._moved:
            return None
        self._pair_around(line - 1)
        place = self._changed.get(line - 1)
        return place + 1 if place is not None else None

    def _pair_around(self, number: int) -> None:
        """Pair the unmapped lines around a line with the similar new lines in their place."""
        first = number
        while first > 0 and self._to[first - 1] < 0:
            first -= 1
        if first in self._paired:
            return
        self._paired.add(first)
        last = number + 1
        while last < len(self._to) and self._to[last] < 0:
            last += 1
        start = self._to[first - 1] + 1 if first else 0
        end = self._to[last] if last < len(self._to) else len(self.new.lines)
        used = set(self._moved.values())
        ours = [line for line in range(first, last) if line not in self._moved]
        theirs = [line for line in range(start, end) if line not in used]
        old, new = self.old.compact_lines, self.new.compact_lines
        for one, other in similar_pairs(
            [old[line] for line in ours], [new[line] for line in theirs]
        ):
            self._changed[ours[one]] = theirs[other]


class LineMaps:
    """The maps to one text from older ones. Compares versions that several of them share once.

    Args:
        new: The new text.
    """

    def __init__(self, new: Text) -> None:
        self._new = new
        self._known: dict[tuple[int, ...], LineMap] = {}
        self._texts: list[Text] = []

    def from_text(self, old: Text, between: Sequence[Text] = ()) -> LineMap:
        """Return the map from a text.

        Args:
            old: The old text.
            between: Versions between the two, oldest first.
        """
        path = (old, *between, self._new)
        names = tuple(map(id, path))
        known = self._known.get(names)
        if known is not None:
            return known
        onward: LineMap | None = None
        for number in range(len(path) - 2, -1, -1):
            known = self._known.get(names[number:])
            if known is None:
                known = self._known[names[number:]] = LineMap(
                    path[number], path[number + 1], onward
                )
                self._texts.append(path[number])
            onward = known
        return onward or LineMap(old, self._new)


def is_distinctive(line: str) -> bool:
    """Whether a line is unlikely to occur elsewhere by chance."""
    return len(line.strip()) >= _MIN_CHARACTERS


def count_distinctive(lines: Iterable[str]) -> int:
    """Return how many different distinctive lines there are, up to `MIN_MOVED_LINES`."""
    found: set[str] = set()
    for line in lines:
        if len(bared := line.strip()) >= _MIN_CHARACTERS:
            found.add(bared)
            if len(found) == MIN_MOVED_LINES:
                break
    return len(found)


def similar_pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return ascending pairs of indices of similar lines, with the most total similarity."""
    if not old or not new:
        return []
    from rapidfuzz.fuzz import ratio  # noqa: PLC0415  # seldom needed

    if len(old) * len(new) > _MAX_PAIRS:
        both = zip(old, new, strict=False) if len(old) == len(new) else ()
        return [
            (number, number)
            for number, (one, other) in enumerate(both)
            if ratio(one, other, score_cutoff=_SIMILAR)
        ]
    width = len(new) + 1
    best = [[0.0] * width for _ in range(len(old) + 1)]
    for row in range(len(old) - 1, -1, -1):
        for column in range(len(new) - 1, -1, -1):
            matching = (
                ratio(old[row], new[column], score_cutoff=_SIMILAR)
                if old[row] and new[column]
                else 0.0
            )
            paired = matching + best[row + 1][column + 1] if matching else 0.0
            best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
    return list(_walk(best, len(old), len(new)))


def _walk(best: Sequence[Sequence[float]], rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs on the best path through a table of the total similarities from there on."""
    row = column = 0
    while row < rows and column < columns:
        if best[row][column] == best[row + 1][column]:
            row += 1
        elif best[row][column] == best[row][column + 1]:
            column += 1
        else:
            yield row, column
            row, column = row + 1, column + 1


def _moves(
    old: Sequence[str], new: Sequence[str], to: Sequence[int], stretch: Stretch
) -> dict[int, int]:
    """Return the lines of blocks that moved: unchanged and unique where the texts differ.

    Buys 0.2 points of starts and of both ends with history.
    """
    first, last, start, end = stretch
    ours = {number for number, place in enumerate(to[first:last], first) if place < 0}
    if not ours or len(new) == len(old) - len(ours):
        return {}
    theirs = set(range(start, end)).difference(to[first:last])
    were = Counter(old[number] for number in ours)
    are = Counter(new[number] for number in theirs)
    places = {new[number]: number for number in theirs}
    loose = ours, theirs
    moved: dict[int, int] = {}
    for number in sorted(ours):
        line = old[number]
        if number in moved or not is_distinctive(line) or were[line] != 1 or are[line] != 1:
            continue
        block = _grown((number, places[line]), old, new, loose)
        if count_distinctive([old[line] for line in block]) >= MIN_MOVED_LINES:
            moved.update(block)
    return moved


def _grown(
    seed: tuple[int, int], old: Sequence[str], new: Sequence[str], loose: tuple[set[int], set[int]]
) -> dict[int, int]:
    """Return the moved block around a line."""
    number, place = seed
    ours, theirs = loose
    first, shift = number, place - number
    while (
        first - 1 in ours
        and first - 1 + shift in theirs
        and old[first - 1] == new[first - 1 + shift]
    ):
        first -= 1
    last = number
    while (
        last + 1 in ours and last + 1 + shift in theirs and old[last + 1] == new[last + 1 + shift]
    ):
        last += 1
    return {line: line + shift for line in range(first, last + 1)}
