"""Find contexts, hashes and copies of blocks in a text (R14, R16)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress
from typing import Final, TypeAlias

from vibes_lsp.anchors.create_anchors import CONTEXT_BYTES, CONTEXT_LINES, range_hash
from vibes_lsp.anchors.text import Text, encode, replace_invalid

_MAX_COPIES: Final = 256

Context: TypeAlias = tuple[tuple[str, ...], bool]
"""The lines of a context, and whether the last of them may be truncated (R14)."""


class Occurrences:
    """An index of the lines of a text that contexts contain.

    Args:
        lines: The text, in the form of the contexts: valid UTF-8, or without white space.
        contexts: All contexts that will be looked for.
    """

    def __init__(self, lines: Sequence[str], contexts: Iterable[Context]) -> None:
        self._lines = lines
        wanted = chain.from_iterable(
            context[:-1] if truncated else context for context, truncated in contexts
        )
        numbers: dict[str, list[int]] = {line: [] for line in wanted}
        for number in compress(range(len(lines)), map(numbers.__contains__, lines)):
            numbers[lines[number]].append(number + 1)
        self._numbers = numbers

    def line_numbers(self, line: str) -> Sequence[int]:
        """Return where a line of the contexts occurs, ascending."""
        return self._numbers.get(line, ())

    def find(self, context: Context) -> Sequence[int]:
        """Return the lines at which a context starts, ascending."""
        lines, truncated = context
        return self._find_truncated(lines) if truncated else self._find_whole(lines)

    def _find_whole(self, context: tuple[str, ...]) -> Sequence[int]:
        """Return the starts of a whole context, by the places of its rarest line."""
        known = self._numbers
        rarest = known[context[0]]
        if len(context) == 1 or not rarest:
            return rarest
        before = 0
        for offset, line in enumerate(context):
            if len(known[line]) < len(rarest):
                rarest, before = known[line], offset
        if not rarest:
            return rarest
        lines, behind = self._lines, len(context) - before
        if len(rarest) == 1:
            first = rarest[0] - before
            return (
                [first]
                if first > 0 and lines[first - 1 : rarest[0] - 1 + behind] == [*context]
                else []
            )
        last = len(lines) - behind + 1
        places = rarest
        if rarest[0] <= before or rarest[-1] > last:  # some are too near to an end of the text
            places = [number for number in rarest if before < number <= last]
        for offset, line in enumerate(context, -before - 1):
            if offset != -1:
                places = [number for number in places if lines[number + offset] == line]
        return [number - before for number in places] if before else places

    def _find_truncated(self, context: tuple[str, ...]) -> Sequence[int]:
        *whole, beginning = context
        lines, length = self._lines, len(whole)
        starts = self._find_whole(tuple(whole)) if whole else range(1, len(lines) + 1)
        last = len(lines) - length
        return [
            start
            for start in starts
            if start <= last and lines[start - 1 + length].startswith(beginning)
        ]


def parse_context(context: str) -> Context:
    """Return the lines of a recorded context, without half a character at its end.

    Lines may end at LF or CRLF.
    """
    is_short = len(context) * 4 <= CONTEXT_BYTES - 4
    truncated = not is_short and len(encode(context)) > CONTEXT_BYTES - 4
    if context.isascii() and "\r" not in context:
        lines = context.removesuffix("\n").split("\n", CONTEXT_LINES)
        return tuple(lines[:CONTEXT_LINES]), truncated
    lines = (
        replace_invalid(context.rstrip("\ufffd") if truncated else context)
        .replace("\r\n", "\n")
        .removesuffix("\n")
        .split("\n")
    )
    return tuple(line.removesuffix("\r") for line in lines[:CONTEXT_LINES]), truncated


def find_hash(
    digest: str, length: int, starts: Sequence[int], text: Text, expected: int
) -> Sequence[int]:
    """Return those starts at which a number of lines has a hash as `range_hash` computes it.

    Args:
        digest: The hash.
        length: The number of lines.
        starts: The starts to try, ascending; at least one.
        text: The text.
        expected: The start to try first. After the first match the rest is compared as text.
    """
    lines, last = text.lines, len(text.lines) - length + 1
    within = [start for start in starts if start <= last] if starts[-1] > last else starts
    if len(within) == 1:
        return within if range_hash(lines[within[0] - 1 : within[0] - 1 + length]) == digest else []
    for start in _nearest_first(within, expected):
        if range_hash(lines[start - 1 : start - 1 + length]) == digest:
            return text.same_blocks(start, length, within)
    return []


def _nearest_first(starts: Sequence[int], expected: int) -> Iterator[int]:
    after = bisect_left(starts, expected)
    before = after - 1
    while before >= 0 and after < len(starts):
        if expected - starts[before] <= starts[after] - expected:
            yield starts[before]
            before -= 1
        else:
            yield starts[after]
            after += 1
    yield from starts[after:]
    yield from reversed(starts[: before + 1])


def find_copies(block: list[str], text: Text, start: int) -> list[int] | None:
    """Return where a block that starts at a line also starts; None for more than 256 candidates."""
    counts = text.line_counts
    if 1 in map(counts.__getitem__, block):
        return []
    rarest = min(range(len(block)), key=lambda number: counts[block[number]])
    if counts[block[rarest]] > _MAX_COPIES:
        return None
    firsts = (number - rarest for number in text.numbers(block[rarest]))
    return [
        first
        for first in firsts
        if first >= 1 and first != start and text.lines[first - 1 : first - 1 + len(block)] == block
    ]
