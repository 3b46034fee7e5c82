"""What the anchors of all ranges together tell about single lines of the old text, and where these lines are in the new one."""

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
from vibes_lsp.anchors.offset import Offsets, Pin
from vibes_lsp.anchors.text import compact

_CHANGE: Final = 3.0
"""What a change of drift costs, in bits: a line has to be rarer than that to speak for one."""

_PER_DOUBLING: Final = 0.5
"""What each doubling of the number of lines put in or taken out costs beside."""

_LEAST_LINES: Final = 64
"""Lines that a text is taken to have at least: a line says something by what is in it, too, however short the text is."""

_STEPS: Final = 20_000
"""Pairs of places that are compared for a text, or few for each line: what one may spend depends on how many there are, not on their order."""

_LEAST_STEPS: Final = 6
_MAX_PLACES: Final = 16
"""Places looked at for one line: the nearest to where the pins on either side put it."""


class Fragment(msgspec.Struct, frozen=True, gc=False):
    """A line that is known of the old text.

    Attributes:
        line: Where it was.
        places: Where it may be now, in order.
        weight: How much it says that it stands at one of them, in bits.
    """

    line: int
    places: Sequence[int]
    weight: float


def weight_of(places: int, lines: int) -> float:
    """Return how much it says that something stands at one of so many places, of so many lines."""
    return log2(max(lines + 1, _LEAST_LINES) / max(places, 1))


def chained(fragments: Iterable[Fragment], drift: Offsets) -> list[Pin]:
    """Return where the lines are, as they were recorded and now, ascending; those that fit in nowhere are left out.

    Args:
        fragments: The lines, none of them at a pin.
        drift: What is known already: nothing is put beyond the pins on either side of it.
    """
    segments: dict[tuple[Pin, Pin | None], list[Fragment]] = defaultdict(list)
    total = 0
    for fragment in fragments:
        low, high = drift.beside(fragment.line)
        places = _within(fragment, low, high)
        if places:
            total += len(places)
            segments[low, high].append(Fragment(fragment.line, places, fragment.weight))
    steps = max(_LEAST_STEPS, _STEPS // max(1, total))
    found: list[Pin] = []
    for low, high in sorted(segments, key=lambda segment: segment[0]):
        within = sorted(segments[low, high], key=lambda fragment: fragment.line)
        found += _straight(within, low, high) or _likeliest(within, low, high, steps)
    return found


def _within(fragment: Fragment, low: Pin, high: Pin | None) -> Sequence[int]:
    """Return the places between two pins, the nearest to where these put the line if there are many."""
    places = fragment.places
    first = bisect_left(places, low[1] + 1)
    last = len(places) if high is None else bisect_left(places, high[1])
    if last - first <= _MAX_PLACES:
        return places[first:last]
    chosen: set[int] = set()
    for recorded, now in (low, high or low):
        at = bisect_left(places, fragment.line + now - recorded) - _MAX_PLACES // 4
        at = min(max(at, first), last - _MAX_PLACES // 2)
        chosen.update(places[at : at + _MAX_PLACES // 2])
    return sorted(chosen)


def _straight(fragments: Sequence[Fragment], low: Pin, high: Pin | None) -> list[Pin]:
    """Return where the lines are when nothing between two pins drifted; empty when it did."""
    shift = low[1] - low[0]
    if (
        high is None
        or high[1] - high[0] != shift
        or any(fragment.line + shift not in fragment.places for fragment in fragments)
    ):
        return []
    return [(fragment.line, fragment.line + shift) for fragment in fragments]


def _likeliest(fragments: Sequence[Fragment], low: Pin, high: Pin | None, steps: int) -> list[Pin]:
    """Return the chain of places, from one pin to the other, that says the most less what its changes of drift cost."""
    states = [low, *((fragment.line, place) for fragment in fragments for place in fragment.places)]
    weights = [0.0, *(fragment.weight for fragment in fragments for _ in fragment.places)]
    shifts = [now - line for line, now in states]
    best, links = [0.0], [0]
    latest = {shifts[0]: 0}
    for number in range(1, len(states)):
        line, now = states[number]
        score, link, shift = -_cost(shifts[number] - shifts[0]), 0, shifts[number]
        straight = latest.get(shift, 0)
        if best[straight] > score and states[straight][0] < line and shifts[straight] == shift:
            score, link = best[straight], straight
        for other in range(max(1, number - steps), number):
            if best[other] > score and states[other][0] < line and states[other][1] < now:
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
    return _CHANGE + _PER_DOUBLING * log2(1 + abs(change)) if change else 0.0


class KnownLines:
    """The lines of the old text that are known.

    Args:
        evidence: What is known of the ranges for certain.
    """

    def __init__(self, evidence: ExactMatches) -> None:
        self._evidence: Final = evidence

    @cached_property
    def contexts(self) -> Mapping[int, tuple[str, ...]]:
        """The contexts that stand nowhere as they were recorded, without white space, by the number of the range."""
        evidence = self._evidence
        return {
            number: tuple(compact("\n".join(found.pieces)).split("\n"))
            for number, (found, whole) in enumerate(
                zip(evidence.found, evidence.whole, strict=True)
            )
            if whole is None and found.pieces is not None and not found.places
        }

    @cached_property
    def index(self) -> Occurrences:
        """The lines of these contexts in the text."""
        return Occurrences(
            self._evidence.text.compact_lines,
            ((pieces, False) for pieces in self.contexts.values()),
        )

    @cached_property
    def places(self) -> Mapping[int, Sequence[int]]:
        """Where these contexts stand, by the number of the range."""
        return {
            number: self.index.places((pieces, False)) for number, pieces in self.contexts.items()
        }

    def spelled(self, numbers: Collection[int]) -> Mapping[str | None, Mapping[int, str]]:
        """Return the lines of some ranges by their number, for each version of the file that one was recorded in, by its digest.

        Lines beside them may be there, too.
        """
        ranges, found = self._evidence.ranges, self._evidence.found
        asked = sorted((ranges[number].start, ranges[number].end) for number in numbers)
        starts, reach = (
            [start for start, _ in asked],
            list(accumulate((end for _, end in asked), max)),
        )
        spelled: dict[str | None, dict[int, str]] = {
            ranges[number].anchors.file_hash: {} for number in numbers
        }
        for each, there in zip(ranges, found, strict=True):
            lines, before = (
                spelled.get(each.anchors.file_hash),
                bisect_left(starts, each.start + CONTEXT_LINES),
            )
            if lines is not None and before and reach[before - 1] >= each.start:
                lines.update(enumerate(_whole_lines(there.pieces or (), cut=there.cut), each.start))
        return spelled

    def laid_over(self, drift: Offsets) -> dict[int, int]:
        """Return where lines are now of ranges that stand nowhere whole or in several places, by where they were recorded; pins included.

        Args:
            drift: What is known of the others.
        """
        at_pins = dict(drift.pins)
        fragments = [
            fragment
            for fragment in (*self._of_contexts(at_pins), *self._of_copies())
            if fragment.line not in at_pins
        ]
        return at_pins | dict(chained(fragments, drift))

    def _of_contexts(self, at_pins: Mapping[int, int]) -> Iterator[Fragment]:
        ranges, found, total = (
            self._evidence.ranges,
            self._evidence.found,
            len(self._evidence.text.lines),
        )
        lines = {
            (line, wanted)
            for number, pieces in self.contexts.items()
            for line, wanted in enumerate(
                _whole_lines(pieces, cut=found[number].cut), ranges[number].start
            )
            if line not in at_pins
        }
        for line, wanted in sorted(lines):
            places = self.index.of_line(wanted)
            if places:
                yield Fragment(line, places, weight_of(len(places), total))

    def _of_copies(self) -> Iterator[Fragment]:
        """Give the first and last lines of ranges that stand whole in several places, and of contexts that do."""
        for each, found in zip(self._evidence.ranges, self._evidence.found, strict=True):
            places = found.hits or found.places
            if len(places) > 1:
                weight = weight_of(len(places), len(self._evidence.text.lines))
                yield Fragment(each.start, places, weight)
                last = (each.length if found.hits else len(found.pieces or (0,))) - 1
                if last:
                    yield Fragment(each.start + last, [place + last for place in places], weight)


def _whole_lines(pieces: Sequence[str], *, cut: bool) -> Sequence[str]:
    """Return the lines of a context, less one of which only the beginning is known."""
    return pieces[:-1] if cut else pieces
