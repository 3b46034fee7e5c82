"""Find ranges verbatim in a text by context and hash, and decide which are sure (R15, R16)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.anchors.create_anchors import CONTEXT_LINES
from vibes_lsp.anchors.line_hashes import MIN_DISTINCTIVE, count_distinctive, is_distinctive
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, State
from vibes_lsp.anchors.occurrences import Context, find_contexts, has_copy, parse_context
from vibes_lsp.anchors.offset import LinePair, Offsets
from vibes_lsp.anchors.text import Text

_MAX_PLACES: Final = 64
"""Places tried for one range: the nearest to the recorded one."""
_MAX_HASHED: Final = 1 << 18
"""Lines at these places: of a long range fewer are tried, so that no record takes long."""


@dataclass(frozen=True, slots=True)
class RangeMatch:
    """What of a range stands in a text.

    Attributes:
        range: The range.
        context: Its context; None if the record has none.
        context_starts: Where the context stands.
        starts: Where the whole range stands.
        is_only: Whether it stands at one place, and nothing else was left untried.
        is_distinctive: Whether it does not stand there by chance.
    """

    range: AnchoredRange
    context: Context | None
    context_starts: Sequence[int]
    starts: Sequence[int]
    is_only: bool
    is_distinctive: bool


def find_verbatim(ranges: Sequence[AnchoredRange], text: Text) -> list[RangeMatch]:
    """Return what of ranges stands in a text."""
    contexts = [
        None if recorded.anchors.context is None else parse_context(recorded.anchors.context)
        for recorded in ranges
    ]
    places = find_contexts(
        text.utf8_lines, (context for context in contexts if context is not None)
    )
    return [
        _find(recorded, context, () if context is None else places[context], text)
        for recorded, context in zip(ranges, contexts, strict=True)
    ]


def _find(
    recorded: AnchoredRange, context: Context | None, places: Sequence[int], text: Text
) -> RangeMatch:
    lines, near = text.lines, _nearest(places, recorded.start, _MAX_PLACES)
    count = min(_MAX_PLACES, max(2, _MAX_HASHED // max(1, recorded.length)))
    tried = _nearest(near, recorded.start, count)
    starts = [start for start in tried if recorded.matches_at(lines, start)]
    is_only = len(starts) == 1 and len(tried) == len(places)
    if not starts and recorded.matches_at(lines, recorded.start):  # another tool's context
        starts = [recorded.start]
        is_only = not has_copy(lines[recorded.start - 1 : recorded.end], text, recorded.start)
    block = lines[starts[0] - 1 : starts[0] - 1 + recorded.length] if is_only else ()
    is_distinctive = count_distinctive(block) == MIN_DISTINCTIVE
    return RangeMatch(recorded, context, near, starts, is_only, is_distinctive)


def _nearest(places: Sequence[int], expected: int, count: int) -> Sequence[int]:
    """Return so many places, those nearest to the expected one."""
    low = bisect_left(places, expected) - count // 2
    low = max(0, min(low, len(places) - count))
    return places[low : low + count]


class SureMatches:
    """Decides which ranges are sure: those that stand once, where their neighbours expect them.

    Args:
        found: What of the ranges stands in the text.
        own: Ranges that were recorded in this very text: they only claim their lines.
        text: The text.
    """

    def __init__(
        self, matches: Sequence[RangeMatch], own: Sequence[AnchoredRange], text: Text
    ) -> None:
        self._lines = text.lines
        self._rivals = _rivals(matches, own)
        self.pairs: Final = [
            pair
            for match in matches
            if match.is_distinctive and _claim(match) not in self._rivals
            for pair in both_ends(match.range.start, match.starts[0], match.range.length)
        ]
        self._offsets = Offsets(self.pairs)

    def match(self, match: RangeMatch) -> LocatedRange | None:
        """Return the verbatim match of a range, if it is sure."""
        if not match.is_only or self._is_contested(match) or not self._is_likely(match):
            return None
        return located_at(match.range, match.starts[0], is_sure=True)

    def _is_likely(self, match: RangeMatch) -> bool:
        """Whether a match is the range itself rather than a copy that nothing recorded.

        The range may have been edited where its first lines stand too, or some of them.
        """
        start, end, place = match.range.start, match.range.end, match.starts[0]
        if any(
            abs(context_start - place) >= match.range.length
            for context_start in match.context_starts
        ):
            return False
        if place == self._offsets.expected(start, end):
            return True
        first = self._lines[place - 1 : place - 1 + min(match.range.length, CONTEXT_LINES)]
        return (
            match.is_distinctive
            and self._offsets.allows(start, end, place)
            and all(self._lines.count(line) == 1 for line in first if is_distinctive(line))
        )

    def _is_contested(self, match: RangeMatch) -> bool:
        """Whether an identical range recorded elsewhere fits the place as well.

        One of the two is gone, and their text cannot show which.
        """
        length, place = match.range.length, match.starts[0]
        rivals = self._rivals.get(_claim(match), set()) - {match.range.start}
        own = abs(self._offsets.expected(match.range.start, match.range.end) - place)
        return any(
            abs(self._offsets.expected(start, start + length - 1) - place) <= own
            for start in rivals
        )


_Claim = tuple[str | None, int]
"""The hash of a range, and the only place where it stands."""


def _claim(match: RangeMatch) -> _Claim:
    return match.range.anchors.hash, match.starts[0]


def _rivals(
    matches: Sequence[RangeMatch], own: Sequence[AnchoredRange]
) -> Mapping[_Claim, set[int]]:
    """Return the recorded starts of identical ranges that share their only place."""
    starts: dict[_Claim, set[int]] = {}
    for recorded in own:
        starts.setdefault((recorded.anchors.hash, recorded.start), set()).add(recorded.start)
    for match in matches:
        if match.is_only:
            starts.setdefault(_claim(match), set()).add(match.range.start)
    return {claim: numbers for claim, numbers in starts.items() if len(numbers) > 1}


def located_at(recorded: AnchoredRange, place: int, *, is_sure: bool) -> LocatedRange:
    """Return a range as found verbatim at a place."""
    return LocatedRange(
        place,
        place + recorded.length - 1,
        State.EXACT if place == recorded.start else State.MOVED,
        Method.ANCHOR_HASH,
        0.99 if is_sure else 0.5,
        not is_sure,
        recorded.length,
    )


def both_ends(old: int, new: int, length: int) -> tuple[LinePair, LinePair]:
    """Return the first and the last line of a block of lines, old and new."""
    return (old, new), (old + length - 1, new + length - 1)
