"""What is left of a context whose lines no longer stand together as they were: indented anew, torn apart, changed a little."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from vibes_lsp.anchors.linemap import is_distinctive
from vibes_lsp.anchors.occurrences import Occurrences
from vibes_lsp.anchors.text import Text

_WINDOW: Final = 40
"""Lines on either side of the expected one in which a context is looked for by similarity."""

_COMPARISONS: Final = 6_000
"""Comparisons for all contexts of a text together: what each may spend depends on how many there are, not on their order."""

_ALIKE: Final = 65.0
_AHEAD: Final = 8.0
"""How much more alike than the next best a place has to be: among lines that are all alike none is meant."""

_FIRST: Final = 3
"""How much more the first line of a context says about where it begins than the others do."""

_MAX_LINE: Final = 500

Resembled = tuple[int, float]
"""The line where a context may begin, and how much to trust it."""


class Resemblance:
    """Looks for contexts that stand nowhere as they were recorded.

    Args:
        text: Where to look.
        index: Where lines of the contexts stand in it, all without white space.
        contexts: How many contexts will be looked for.
    """

    def __init__(self, text: Text, index: Occurrences, contexts: int) -> None:
        self._lines = text.bare_lines
        self._index = index
        self._window = min(_WINDOW, _COMPARISONS // max(1, 2 * contexts))

    def find(self, pieces: tuple[str, ...], expected: int) -> Resembled | None:
        """Return where a context may begin now; None when nothing is like it.

        Args:
            pieces: Its lines without white space.
            expected: Where it is to be expected.
        """
        first, last = max(expected - _WINDOW, 1), min(expected + _WINDOW, len(self._lines))
        left = self._leftovers(pieces, first, last, expected)
        if left is not None:
            return left, 0.5
        alike = self._most_alike(pieces, max(first, expected - self._window), min(last, expected + self._window))
        return (alike, 0.4) if alike is not None else None

    def _leftovers(self, pieces: tuple[str, ...], first: int, last: int, expected: int) -> int | None:
        """Return where the context would begin by those of its lines that still stand in the window: most of it, then nearest."""
        votes: dict[int, int] = defaultdict(int)
        for offset, piece in enumerate(pieces):
            if not is_distinctive(piece):
                continue
            for line in self._index.of_line(piece):
                if first <= line - offset and line <= last:
                    votes[line - offset] += len(piece) if offset else _FIRST * len(piece)
        return min(votes, key=lambda start: (-votes[start], abs(start - expected), start), default=None)

    def _most_alike(self, pieces: tuple[str, ...], first: int, last: int) -> int | None:
        from rapidfuzz import fuzz, process  # noqa: PLC0415  # most texts never need it, and a server starts without it

        wanted = "\n".join(piece[:_MAX_LINE] for piece in pieces)
        if not is_distinctive(wanted):
            return None
        lines = [line[:_MAX_LINE] for line in self._lines[first - 1 : last + len(pieces) - 1]]
        places = ["\n".join(lines[number : number + len(pieces)]) for number in range(last - first + 1)]
        alike = process.extract(wanted, places, scorer=fuzz.ratio, score_cutoff=_ALIKE - _AHEAD, limit=None)
        scores = [(score, first + number) for _, score, number in alike]
        best, found = max(scores, default=(0.0, 0))
        second = max((score for score, start in scores if abs(start - found) >= len(pieces)), default=0.0)
        return found if best >= max(_ALIKE, second + _AHEAD) else None
