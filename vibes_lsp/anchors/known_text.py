"""Locate ranges of a text that is known: one diff says what became of each line (R15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from vibes_lsp.anchors.align import beside_copies, came_from
from vibes_lsp.anchors.locate import locate, locate_sure
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, State
from vibes_lsp.anchors.reformatting import gaps
from vibes_lsp.anchors.text import Text, compact

_SIMILAR: Final = 60.0
"""Similarity, in percent, from which on a line is an edit of the one that stood in its place."""
_LOST: Final = LocatedRange(None, None, State.LOST, Method.HISTORY, 0.0)


def locate_from(
    old: Text | None, ranges: Sequence[AnchoredRange], text: Text
) -> list[LocatedRange]:
    """Return where ranges of a text are in a later one, in the same order.

    Args:
        old: The text that they are ranges of; None if only their anchors are known.
        ranges: The ranges.
        text: The later text.
    """
    if old is None:
        return locate(ranges, text)
    changes = _Changes(old, text)
    return [changes.follow(recorded) or changes.moved(recorded) for recorded in ranges]


class _Changes:
    """What became of the lines of a text in a later one."""

    def __init__(self, old: Text, text: Text) -> None:
        self._old, self._text = old, text
        origins = came_from(old.lines, text.lines)
        self._kept = {line: number for number, line in enumerate(origins) if line >= 0}
        self._replaced = {
            line: number
            for before, after in gaps(origins, len(old.lines))
            for line, number in zip(before, after, strict=False)
        }
        self._copied = beside_copies(text.lines, origins, len(old.lines))
        self._new = {number for number, line in enumerate(origins) if line < 0}

    def follow(self, recorded: AnchoredRange) -> LocatedRange | None:
        """Return where the lines of a range are that stayed in order; None if there are none."""
        lines = range(recorded.start - 1, recorded.end)
        kept = [self._kept[line] for line in lines if line in self._kept]
        edited = [self._replaced[line] for line in lines if self._is_edited(line)]
        if not kept and (not edited or self.moved(recorded).sure):
            return None
        start, end, intact = min(kept + edited) + 1, max(kept + edited) + 1, len(kept)
        if not intact == recorded.length == end + 1 - start:
            return LocatedRange(start, end, State.EDITED, Method.HISTORY, 0.9, intact=intact)
        state = State.EXACT if start == recorded.start else State.MOVED
        is_ambiguous = not self._copied.isdisjoint(kept)
        confidence = 0.5 if is_ambiguous else 0.99
        return LocatedRange(start, end, state, Method.HISTORY, confidence, is_ambiguous, intact)

    def _is_edited(self, line: int) -> bool:
        """Whether a similar line stands where an old one stood."""
        from rapidfuzz.fuzz import ratio  # noqa: PLC0415  # seldom needed

        number = self._replaced.get(line)
        if number is None:
            return False
        before, after = compact(self._old.lines[line]), compact(self._text.lines[number])
        return bool(before and ratio(before, after, score_cutoff=_SIMILAR))

    def moved(self, recorded: AnchoredRange) -> LocatedRange:
        """Return where a range is that left its place as a whole: among the lines that are new."""
        (located,) = locate_sure([recorded], self._text)
        if located is None or located.start is None or located.end is None:
            return _LOST
        return located if self._new.issuperset(range(located.start - 1, located.end)) else _LOST
