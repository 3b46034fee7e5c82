"""Which line of an old text is which line of a new one: patience on lines, with a longest common subsequence where none is unique.

Lines are compared as they are given; callers strip them first when indentation should not count.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice, pairwise
from operator import itemgetter, lt
from typing import Final, TypeAlias

from vibes_lsp.anchors.sharing import common_end, common_start

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


def _middle(old: Sequence[str], new: Sequence[str], stretch: Stretch) -> tuple[int, int, int] | None:
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
        return (line - before, place - before, before + after) if 2 * (before + after) > last - first else None
    return None


def _runs(old: Sequence[str], new: Sequence[str], pins: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
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
    pins = sorted(dict.fromkeys(pairs), key=itemgetter(1), reverse=True)  # so that two of one first number never ascend
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


def _unique_pairs(old: Sequence[str], new: Sequence[str], stretch: Stretch) -> list[tuple[int, int]]:
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
