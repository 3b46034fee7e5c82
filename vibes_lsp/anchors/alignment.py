"""Align the lines of two texts: patience on unique lines, longest common subsequence elsewhere."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from operator import itemgetter, lt
from typing import Final, TypeAlias

_STRIDES: Final = (1 << 14, 1 << 10, 1 << 6, 1 << 3, 1)


@dataclass(frozen=True, slots=True)
class Shared:
    """The lines that a text has in common with one near to it.

    Attributes:
        first: How many lines both begin with.
        last: The number of lines of the text before those that both end with.
        near_last: The same of the other one.
        between: What the text has in between.
    """

    first: int
    last: int
    near_last: int
    between: str

    def of(self, near: Sequence[str], between: Sequence[str]) -> list[str]:
        """Return the lines of the text, given those of the other one and those in between."""
        return [*near[: self.first], *between, *near[self.near_last :]]

    def is_most(self, length: int) -> bool:
        """Whether the lines that only one of the two has are at most half as many as the text has."""
        return 2 * (self.last + self.near_last - 2 * self.first) <= length

    def numbers(self, near: Sequence[int], between: Sequence[int]) -> Sequence[int]:
        """Return where a line stands in the text, 1-based, given where it does in the other one and in between."""
        shift = self.last - self.near_last
        before = [number for number in near if number <= self.first]
        return [*before, *between, *(number + shift for number in near if number > self.near_last)]


def shared_lines(content: str, near: str) -> Shared | None:
    """Return what a text shares with another; None where lines end in other ways than by LF."""
    if any("\r" in each or each.startswith("\ufeff") for each in (content, near)):
        return None
    most = min(len(content), len(near))
    begin = content.rfind("\n", 0, common_start(content, near, most)) + 1
    end = common_end(content, near, most - begin)
    newline = content.find("\n", len(content) - end)
    end = 0 if newline < 0 else len(content) - newline - 1
    between = content[begin : len(content) - end]
    first = content.count("\n", 0, begin)
    return Shared(
        first, first + _lines_in(between), first + _lines_in(near[begin : len(near) - end]), between
    )


def _lines_in(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def common_start(one: Sequence[object], other: Sequence[object], most: int) -> int:
    """Return how many members two sequences begin with alike, at most so many: long slices first, they are what Python compares fastest."""
    alike = 0
    for stride in _STRIDES:
        while (
            alike + stride <= most and one[alike : alike + stride] == other[alike : alike + stride]
        ):
            alike += stride
    return alike


def common_end(one: Sequence[object], other: Sequence[object], most: int) -> int:
    """Return how many members two sequences end with alike, at most so many."""
    alike, here, there = 0, len(one), len(other)
    for stride in _STRIDES:
        while alike + stride <= most and one[here - stride : here] == other[there - stride : there]:
            alike, here, there = alike + stride, here - stride, there - stride
    return alike


_MAX_CELLS: Final = 4_000_000
"""Lines times lines up to which a stretch without unique lines is compared in full."""

_LONG: Final = 64
"""Lines from which on a stretch is looked at in its middle first."""

_SEEDS: Final = 16
"""Lines tried there."""

Stretch: TypeAlias = tuple[int, int, int, int]
"""First and last line of the old text, then of the new one; the last are not part of it."""


def align(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """Return for each old line the index of the new line that it is, -1 when it is gone; the indices ascend."""
    return align_within(old, new, differing(old, new))


def differing(old: Sequence[str], new: Sequence[str]) -> Stretch:
    """Return what is left of two texts without the lines with which they begin and end alike."""
    most = min(len(old), len(new))
    first = common_start(old, new, most)
    last = common_end(old, new, most - first)
    return first, len(old) - last, first, len(new) - last


def align_within(old: Sequence[str], new: Sequence[str], stretch: Stretch) -> list[int]:
    """Return the same as `align`, given where the texts differ."""
    begun, ended, _, until = stretch
    found = [*range(begun), *[-1] * (ended - begun), *range(until, len(new))]
    stretches = [stretch]
    while stretches:
        first, last, start, end = _trimmed(old, new, stretches.pop(), found)
        if first == last or start == end:
            continue
        run = _middle(old, new, (first, last, start, end))
        if run is not None:
            line, place, length = run
            found[line : line + length] = range(place, place + length)
            stretches += (first, line, start, place), (line + length, last, place + length, end)
            continue
        pins = _unique_pairs(old, new, (first, last, start, end))
        if any(one[1] > other[1] for one, other in pairwise(pins)):
            pins = ascending(pins)
        if not pins:
            _fill(old, new, (first, last, start, end), found)
            continue
        for line, place, length in _runs(old, new, pins):
            if first < line and start < place:
                stretches.append((first, line, start, place))
            found[line : line + length] = range(place, place + length)
            first, start = line + length, place + length
        stretches.append((first, last, start, end))
    return found


def _middle(
    old: Sequence[str], new: Sequence[str], stretch: Stretch
) -> tuple[int, int, int] | None:
    """Return the run of equal lines around a line that stands once in both, if it is most of a long stretch, as between close versions.

    Then the lines of the stretch need not be sorted by how often they stand in it.
    """
    first, last, start, end = stretch
    middle = (first + last) // 2
    if last - first < _LONG or end - start < _LONG:
        return None
    ours, theirs = old[first:last], new[start:end]
    for line in range(middle, middle + _SEEDS):
        if ours.count(old[line]) != 1 or theirs.count(old[line]) != 1:
            continue
        place = new.index(old[line], start, end)
        before = common_end(old[first:line], new[start:place], min(line - first, place - start))
        after = common_start(old[line:last], new[place:end], min(last - line, end - place))
        return (
            (line - before, place - before, before + after)
            if 2 * (before + after) > last - first
            else None
        )
    return None


def _runs(
    old: Sequence[str], new: Sequence[str], pins: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Give the pins as runs of lines that are alike, as long as they can be: where they begin in either text, and their length."""
    for _, run in groupby(pins, lambda pin: pin[1] - pin[0]):
        alike = list(run)
        (line, place), (last, end) = alike[0], alike[-1]
        if old[line : last + 1] == new[place : end + 1]:
            yield line, place, last + 1 - line
        else:
            for line, place in alike:
                yield line, place, 1


def _trimmed(old: Sequence[str], new: Sequence[str], stretch: Stretch, found: list[int]) -> Stretch:
    """Match the lines with which a stretch begins and ends alike; return what is left."""
    first, last, start, end = stretch
    while first < last and start < end and old[first] == new[start]:
        found[first] = start
        first, start = first + 1, start + 1
    while first < last and start < end and old[last - 1] == new[end - 1]:
        last, end = last - 1, end - 1
        found[last] = end
    return first, last, start, end


def ascending(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest selection of pairs in which the second numbers, from 0 on, ascend as the first do (patience sorting).

    Of pairs with the same first number at most one is kept, and of those with the same second number likewise.
    """
    pins = sorted(
        dict.fromkeys(pairs), key=itemgetter(1), reverse=True
    )  # so that two of one first number never ascend
    pins.sort(key=itemgetter(0))
    places = [place for _, place in pins]
    if all(map(lt, places, islice(places, 1, None))):
        return pins
    begun = next(number for number, (one, other) in enumerate(pairwise(places), 1) if one >= other)
    tops, ends, previous = places[:begun], [*range(begun)], [*range(-1, begun - 1)]
    highest, last = tops[-1], begun - 1
    for number, place in enumerate(islice(places, begun, None), begun):
        if place > highest:
            previous.append(last)
            tops.append(place)
            ends.append(number)
            highest, last = place, number
            continue
        pile = bisect_left(tops, place)
        previous.append(ends[pile - 1] if pile else -1)
        tops[pile] = place
        ends[pile] = number
        highest, last = tops[-1], ends[-1]
    chosen: list[tuple[int, int]] = []
    link = last
    while link >= 0:
        chosen.append(pins[link])
        link = previous[link]
    chosen.reverse()
    return chosen


def _unique_pairs(
    old: Sequence[str], new: Sequence[str], stretch: Stretch
) -> list[tuple[int, int]]:
    """Return the lines that stand once in both stretches, as pairs of indices."""
    first, last, start, end = stretch
    ours, theirs = _once(old[first:last], first), _once(new[start:end], start)
    return [(number, theirs[line]) for line, number in ours.items() if line in theirs]


def _once(lines: Sequence[str], first: int) -> dict[str, int]:
    """Return where lines stand that stand once, the first of all being at some index."""
    last = dict(zip(lines, range(first, first + len(lines)), strict=True))
    if len(last) == len(lines):
        return last
    earliest = dict(zip(reversed(lines), range(first + len(lines) - 1, first - 1, -1), strict=True))
    return {line: number for line, number in last.items() if earliest[line] == number}


def _fill(old: Sequence[str], new: Sequence[str], stretch: Stretch, found: list[int]) -> None:
    first, last, start, end = stretch
    if (last - first) * (end - start) > _MAX_CELLS:
        return
    from rapidfuzz.distance import Indel  # noqa: PLC0415  # most texts never need it, and a server starts without it

    for block in Indel.opcodes(old[first:last], new[start:end]).as_matching_blocks():
        for step in range(block.size):
            found[first + block.a + step] = start + block.b + step
