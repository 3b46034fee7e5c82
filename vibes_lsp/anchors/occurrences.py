"""Find contexts, and copies of blocks, in a text (R14, R16)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from vibes_lsp.anchors.create_anchors import CONTEXT_BYTES, CONTEXT_LINES
from vibes_lsp.anchors.text import Text, encode, replace_invalid


class Context(NamedTuple):
    """The first lines of a range as a record has them (R14).

    Attributes:
        whole: The lines that are complete.
        begun: The beginning of one more line; empty if there is none, or none of it.
    """

    whole: tuple[str, ...]
    begun: str


def parse_context(context: str) -> Context:
    """Return a recorded context, without half a character at its end; lines end at LF or CRLF."""
    is_cut = len(encode(context)) > CONTEXT_BYTES - 4
    valid = replace_invalid(context.rstrip("\ufffd") if is_cut else context)
    parts = valid.removesuffix("\n").split("\n", CONTEXT_LINES)[:CONTEXT_LINES]
    lines = tuple(line.removesuffix("\r") for line in parts)
    return Context(lines[:-1], lines[-1]) if is_cut else Context(lines, "")


def line_numbers(lines: Sequence[str], wanted: Collection[str]) -> Mapping[str, Sequence[int]]:
    """Return where each wanted line occurs, 1-based and ascending."""
    numbers: dict[str, list[int]] = {line: [] for line in wanted}
    for number, line in enumerate(lines, 1):
        if line in numbers:
            numbers[line].append(number)
    return numbers


def find_contexts(
    lines: Sequence[str], contexts: Iterable[Context]
) -> Mapping[Context, Sequence[int]]:
    """Return the lines of a text, as valid UTF-8, at which contexts start, ascending."""
    distinct = set(contexts)
    numbers = line_numbers(lines, {line for context in distinct for line in context.whole})
    return {context: _starts(context, lines, numbers) for context in distinct}


def _starts(
    context: Context, lines: Sequence[str], numbers: Mapping[str, Sequence[int]]
) -> Sequence[int]:
    whole, begun = context
    if not whole:
        return [number for number, line in enumerate(lines, 1) if line.startswith(begun)]
    rarest = min(range(len(whole)), key=lambda number: len(numbers[whole[number]]))
    last = len(lines) - len(whole) + (not begun)
    return [
        start
        for number in numbers[whole[rarest]]
        if 0 < (start := number - rarest) <= last
        and tuple(lines[start - 1 : start - 1 + len(whole)]) == whole
        and (not begun or lines[start - 1 + len(whole)].startswith(begun))
    ]


def has_copy(block: Sequence[str], text: Text, start: int) -> bool:
    """Whether a block that starts at a line also starts at another one."""
    lines, before = text.lines, len(block) - 2
    return any(
        line == block[-1]
        and (first := number - before - 1) != start
        and first > 0
        and lines[first - 1 : number] == block
        for number, line in enumerate(lines, 1)
    )
