"""What anchors alone tell about where ranges stand whole in a text, each weighed by what the others tell (R15, R16)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from typing import Final

import msgspec

from vibes_lsp.anchors.line_map import MIN_MOVED_LINES, count_distinctive, is_distinctive
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, State
from vibes_lsp.anchors.occurrences import Context, Occurrences, find_hash, parse_context
from vibes_lsp.anchors.offset import Offsets
from vibes_lsp.anchors.text import Text

_MAX_PLACES: Final = 64
"""Places looked at for one range: the nearest to where it is expected."""

_MAX_VARIANTS: Final = 8
"""Places at which the digests of other tools are tried."""

_NEAR: Final = 6
"""Lines around the expected one among which the beginning of an edited range is looked for."""


class Candidates(msgspec.Struct, frozen=True, gc=False):
    """Lines where a range may begin.

    Attributes:
        pieces: The lines of its context; None when the record has none.
        cut: Whether the last of them may be only the beginning of one.
        places: Where its context stands.
        hits: Where all of it stands, its hash being the proof.
        only: The one place where it can be; None when it can be in several or in none.
        more: Whether its context stands at places that were not looked at.
        distinctive: Whether what stands at that place is unlikely to stand anywhere by chance.
    """

    pieces: tuple[str, ...] | None
    cut: bool
    places: Sequence[int]
    hits: Sequence[int]
    only: int | None
    more: bool
    distinctive: bool


class ExactMatches:
    """Weighs where some ranges stand whole in a text.

    Attributes:
        ranges: The ranges.
        text: The text.
        found: What was found of each range.
    """

    def __init__(self, ranges: Sequence[AnchoredRange], text: Text) -> None:
        self.ranges: Final = ranges
        self.text: Final = text
        contexts = [
            None if each.anchors.context is None else parse_context(each.anchors.context)
            for each in ranges
        ]
        index = Occurrences(
            text.utf8_lines, (context for context in contexts if context is not None)
        )
        found: dict[int, Candidates] = {}
        drift = 0
        for number in sorted(range(len(ranges)), key=[each.start for each in ranges].__getitem__):
            each = ranges[number]  # likely to have drifted as the one above
            here = found[number] = self._candidates(
                each, contexts[number], index, each.start + drift
            )
            drift = here.hits[0] - each.start if here.hits else drift
        self.found: Final[list[Candidates]] = [found[number] for number in range(len(ranges))]
        self._rivals = self._contested()

    @cached_property
    def whole(self) -> list[LocatedRange | None]:
        """Where each range stands whole; None for those that do so nowhere."""
        return [
            self._stands_whole(each, found)
            for each, found in zip(self.ranges, self.found, strict=True)
        ]

    @cached_property
    def pins(self) -> list[tuple[int, int]]:
        """Where the first and last lines of ranges are whose place is beyond doubt, as they were recorded and now."""
        pins: list[tuple[int, int]] = []
        for each, found in zip(self.ranges, self.found, strict=True):
            place = found.only
            if (
                place is not None
                and found.distinctive
                and (each.anchors.hash, place) not in self._rivals
            ):
                pins += (each.start, place), (each.end, place + each.end - each.start)
        return pins

    def _stands_whole(self, each: AnchoredRange, found: Candidates) -> LocatedRange | None:
        if not found.hits or (
            len(found.places) > len(found.hits) and self._is_rather_edited(each, found)
        ):
            return None
        if found.only is None:  # at which of them, if there are several, all ranges together say
            place, ambiguous = found.hits[0], True
        else:
            place = found.only
            ambiguous = self._is_contested(each, place) or not self._is_likely(each, found, place)
        state = State.EXACT if place == each.start else State.MOVED
        length = each.length
        return LocatedRange(
            place,
            place + length - 1,
            state,
            Method.ANCHOR_HASH,
            0.5 if ambiguous else 0.99,
            ambiguous,
            length,
        )

    def _candidates(
        self, each: AnchoredRange, context: Context | None, index: Occurrences, likely: int
    ) -> Candidates:
        pieces, cut = context or (None, False)
        places = index.places(context) if context is not None else []
        near = _nearest(places, each.start) if len(places) > _MAX_PLACES else places
        lines = self.text.lines
        hits: Sequence[int] = (
            _hits(each, near, self.text, likely) if each.anchors.hash is not None and near else []
        )
        if not hits and each.start not in near and each.matches_at(lines, each.start):
            hits = _copies(each, lines)
        more = len(places) > len(near)
        only = hits[0] if len(hits) == 1 and not more else None
        distinctive = (
            only is not None
            and count_distinctive(lines[only - 1 : only - 1 + each.length]) >= MIN_MOVED_LINES
        )
        return Candidates(pieces, cut, near, hits, only, more, distinctive)

    def _contested(self) -> dict[tuple[str | None, int], set[int]]:
        """Return the places that several ranges, copies of one another, have as their only one."""
        first: dict[tuple[str | None, int], int] = {}
        rivals: dict[tuple[str | None, int], set[int]] = {}
        for each, found in zip(self.ranges, self.found, strict=True):
            if found.only is not None:
                claim = each.anchors.hash, found.only
                start = first.setdefault(claim, each.start)
                if start != each.start:
                    rivals.setdefault(claim, {start}).add(each.start)
        return rivals

    def _is_contested(self, each: AnchoredRange, place: int) -> bool:
        """Whether a copy of the range, recorded elsewhere, has as good a claim to the place: one of the two is gone."""
        claims = self._rivals.get((each.anchors.hash, place)) if self._rivals else None
        if claims is None:
            return False
        rivals = claims - {each.start}
        own = abs(self._drift.expected(each.start, each.end) - place)
        return any(
            abs(self._drift.expected(start, start + each.length - 1) - place) <= own
            for start in rivals
        )

    def _is_likely(self, each: AnchoredRange, found: Candidates, place: int) -> bool:
        """Whether it is this range that stands at the place, rather than a copy of which the record knows nothing."""
        expected = self._drift.expected(each.start, each.end)
        if place == expected:
            return found.distinctive or not self._may_have_been_copied(each, found, place)
        if not found.distinctive or not self._drift.allows(each.start, each.end, place):
            return False
        nearer = abs(place - expected)
        if any(abs(other - expected) < nearer for other in found.places if other != place):
            return False  # it may be the range, edited since, that stands there
        return not self._is_left_behind(
            len(found.pieces or ()), range(place, place + each.length), expected
        )

    def _may_have_been_copied(self, each: AnchoredRange, found: Candidates, place: int) -> bool:
        """Whether the neighbours leave a choice between the place and another one at which the range, edited since, may begin."""
        if len(found.places) <= len(found.hits) or self._drift.agrees(each.start, each.end, place):
            return False
        return any(
            abs(other - place) >= each.length
            and self._drift.keeps_order(each.start, each.end, other)
            for other in found.places
        )

    def _is_rather_edited(self, each: AnchoredRange, found: Candidates) -> bool:
        """Whether the range, edited since, stands where its neighbours put it, so that what stands whole elsewhere is a copy."""
        homes = self._drift.homes(each.start, each.end)
        return homes.isdisjoint(found.hits) and not homes.isdisjoint(found.places)

    def _is_left_behind(self, pieces: int, taken: range, expected: int) -> bool:
        """Whether most of a context of so many lines stands where the range is to be expected, though not in the range that was found."""
        lines, begun = self.text.compact_lines, taken.start - 1
        telling = [
            (offset, line)
            for offset, line in enumerate(lines[begun : begun + pieces])
            if is_distinctive(line)
        ]
        first, last = max(1, expected - _NEAR), max(0, expected + _NEAR + pieces)
        behind = max(first, taken.stop)
        around = (first, lines[first - 1 : min(last, begun)]), (behind, lines[behind - 1 : last])
        left = [
            number - offset
            for offset, line in telling
            for begin, others in around
            if line in others
            for number, other in enumerate(others, begin)
            if other == line and abs(number - offset - expected) <= _NEAR
        ]
        return any(left.count(start) >= min(2, len(telling)) for start in left)

    @cached_property
    def _drift(self) -> Offsets:
        """How ranges drifted whose place is beyond doubt."""
        return Offsets(self.pins)


def _hits(each: AnchoredRange, starts: Sequence[int], text: Text, likely: int) -> Sequence[int]:
    """Return where the hash matches; other tools' variants of it are tried only when our own is nowhere, and at the nearest places."""
    hits = find_hash(each.anchors.hash or "", each.length, starts, text, likely)
    if hits:
        return hits
    near = sorted(starts, key=lambda start: abs(start - each.start))[:_MAX_VARIANTS]
    return sorted(start for start in near if each.matches_at(text.lines, start))


def _copies(each: AnchoredRange, lines: Sequence[str]) -> list[int]:
    """Return the recorded place, where the hash matches though no context says so, and another one with the same text if there is."""
    wanted = lines[each.start - 1 : each.end]
    others = (
        start
        for start, line in enumerate(lines, 1)
        if line == wanted[0]
        and start != each.start
        and lines[start - 1 : start - 1 + each.length] == wanted
    )
    return sorted([each.start, *islice(others, 1)])


def _nearest(places: Sequence[int], expected: int) -> Sequence[int]:
    """Return the places nearest to where one is expected, in order, of more than are looked at."""
    low = bisect_left(places, expected) - _MAX_PLACES // 2
    low = max(0, min(low, len(places) - _MAX_PLACES))
    return places[low : low + _MAX_PLACES]
