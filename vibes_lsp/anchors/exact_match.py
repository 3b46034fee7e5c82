"""Find ranges verbatim in a text, and check each match against its neighbours (R15, R16).

A match is sure when its text occurs once, is distinctive enough not to occur by chance, and moved
as far as the neighbouring ranges. Each check below prevents sure claims that are wrong; none
improves the guesses.
"""

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
from vibes_lsp.anchors.offset import LinePair, Offsets
from vibes_lsp.anchors.text import Text

_MAX_PLACES: Final = 64
"""Places tried for one range: the nearest to the recorded one."""

_MAX_VARIANTS: Final = 8
"""Places at which the hash variants of other tools are tried."""

_NEAR: Final = 6
"""Lines before and after the expected place that are searched for an edited range."""


class Candidates(msgspec.Struct, frozen=True, gc=False):
    """Lines where a range may start.

    Attributes:
        context: The lines of its context; None when the record has none.
        truncated: Whether the last of them may be incomplete.
        context_starts: Where its context occurs.
        hash_starts: Where its hash matches as well.
        unique_start: The only possible start; None when there are several or none.
        incomplete: Whether the context occurs at places that were not tried.
        distinctive: Whether the text at `unique_start` is unlikely to occur by chance.
    """

    context: tuple[str, ...] | None
    truncated: bool
    context_starts: Sequence[int]
    hash_starts: Sequence[int]
    unique_start: int | None
    incomplete: bool
    distinctive: bool


class ExactMatches:
    """Finds ranges verbatim in a text.

    Args:
        ranges: The ranges.
        text: The text.
        own: Ranges that were recorded in this very text: they only claim their lines.

    Attributes:
        ranges: The ranges.
        text: The text.
        candidates: The possible starts of each range.
    """

    def __init__(
        self, ranges: Sequence[AnchoredRange], text: Text, own: Sequence[AnchoredRange] = ()
    ) -> None:
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
        offset = 0
        for number in sorted(range(len(ranges)), key=[each.start for each in ranges].__getitem__):
            each = ranges[number]  # probably moved as far as the range above it
            here = found[number] = self._find(each, contexts[number], index, each.start + offset)
            offset = here.hash_starts[0] - each.start if here.hash_starts else offset
        self.candidates: Final[list[Candidates]] = [found[number] for number in range(len(ranges))]
        self._rivals = self._contested(own)

    @cached_property
    def matches(self) -> list[LocatedRange | None]:
        """The verbatim match of each range, sure or not; None for ranges that have none."""
        return [
            self._match(each, found)
            for each, found in zip(self.ranges, self.candidates, strict=True)
        ]

    @cached_property
    def line_pairs(self) -> list[LinePair]:
        """The first and last lines, old and new, of ranges with one distinctive place."""
        pairs: list[LinePair] = []
        for each, found in zip(self.ranges, self.candidates, strict=True):
            place = found.unique_start
            if (
                place is not None
                and found.distinctive
                and (each.anchors.hash, place) not in self._rivals
            ):
                pairs += (each.start, place), (each.end, place + each.end - each.start)
        return pairs

    def _match(self, each: AnchoredRange, found: Candidates) -> LocatedRange | None:
        if not found.hash_starts or (
            len(found.context_starts) > len(found.hash_starts)
            and self._is_edited_in_place(each, found)
        ):
            return None
        if found.unique_start is None:  # `approximate_match` chooses among several
            place, ambiguous = found.hash_starts[0], True
        else:
            place = found.unique_start
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

    def _find(
        self, each: AnchoredRange, context: Context | None, index: Occurrences, expected: int
    ) -> Candidates:
        lines, truncated = context or (None, False)
        starts = index.find(context) if context is not None else []
        near = _nearest(starts, each.start) if len(starts) > _MAX_PLACES else starts
        matching: Sequence[int] = (
            _hash_starts(each, near, self.text, expected)
            if each.anchors.hash is not None and near
            else []
        )
        text = self.text.lines
        if not matching and each.start not in near and each.matches_at(text, each.start):
            matching = _recorded_and_copy(each, text)
        incomplete = len(starts) > len(near)
        unique = matching[0] if len(matching) == 1 and not incomplete else None
        distinctive = (
            unique is not None
            and count_distinctive(text[unique - 1 : unique - 1 + each.length]) >= MIN_MOVED_LINES
        )
        return Candidates(lines, truncated, near, matching, unique, incomplete, distinctive)

    def _contested(self, own: Sequence[AnchoredRange]) -> dict[tuple[str | None, int], set[int]]:
        """Return the recorded starts of identical ranges that share their only possible place."""
        first: dict[tuple[str | None, int], int] = {
            (each.anchors.hash, each.start): each.start for each in own
        }
        rivals: dict[tuple[str | None, int], set[int]] = {}
        for each, found in zip(self.ranges, self.candidates, strict=True):
            if found.unique_start is not None:
                claim = each.anchors.hash, found.unique_start
                start = first.setdefault(claim, each.start)
                if start != each.start:
                    rivals.setdefault(claim, {start}).add(each.start)
        return rivals

    def _is_contested(self, each: AnchoredRange, place: int) -> bool:
        """Whether an identical range recorded elsewhere fits the place as well.

        One of the two is gone, and their text cannot show which.
        """
        claims = self._rivals.get((each.anchors.hash, place)) if self._rivals else None
        if claims is None:
            return False
        own = abs(self._offsets.expected(each.start, each.end) - place)
        return any(
            abs(self._offsets.expected(start, start + each.length - 1) - place) <= own
            for start in claims - {each.start}
        )

    def _is_likely(self, each: AnchoredRange, found: Candidates, place: int) -> bool:
        """Whether the match is the range itself rather than an unrecorded copy of it."""
        expected = self._offsets.expected(each.start, each.end)
        if place == expected:
            return found.distinctive or not self._may_be_copy(each, found, place)
        if not found.distinctive or not self._offsets.allows(each.start, each.end, place):
            return False
        distance = abs(place - expected)
        if any(
            abs(other - expected) < distance for other in found.context_starts if other != place
        ):
            return False  # the edited range may be there
        return not self._remains_near(
            len(found.context or ()), range(place, place + each.length), expected
        )

    def _may_be_copy(self, each: AnchoredRange, found: Candidates, place: int) -> bool:
        """Whether the edited range may start elsewhere, in order with its neighbours."""
        if len(found.context_starts) <= len(found.hash_starts):
            return False
        if self._offsets.agrees(each.start, each.end, place):
            return False
        return any(
            abs(other - place) >= each.length
            and self._offsets.keeps_order(each.start, each.end, other)
            for other in found.context_starts
        )

    def _is_edited_in_place(self, each: AnchoredRange, found: Candidates) -> bool:
        """Whether the range begins where its neighbours expect it, and the match is a copy."""
        expected = self._offsets.expected_starts(each.start, each.end)
        return expected.isdisjoint(found.hash_starts) and not expected.isdisjoint(
            found.context_starts
        )

    def _remains_near(self, length: int, match: range, expected: int) -> bool:
        """Whether most distinctive lines of the context also occur near the expected start."""
        lines, begun = self.text.compact_lines, match.start - 1
        distinctive = [
            (offset, line)
            for offset, line in enumerate(lines[begun : begun + length])
            if is_distinctive(line)
        ]
        first, last = max(1, expected - _NEAR), max(0, expected + _NEAR + length)
        behind = max(first, match.stop)
        around = (first, lines[first - 1 : min(last, begun)]), (behind, lines[behind - 1 : last])
        starts = [
            number - offset
            for offset, line in distinctive
            for begin, others in around
            if line in others
            for number, other in enumerate(others, begin)
            if other == line and abs(number - offset - expected) <= _NEAR
        ]
        return any(starts.count(start) >= min(2, len(distinctive)) for start in starts)

    @cached_property
    def _offsets(self) -> Offsets:
        return Offsets(self.line_pairs)


def _hash_starts(
    each: AnchoredRange, starts: Sequence[int], text: Text, expected: int
) -> Sequence[int]:
    """Return the starts at which the hash matches.

    Hash variants of other tools are tried only if our own matches nowhere, at the nearest places.
    """
    found = find_hash(each.anchors.hash or "", each.length, starts, text, expected)
    if found:
        return found
    near = sorted(starts, key=lambda start: abs(start - each.start))[:_MAX_VARIANTS]
    return sorted(start for start in near if each.matches_at(text.lines, start))


def _recorded_and_copy(each: AnchoredRange, lines: Sequence[str]) -> list[int]:
    """Return the recorded start, where only the hash matches, and that of one copy, if any."""
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
    """Return the `_MAX_PLACES` places nearest to the expected one."""
    low = bisect_left(places, expected) - _MAX_PLACES // 2
    low = max(0, min(low, len(places) - _MAX_PLACES))
    return places[low : low + _MAX_PLACES]
