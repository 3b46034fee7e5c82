"""What records tell of the old text, line by line: the contexts of all ranges together, and where copies begin and end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

from vibes_lsp.anchors.chaining import Fragment, chained, weight_of
from vibes_lsp.anchors.evidence import Evidence
from vibes_lsp.anchors.making import CONTEXT_LINES
from vibes_lsp.anchors.occurrences import Occurrences
from vibes_lsp.anchors.order import Drift
from vibes_lsp.anchors.text import bare


class Fragments:
    """The lines of the old text that are known.

    Args:
        evidence: What is known of the ranges for certain.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence: Final = evidence

    @cached_property
    def bare(self) -> Mapping[int, tuple[str, ...]]:
        """The contexts that stand nowhere as they were recorded, without white space, by the number of the range."""
        evidence = self._evidence
        return {
            number: tuple(bare("\n".join(found.pieces)).split("\n"))
            for number, (found, whole) in enumerate(zip(evidence.found, evidence.whole, strict=True))
            if whole is None and found.pieces is not None and not found.places
        }

    @cached_property
    def index(self) -> Occurrences:
        """The lines of these contexts in the text."""
        return Occurrences(self._evidence.text.bare_lines, ((pieces, False) for pieces in self.bare.values()))

    @cached_property
    def places(self) -> Mapping[int, Sequence[int]]:
        """Where these contexts stand, by the number of the range."""
        return {number: self.index.places((pieces, False)) for number, pieces in self.bare.items()}

    def spelled(self, numbers: Collection[int]) -> Mapping[str | None, Mapping[int, str]]:
        """Return the lines of some ranges by their number, for each version of the file that one was recorded in, by its digest.

        Lines beside them may be there, too.
        """
        ranges, found = self._evidence.ranges, self._evidence.found
        asked = sorted((ranges[number].start, ranges[number].end) for number in numbers)
        starts, reach = [start for start, _ in asked], list(accumulate((end for _, end in asked), max))
        spelled: dict[str | None, dict[int, str]] = {ranges[number].anchors.file_hash: {} for number in numbers}
        for each, there in zip(ranges, found, strict=True):
            lines, before = spelled.get(each.anchors.file_hash), bisect_left(starts, each.start + CONTEXT_LINES)
            if lines is not None and before and reach[before - 1] >= each.start:
                lines.update(enumerate(_whole_lines(there.pieces or (), cut=there.cut), each.start))
        return spelled

    def laid_over(self, drift: Drift) -> dict[int, int]:
        """Return where lines are now of ranges that stand nowhere whole or in several places, by where they were recorded; pins included.

        Args:
            drift: What is known of the others.
        """
        at_pins = dict(drift.pins)
        fragments = [fragment for fragment in (*self._of_contexts(at_pins), *self._of_copies()) if fragment.line not in at_pins]
        return at_pins | dict(chained(fragments, drift))

    def _of_contexts(self, at_pins: Mapping[int, int]) -> Iterator[Fragment]:
        ranges, found, total = self._evidence.ranges, self._evidence.found, len(self._evidence.text.lines)
        lines = {
            (line, wanted)
            for number, pieces in self.bare.items()
            for line, wanted in enumerate(_whole_lines(pieces, cut=found[number].cut), ranges[number].start)
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
