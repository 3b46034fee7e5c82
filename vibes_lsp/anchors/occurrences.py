"""Where lines stand in a text: the places at which a context begins, and the copies of a block (R16)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from vibes_lsp.anchors.making import CONTEXT_BYTES, CONTEXT_LINES
from vibes_lsp.anchors.text import Text, encode, readable

_MAX_LOOKS: Final = 256


class Occurrences:
    """The lines of a text at which contexts begin.

    Args:
        lines: The text, spelled as the contexts are: as a record can hold it, or stripped.
        contexts: All that will be looked for.
    """

    def __init__(self, lines: Sequence[str], contexts: Iterable[tuple[str, ...]]) -> None:
        self._lines = lines
        wanted = {piece for pieces in contexts for piece in pieces}
        self._numbers: dict[str, list[int]] = defaultdict(list)
        self._places: dict[tuple[tuple[str, ...], bool], list[int]] = {}
        for number, line in enumerate(lines, 1):
            if line in wanted:
                self._numbers[line].append(number)

    def of_line(self, line: str) -> Sequence[int]:
        """Return the lines at which one line of a context stands, in order."""
        return self._numbers.get(line, ())

    def places(self, pieces: tuple[str, ...], *, cut: bool) -> list[int]:
        """Return the lines at which a context begins, in order.

        Args:
            pieces: The lines of the context.
            cut: Whether the last of them may be only the beginning of a line.
        """
        key = pieces, cut
        if key not in self._places:
            self._places[key] = self._find(pieces, cut=cut)
        return self._places[key]

    def _find(self, pieces: tuple[str, ...], *, cut: bool) -> list[int]:
        whole = pieces[:-1] if cut else pieces
        if not whole:
            return [number for number, line in enumerate(self._lines, 1) if line.startswith(pieces[0])]
        rarest = min(range(len(whole)), key=lambda offset: len(self.of_line(whole[offset])))
        starts = (number - rarest for number in self.of_line(whole[rarest]))
        return [start for start in starts if start >= 1 and self._fits(start, pieces, cut=cut)]

    def _fits(self, start: int, pieces: tuple[str, ...], *, cut: bool) -> bool:
        found = self._lines[start - 1 : start - 1 + len(pieces)]
        if len(found) < len(pieces):
            return False
        last = found[-1].startswith(pieces[-1]) if cut else found[-1] == pieces[-1]
        return last and tuple(found[:-1]) == pieces[:-1]


def pieces_of(context: str) -> tuple[str, ...]:
    """Return the lines of a context, however a tool ended them, and less half a character at its end."""
    whole = context.rstrip("\ufffd") if is_cut(context) else context
    lines = readable(whole).replace("\r\n", "\n").removesuffix("\n").split("\n")[:CONTEXT_LINES]
    return tuple(line.removesuffix("\r") for line in lines)


def is_cut(context: str) -> bool:
    """Whether a context is so long that its last line may be only the beginning of one (R14)."""
    return len(encode(context)) > CONTEXT_BYTES - 4


def copies(block: list[str], text: Text, start: int) -> list[int] | None:
    """Return the lines at which a block stands in a text beside the one at which it is known to; None when there are too many to look at."""
    rarest = min(range(len(block)), key=lambda number: len(text.line_numbers[block[number]]))
    numbers = text.line_numbers[block[rarest]]
    if len(numbers) == 1:
        return []
    if len(numbers) > _MAX_LOOKS:
        return None
    firsts = (number - rarest for number in numbers)
    return [first for first in firsts if first >= 1 and first != start and text.lines[first - 1 : first - 1 + len(block)] == block]
