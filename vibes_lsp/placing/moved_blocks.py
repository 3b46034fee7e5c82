"""Blocks that a commit, or the text on screen, takes away at one place and adds at another.

A copy is not a move: its original was not taken away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from vibes_lsp.anchors.line_hashes import is_long

MIN_MOVED: Final = 3
"""Lines that a block must have to be followed."""


class PlacedLines(NamedTuple):
    """Neighbouring lines of a file.

    Attributes:
        path: The file.
        first: The 0-based number of the first.
        lines: The lines.
    """

    path: str
    first: int
    lines: Sequence[str]


Place = tuple[str, int]
"""A file, and the 0-based number of a line in it."""


def moved_lines(
    removed: Iterable[PlacedLines],
    added: Iterable[PlacedLines],
    before: Callable[[str], Sequence[str]],
) -> dict[Place, Place]:
    """Return where lines that were added were taken away.

    Only of blocks around a long line that was taken away once and added once. A block beside a long
    line that it stood beside before is a part of a copy.

    Args:
        removed: What was taken away.
        added: What was added.
        before: Returns the lines of a file from which something was taken away.
    """
    gone, came = list(removed), list(added)
    places: dict[str, list[tuple[int, int]]] = {}
    for group, block in enumerate(gone):
        for number, line in enumerate(block.lines):
            places.setdefault(line.strip(), []).append((group, number))
    counts = Counter(line.strip() for block in came for line in block.lines)
    moves: dict[Place, Place] = {}
    for block in came:
        number = 0
        while number < len(block.lines):
            line = block.lines[number].strip()
            origins = places.get(line, [])
            if len(origins) != 1 or counts[line] != 1 or not is_long(line):
                number += 1
                continue
            group, origin = origins[0]
            start, end = _equal_around(block.lines, number, gone[group].lines, origin)
            path, shift = gone[group].path, gone[group].first + origin - number
            if end - start >= MIN_MOVED and not _is_copied(
                block.lines, start, end, before(path), shift
            ):
                for moved in range(start, end):
                    moves.setdefault((block.path, block.first + moved), (path, shift + moved))
            number = max(end, number + 1)
    return moves


def _equal_around(
    lines: Sequence[str], number: int, other_lines: Sequence[str], other_number: int
) -> tuple[int, int]:
    """Return the first line and the line after the last of what is equal around a line."""
    start, end, shift = number, number, other_number - number
    while start and start + shift and lines[start - 1] == other_lines[start + shift - 1]:
        start -= 1
    while (
        end < len(lines)
        and end + shift < len(other_lines)
        and lines[end] == other_lines[end + shift]
    ):
        end += 1
    return start, end


def _is_copied(
    lines: Sequence[str], start: int, end: int, other_lines: Sequence[str], shift: int
) -> bool:
    """Whether a long line beside a block is one that the block stood beside before."""
    return any(
        is_long(lines[number]) and lines[number : number + 1] == other_lines[there : there + 1]
        for number in (start - 1, end)
        if 0 <= number < len(lines) and (there := number + shift) >= 0
    )
