"""Single lines of the old text that records quote, and their alignment with the new text.

Every context quotes up to three lines. Together they are a sparse copy of the old text, which is
aligned with the new one: rare lines may justify a change of offset, common ones follow their
neighbours. Buys 6.1 points of starts and 3.6 of both ends, without history.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from math import log2
from typing import Final

import msgspec

from vibes_lsp.anchors.create_anchors import CONTEXT_LINES
from vibes_lsp.anchors.exact_match import ExactMatches
from vibes_lsp.anchors.occurrences import Occurrences
from vibes_lsp.anchors.offset import LinePair, Offsets
from vibes_lsp.anchors.text import compact

_CHANGE: Final = 3.0
"""Cost in bits of a change of offset: only a rarer line justifies one."""

_PER_DOUBLING: Final = 0.5
"""Additional cost of each doubling of the number of lines inserted or deleted."""

_LEAST_LINES: Final = 64
"""Minimum text length for weights: a match in a short text has some weight, too."""

_STEPS: Final = 20_000
"""Pairs of positions compared for a text. All lines share them, so that order does not matter."""

_LEAST_STEPS: Final = 6
_MAX_PLACES: Final = 16
"""Positions tried for one line: the nearest to those that the enclosing pairs imply."""


class KnownLine(msgspec.Struct, frozen=True, gc=False):
    """A line of the old text and where it may be in the new one.

    Attributes:
        line: Its number in the old text.
        places: Its possible numbers in the new text, ascending.
        weight: The information of a match, in bits: more for a rare line.
    """

    line: int
    places: Sequence[int]
    weight: float


def weight_of(places: int, lines: int) -> float:
    """Return the weight of a line with some possible places in a text of some length."""
    return log2(max(lines + 1, _LEAST_LINES) / max(places, 1))


def align_known_lines(known: Iterable[KnownLine], offsets: Offsets) -> list[LinePair]:
    """Return the ascending pairs of the best alignment; lines that fit nowhere are left out.

    Args:
        known: The lines, none of them in a pair of `offsets`.
        offsets: Known pairs. Each line stays between the pairs that enclose it.
    """
    segments: dict[tuple[LinePair, LinePair | None], list[KnownLine]] = defaultdict(list)
    total = 0
    for each in known:
        low, high = offsets.enclosing(each.line)
        places = _within(each, low, high)
        if places:
            total += len(places)
            segments[low, high].append(KnownLine(each.line, places, each.weight))
    steps = max(_LEAST_STEPS, _STEPS // max(1, total))
    found: list[LinePair] = []
    for low, high in sorted(segments, key=lambda segment: segment[0]):
        within = sorted(segments[low, high], key=lambda each: each.line)
        found += _unshifted(within, low, high) or _best_chain(within, low, high, steps)
    return found


def _within(known: KnownLine, low: LinePair, high: LinePair | None) -> Sequence[int]:
    """Return the places between two pairs; of many, the nearest to those that the pairs imply."""
    places = known.places
    first = bisect_left(places, low[1] + 1)
    last = len(places) if high is None else bisect_left(places, high[1])
    if last - first <= _MAX_PLACES:
        return places[first:last]
    chosen: set[int] = set()
    for old, new in (low, high or low):
        at = bisect_left(places, known.line + new - old) - _MAX_PLACES // 4
        at = min(max(at, first), last - _MAX_PLACES // 2)
        chosen.update(places[at : at + _MAX_PLACES // 2])
    return sorted(chosen)


def _unshifted(known: Sequence[KnownLine], low: LinePair, high: LinePair | None) -> list[LinePair]:
    """Return the pairs of all lines if the offset is constant between two pairs, else none."""
    shift = low[1] - low[0]
    if (
        high is None
        or high[1] - high[0] != shift
        or any(each.line + shift not in each.places for each in known)
    ):
        return []
    return [(each.line, each.line + shift) for each in known]


def _best_chain(
    known: Sequence[KnownLine], low: LinePair, high: LinePair | None, steps: int
) -> list[LinePair]:
    """Return the chain of places with the most weight, less the cost of its offset changes."""
    states = [low, *((each.line, place) for each in known for place in each.places)]
    weights = [0.0, *(each.weight for each in known for _ in each.places)]
    shifts = [new - old for old, new in states]
    best, links = [0.0], [0]
    latest = {shifts[0]: 0}
    for number in range(1, len(states)):
        old, new = states[number]
        score, link, shift = -_cost(shifts[number] - shifts[0]), 0, shifts[number]
        straight = latest.get(shift, 0)
        if best[straight] > score and states[straight][0] < old and shifts[straight] == shift:
            score, link = best[straight], straight
        for other in range(max(1, number - steps), number):
            if best[other] > score and states[other][0] < old and states[other][1] < new:
                reached = best[other] - _cost(shift - shifts[other])
                if reached > score:
                    score, link = reached, other
        best.append(score + weights[number])
        links.append(link)
        latest[shift] = number
    if high is not None:
        best = [
            score - _cost(high[1] - high[0] - shift)
            for score, shift in zip(best, shifts, strict=True)
        ]
    link = best.index(max(best))
    chain = []
    while link:
        chain.append(states[link])
        link = links[link]
    return chain[::-1]


@lru_cache(maxsize=1 << 12)
def _cost(change: int) -> float:
    """Return the cost, in bits, of a change of the offset by some lines."""
    return _CHANGE + _PER_DOUBLING * log2(1 + abs(change)) if change else 0.0


class KnownLines:
    """The lines of the old text that contexts quote.

    Args:
        exact: The exact matches of the ranges.
    """

    def __init__(self, exact: ExactMatches) -> None:
        self._exact: Final = exact

    @cached_property
    def contexts(self) -> Mapping[int, tuple[str, ...]]:
        """The contexts found nowhere verbatim, without white space, by the range's number."""
        exact = self._exact
        return {
            number: tuple(compact("\n".join(found.context)).split("\n"))
            for number, (found, match) in enumerate(
                zip(exact.candidates, exact.matches, strict=True)
            )
            if match is None and found.context is not None and not found.context_starts
        }

    @cached_property
    def index(self) -> Occurrences:
        """The positions of the lines of `contexts` in the new text."""
        return Occurrences(
            self._exact.text.compact_lines, ((lines, False) for lines in self.contexts.values())
        )

    def quoted(self, numbers: Collection[int]) -> Mapping[str | None, Mapping[int, str]]:
        """Return old lines by number, for each old version of the file, by its hash.

        Args:
            numbers: The ranges whose lines are needed. Lines near them may be included.
        """
        ranges, candidates = self._exact.ranges, self._exact.candidates
        extents = sorted((ranges[number].start, ranges[number].end) for number in numbers)
        starts = [start for start, _ in extents]
        reach = list(accumulate((end for _, end in extents), max))
        quoted: dict[str | None, dict[int, str]] = {
            ranges[number].anchors.file_hash: {} for number in numbers
        }
        for each, found in zip(ranges, candidates, strict=True):
            lines = quoted.get(each.anchors.file_hash)
            before = bisect_left(starts, each.start + CONTEXT_LINES)
            if lines is not None and before and reach[before - 1] >= each.start:
                whole = _whole_lines(found.context or (), truncated=found.truncated)
                lines.update(enumerate(whole, each.start))
        return quoted

    def align(self, offsets: Offsets) -> dict[int, int]:
        """Return new line numbers by old ones: those of `offsets`, and of lines aligned by them.

        Aligned are the lines of `contexts`, and the ends of ranges found in several places.
        """
        paired = dict(offsets.pairs)
        known = [
            each
            for each in (*self._context_lines(paired), *self._copied_ends())
            if each.line not in paired
        ]
        return paired | dict(align_known_lines(known, offsets))

    def _context_lines(self, paired: Mapping[int, int]) -> Iterator[KnownLine]:
        exact = self._exact
        lines = {
            (line, content)
            for number, context in self.contexts.items()
            for line, content in enumerate(
                _whole_lines(context, truncated=exact.candidates[number].truncated),
                exact.ranges[number].start,
            )
            if line not in paired
        }
        for line, content in sorted(lines):
            places = self.index.line_numbers(content)
            if places:
                yield KnownLine(line, places, weight_of(len(places), len(exact.text.lines)))

    def _copied_ends(self) -> Iterator[KnownLine]:
        """Yield the first and last lines of ranges and contexts found in several places."""
        exact = self._exact
        for each, found in zip(exact.ranges, exact.candidates, strict=True):
            places = found.hash_starts or found.context_starts
            if len(places) > 1:
                weight = weight_of(len(places), len(exact.text.lines))
                yield KnownLine(each.start, places, weight)
                last = (each.length if found.hash_starts else len(found.context or (0,))) - 1
                if last:
                    yield KnownLine(each.start + last, [place + last for place in places], weight)


def _whole_lines(context: Sequence[str], *, truncated: bool) -> Sequence[str]:
    """Return the lines of a context, without a truncated last one."""
    return context[:-1] if truncated else context
