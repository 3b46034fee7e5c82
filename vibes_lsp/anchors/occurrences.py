"""Where lines stand in a text: the places at which a context begins, and the copies of a block (R16)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import compress
from typing import Final

from vibes_lsp.anchors.making import CONTEXT_BYTES, CONTEXT_LINES
from vibes_lsp.anchors.text import Text, encode, readable

_MAX_LOOKS: Final = 256

_FEW: Final = 16
"""Places up to which a context is compared at each; for more the lines in which all its lines stand are taken together."""


class Occurrences:
    """The lines of a text at which contexts begin.

    Args:
        lines: The text, spelled as the contexts are: as a record can hold it, or stripped.
        contexts: All that will be looked for.
    """

    def __init__(self, lines: Sequence[str], contexts: Iterable[tuple[str, ...]]) -> None:
        self._lines = lines
        self._numbers: dict[str, list[int]] = {piece: [] for pieces in contexts for piece in pieces}
        for number in compress(range(len(lines)), map(self._numbers.__contains__, lines)):
            self._numbers[lines[number]].append(number + 1)
        self._places: dict[tuple[str, ...], list[int]] = {}
        self._cut: dict[tuple[str, ...], list[int]] = {}
        self._sets: dict[str, frozenset[int]] = {}

    def of_line(self, line: str) -> Sequence[int]:
        """Return the lines at which one line of a context stands, in order."""
        return self._numbers.get(line, ())

    def places(self, pieces: tuple[str, ...], *, cut: bool) -> list[int]:
        """Return the lines at which a context begins, in order.

        Args:
            pieces: The lines of the context.
            cut: Whether the last of them may be only the beginning of a line.
        """
        places = self._cut if cut else self._places
        found = places.get(pieces)
        if found is None:
            found = places[pieces] = self._find(pieces, cut=cut)
        return found

    def _find(self, pieces: tuple[str, ...], *, cut: bool) -> list[int]:
        whole = pieces[:-1] if cut else pieces
        if not whole:
            return [number for number, line in enumerate(self._lines, 1) if line.startswith(pieces[0])]
        numbers = [self.of_line(piece) for piece in whole]
        rarest = min(numbers, key=len)
        offset, begun, lines = numbers.index(rarest) + 1, list(whole), self._lines
        length, last = len(whole), len(lines) - len(pieces)
        if len(rarest) > _FEW:
            for other, piece in enumerate(whole, 1):
                if other != offset:
                    there, shift = self._set_of_line(piece), other - offset
                    rarest = [number for number in rarest if number + shift in there]
            found = [number - offset for number in rarest]
        else:
            found = [number - offset for number in rarest if lines[number - offset : number - offset + length] == begun]
        if found and not 0 <= found[0] <= found[-1] <= last:
            found = [first for first in found if 0 <= first <= last]
        if cut:
            return [first + 1 for first in found if lines[first + length].startswith(pieces[-1])]
        return [first + 1 for first in found]

    def _set_of_line(self, line: str) -> frozenset[int]:
        known = self._sets.get(line)
        if known is None:
            known = self._sets[line] = frozenset(self.of_line(line))
        return known


def pieces_of(context: str) -> tuple[str, ...]:
    """Return the lines of a context, however a tool ended them, and less half a character at its end."""
    if context.isascii() and "\r" not in context:
        return tuple(context.removesuffix("\n").split("\n", CONTEXT_LINES)[:CONTEXT_LINES])
    whole = context.rstrip("\ufffd") if is_cut(context) else context
    lines = readable(whole).replace("\r\n", "\n").removesuffix("\n").split("\n")[:CONTEXT_LINES]
    return tuple(line.removesuffix("\r") for line in lines)


def is_cut(context: str) -> bool:
    """Whether a context is so long that its last line may be only the beginning of one (R14)."""
    return len(context) * 4 > CONTEXT_BYTES - 4 and len(encode(context)) > CONTEXT_BYTES - 4


def standing(digest: str, length: int, starts: Sequence[int], text: Text, likely: int) -> Sequence[int]:
    """Return those of some lines, in order, at which so many lines have a digest, made as ours are.

    Args:
        digest: SHA-256, in hexadecimal.
        length: The number of lines.
        starts: The lines, in order; at least one.
        text: The text that they are in.
        likely: The line at which it is likely to be: it is tried first, and saves trying the others but for equality.
    """
    last = len(text.lines) - length + 1
    within = [start for start in starts if start <= last] if starts[-1] > last else starts
    for start in (likely, *within) if likely in within else within:
        block = text.block(start, start + length - 1)
        if sha256(block).hexdigest() == digest:
            return text.copies(start, length, within) if len(within) > 1 else within
    return []


def copies(block: list[str], text: Text, start: int) -> list[int] | None:
    """Return the lines at which a block stands in a text beside the one at which it is known to; None when there are too many to look at."""
    counts = [text.line_counts[line] for line in block]
    rarest = counts.index(min(counts))
    if counts[rarest] == 1:
        return []
    if counts[rarest] > _MAX_LOOKS:
        return None
    firsts = (number - rarest for number in text.numbers(block[rarest]))
    return [first for first in firsts if first >= 1 and first != start and text.lines[first - 1 : first - 1 + len(block)] == block]
