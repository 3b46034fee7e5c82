"""The likeliest places of ranges that do not stand verbatim at one sure place. Never sure (R16).

The nearest to where their neighbours expect them: copies of the whole range, else of its context,
else what single lines of the context imply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from vibes_lsp.anchors.line_hashes import MIN_DISTINCTIVE, count_distinctive, is_distinctive
from vibes_lsp.anchors.location import LocatedRange, Method, State
from vibes_lsp.anchors.occurrences import line_numbers
from vibes_lsp.anchors.offset import LinePair, Offsets
from vibes_lsp.anchors.text import Text
from vibes_lsp.anchors.verbatim import RangeMatch, located_at


class LikelyPlaces:
    """Finds the likeliest places of ranges.

    Args:
        found: What of each range of the file stands in the text.
        pairs: The ends of those that stand at one place.
        text: The text.
    """

    def __init__(
        self, matches: Sequence[RangeMatch], pairs: Sequence[LinePair], text: Text
    ) -> None:
        self._matches, self._text = matches, text
        self._sure_pairs = pairs

    def find(self, match: RangeMatch) -> LocatedRange | None:
        """Return the likeliest place of a range; None where nothing of it is left."""
        recorded = match.range
        expected = self._offsets.expected(recorded.start, recorded.end)
        if match.starts:
            return located_at(recorded, _nearest(match.starts, expected), is_sure=False)
        method, confidence, starts = Method.CONTEXT, 0.7, match.context_starts
        if not starts:
            method, confidence, starts = Method.FUZZY, 0.5, self._implied_starts(match)
        if not starts:
            return None
        start = _nearest(starts, expected)
        is_ambiguous = len(starts) > 1 or (
            start != expected and not self._begins_distinctively(start, recorded.length)
        )
        return LocatedRange(
            start,
            self._end(match, start),
            State.UNVERIFIED if recorded.anchors.hash is None else State.EDITED,
            method,
            0.4 if is_ambiguous else confidence,
            is_ambiguous,
        )

    @cached_property
    def _offsets(self) -> Offsets:
        return Offsets([*self._sure_pairs, *self._line_pairs()])

    def _line_pairs(self) -> Iterator[LinePair]:
        """Yield the lines of contexts that stand at one place."""
        for match in self._matches:
            lines = () if match.context is None else match.context.whole
            for old, line in enumerate(lines, match.range.start):
                if len(numbers := self._numbers.get(line.strip(), ())) == 1:
                    yield old, numbers[0]

    @cached_property
    def _numbers(self) -> dict[str, Sequence[int]]:
        """Where the single lines of contexts stand, by their text."""
        lines = {
            line.strip()
            for match in self._matches
            if match.context is not None
            for line in match.context.whole
            if is_distinctive(line)
        }
        return dict(line_numbers([line.strip() for line in self._text.lines], lines))

    def _implied_starts(self, match: RangeMatch) -> Sequence[int]:
        """Return the starts that the first line of a context implies which still stands nearby."""
        start, end = match.range.start, match.range.end
        for before, line in enumerate(() if match.context is None else match.context.whole):
            starts = [
                place
                for number in self._numbers.get(line.strip(), ())
                if (place := number - before) > 0 and self._offsets.allows(start, end, place)
            ]
            if starts:
                return starts
        return ()

    def _begins_distinctively(self, start: int, length: int) -> bool:
        lines = self._text.lines[start - 1 : start - 1 + min(length, MIN_DISTINCTIVE)]
        return count_distinctive(lines) == MIN_DISTINCTIVE

    def _end(self, match: RangeMatch, start: int) -> int:
        """Return the last line of an edited range, from the offsets of the lines around it."""
        recorded = match.range
        end = start + recorded.length - 1
        expected = self._offsets.expected_end(recorded.start, recorded.end)
        if expected is not None and start <= expected <= end + 3 * recorded.length + 50:
            end = expected
        return min(end, len(self._text.lines))


def _nearest(places: Iterable[int], expected: int) -> int:
    return min(places, key=lambda place: (abs(place - expected), place))
