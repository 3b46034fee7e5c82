"""One diff in process: which line of a new text is which line of an old one.

A patience diff, with a longest common subsequence where a stretch has no unique line. What git's
blame says of a commit is left to git.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from vibes_lsp.anchors.line_hashes import is_long
from vibes_lsp.anchors.sliders import lone_blocks, settle_blocks, sliding_lines

Stretch: TypeAlias = tuple[int, int, int, int]
"""First line and line after the last, of the old text, then of the new one."""

_MAX_PASSES: Final = 64
"""How often both texts are searched for unique lines, on average: a text may be made to need a pass
for each of its lines. What is left then counts as changed."""

_MIN_WORK: Final = 1_000_000
"""Lines that are searched in any case."""

_MAX_CELLS: Final = 4_000_000
"""Product of line counts up to which a stretch without unique lines is compared in full."""


def align(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """Return the index of the new line for each old line, -1 if it is gone; ascending."""
    partners = [-1] * len(old)
    stretches = [(0, len(old), 0, len(new))]
    left = _MAX_PASSES * (len(old) + len(new)) + _MIN_WORK
    while stretches:
        first, last, start, end = _trimmed(old, new, stretches.pop(), partners)
        if first == last or start == end:
            continue
        left -= last - first + end - start
        if left < 0:
            break
        pairs = ascending(_unique_pairs(old, new, (first, last, start, end)))
        if not pairs:
            _fill(old, new, (first, last, start, end), partners)
            continue
        for line, place in pairs:
            if first < line and start < place:
                stretches.append((first, line, start, place))
            partners[line] = place
            first, start = line + 1, place + 1
        stretches.append((first, last, start, end))
    return partners


def came_from(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """Return the index of the old line that each new line is; -1 if it is new, or may be.

    Inserted boilerplate may as well stand some lines further up or down, among lines that are equal
    to it. Which of them are new cannot be known, so all of them may be.
    """
    places = align(old, new)
    settle_blocks(old, places, len(new))
    origins = [-1] * len(new)
    for index, place in enumerate(places):
        if place >= 0:
            origins[place] = index
    settle_blocks(new, origins, len(old))
    for start, end in lone_blocks(origins, len(old)):
        if not any(map(is_long, new[start:end])):
            first, last = sliding_lines(new, origins, start, end)
            origins[first:start] = [-1] * (start - first)
            origins[end:last] = [-1] * (last - end)
    return origins


def beside_copies(new: Sequence[str], origins: Sequence[int], length: int) -> set[int]:
    """Return the lines of blocks beside a copy of them; which of both is new cannot be known.

    Git decides at the commit, by more than the two texts.

    Args:
        new: The new lines.
        origins: What `came_from` returns.
        length: How many old lines there are.
    """
    uncertain: set[int] = set()
    for start, end in lone_blocks(origins, length):
        first, last = sliding_lines(new, origins, start, end)
        if any(map(is_long, (*new[first:start], *new[end:last]))):
            uncertain.update(range(first, last))
    return uncertain


def changed_lines(
    old: Sequence[str], new: Sequence[str]
) -> tuple[list[int], dict[int, tuple[str, ...]]]:
    """Return the numbers of new lines, and removed lines by the number of the line that follows."""
    pairs = align(old, new)
    unchanged = set(pairs)
    removed: dict[int, tuple[str, ...]] = {}
    following = 1
    for line, index in zip(old, pairs, strict=True):
        if index >= 0:
            following = index + 2
        else:
            removed[following] = (*removed.get(following, ()), line)
    return [number + 1 for number in range(len(new)) if number not in unchanged], removed


def _trimmed(
    old: Sequence[str], new: Sequence[str], stretch: Stretch, partners: list[int]
) -> Stretch:
    """Match the common lines at both ends of a stretch; return the rest."""
    first, last, start, end = stretch
    while first < last and start < end and old[first] == new[start]:
        partners[first] = start
        first, start = first + 1, start + 1
    while first < last and start < end and old[last - 1] == new[end - 1]:
        last, end = last - 1, end - 1
        partners[last] = end
    return first, last, start, end


def ascending(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest selection of pairs in which both numbers ascend (patience sorting).

    Of pairs that share a number at most one is kept.
    """
    ordered = sorted(dict.fromkeys(pairs), key=lambda pair: (pair[0], -pair[1]))
    tops: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for number, (_, place) in enumerate(ordered):
        pile = bisect_left(tops, place)
        previous.append(ends[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [place]
        ends[pile : pile + 1] = [number]
    chosen: list[tuple[int, int]] = []
    link = ends[-1] if ends else -1
    while link >= 0:
        chosen.append(ordered[link])
        link = previous[link]
    chosen.reverse()
    return chosen


def _unique_pairs(
    old: Sequence[str], new: Sequence[str], stretch: Stretch
) -> list[tuple[int, int]]:
    """Return the indices of the lines that occur once in both stretches."""
    first, last, start, end = stretch
    ours, theirs = _once(old[first:last], first), _once(new[start:end], start)
    return [(number, theirs[line]) for line, number in ours.items() if line in theirs]


def _once(lines: Sequence[str], first: int) -> dict[str, int]:
    """Return the indices of the lines that occur once, counted from a first index."""
    counts = Counter(lines)
    return {line: number for number, line in enumerate(lines, first) if counts[line] == 1}


def _fill(old: Sequence[str], new: Sequence[str], stretch: Stretch, partners: list[int]) -> None:
    """Match a stretch by its longest common subsequence, unless it is too large."""
    first, last, start, end = stretch
    if (last - first) * (end - start) > _MAX_CELLS:
        return
    from rapidfuzz.distance import Indel  # noqa: PLC0415  # seldom needed

    for block in Indel.opcodes(old[first:last], new[start:end]).as_matching_blocks():
        for step in range(block.size):
            partners[first + block.a + step] = start + block.b + step
