"""Where lines stand in a text: the places at which a context begins, and the copies of a block (R16)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress
from typing import Final, TypeAlias

from vibes_lsp.anchors.create_anchors import CONTEXT_BYTES, CONTEXT_LINES, range_hash
from vibes_lsp.anchors.text import Text, encode, replace_invalid

_MAX_LOOKS: Final = 256

Context: TypeAlias = tuple[tuple[str, ...], bool]
"""The lines of a context, and whether the last of them may be only the beginning of one (R14)."""


class Occurrences:
    """The lines of a text at which contexts begin.

    Args:
        lines: The text, spelled as the contexts are: as a record can hold it, or stripped.
        contexts: All that will be looked for. Only where their lines stand is gathered.
    """

    def __init__(self, lines: Sequence[str], contexts: Iterable[Context]) -> None:
        self._lines = lines
        wanted = chain.from_iterable(pieces[:-1] if cut else pieces for pieces, cut in contexts)
        numbers: dict[str, list[int]] = {line: [] for line in wanted}
        for number in compress(range(len(lines)), map(numbers.__contains__, lines)):
            numbers[lines[number]].append(number + 1)
        self._numbers = numbers

    def line_numbers(self, line: str) -> Sequence[int]:
        """Return where a line of the contexts stands, in order."""
        return self._numbers.get(line, ())

    def find(self, context: Context) -> Sequence[int]:
        """Return the lines at which a context begins, in order."""
        pieces, cut = context
        return self._find_truncated(pieces) if cut else self._find_whole(pieces)

    def _find_whole(self, pieces: tuple[str, ...]) -> Sequence[int]:
        known = self._numbers
        rarest = known[pieces[0]]
        if len(pieces) == 1 or not rarest:
            return rarest
        before = 0
        for offset, piece in enumerate(pieces):
            if len(known[piece]) < len(rarest):
                rarest, before = known[piece], offset
        if not rarest:
            return rarest
        lines, behind = self._lines, len(pieces) - before
        if len(rarest) == 1:
            first = rarest[0] - before
            return (
                [first]
                if first > 0 and lines[first - 1 : rarest[0] - 1 + behind] == [*pieces]
                else []
            )
        last = len(lines) - behind + 1
        places = rarest
        if rarest[0] <= before or rarest[-1] > last:  # some stand too near to an end of the text
            places = [number for number in rarest if before < number <= last]
        for offset, piece in enumerate(pieces, -before - 1):
            if offset != -1:
                places = [number for number in places if lines[number + offset] == piece]
        return [number - before for number in places] if before else places

    def _find_truncated(self, pieces: tuple[str, ...]) -> Sequence[int]:
        *whole, begun = pieces
        lines, length = self._lines, len(whole)
        starts = self._find_whole(tuple(whole)) if whole else range(1, len(lines) + 1)
        last = len(lines) - length
        return [
            start
            for start in starts
            if start <= last and lines[start - 1 + length].startswith(begun)
        ]


def parse_context(context: str) -> Context:
    """Return a context as lines, however a tool ended them, and less half a character at its end."""
    is_short = len(context) * 4 <= CONTEXT_BYTES - 4
    cut = not is_short and len(encode(context)) > CONTEXT_BYTES - 4
    if context.isascii() and "\r" not in context:
        return tuple(context.removesuffix("\n").split("\n", CONTEXT_LINES)[:CONTEXT_LINES]), cut
    lines = (
        replace_invalid(context.rstrip("\ufffd") if cut else context)
        .replace("\r\n", "\n")
        .removesuffix("\n")
        .split("\n")
    )
    return tuple(line.removesuffix("\r") for line in lines[:CONTEXT_LINES]), cut


def find_hash(
    digest: str, length: int, starts: Sequence[int], text: Text, likely: int
) -> Sequence[int]:
    """Return those of some lines, in order, at which so many lines have a digest, made as ours are.

    Args:
        digest: SHA-256, in hexadecimal.
        length: The number of lines.
        starts: The lines, in order; at least one.
        text: The text that they are in.
        likely: The line near which it is likely to be: once it is found, the others are tried for equality alone.
    """
    lines, last = text.lines, len(text.lines) - length + 1
    within = [start for start in starts if start <= last] if starts[-1] > last else starts
    if len(within) == 1:
        return within if range_hash(lines[within[0] - 1 : within[0] - 1 + length]) == digest else []
    for start in _nearest_first(within, likely):
        if range_hash(lines[start - 1 : start - 1 + length]) == digest:
            return text.copies(start, length, within)
    return []


def _nearest_first(starts: Sequence[int], likely: int) -> Iterator[int]:
    after = bisect_left(starts, likely)
    before = after - 1
    while before >= 0 and after < len(starts):
        if likely - starts[before] <= starts[after] - likely:
            yield starts[before]
            before -= 1
        else:
            yield starts[after]
            after += 1
    yield from starts[after:]
    yield from reversed(starts[: before + 1])


def find_copies(block: list[str], text: Text, start: int) -> list[int] | None:
    """Return the lines at which a block stands in a text beside the one at which it is known to; None when there are too many to look at."""
    counts = text.line_counts
    if 1 in map(counts.__getitem__, block):
        return []
    rarest = min(range(len(block)), key=lambda number: counts[block[number]])
    if counts[block[rarest]] > _MAX_LOOKS:
        return None
    firsts = (number - rarest for number in text.numbers(block[rarest]))
    return [
        first
        for first in firsts
        if first >= 1 and first != start and text.lines[first - 1 : first - 1 + len(block)] == block
    ]
