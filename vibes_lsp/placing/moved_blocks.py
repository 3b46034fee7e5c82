"""Blocks that a commit, or the text on screen, takes away at one place and adds at another.

A copy is not a move: its original was not taken away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
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


def moved_lines(removed: Iterable[PlacedLines], added: Iterable[PlacedLines]) -> dict[Place, Place]:
    """Return where lines that were added were taken away.

    Only of blocks around a long line that was taken away once and added once.

    Args:
        removed: What was taken away.
        added: What was added.
    """
    gone, came = list(removed), list(added)
    places: dict[str, list[tuple[int, int]]] = {}
    for group, block in enumerate(gone):
        for number, line in enumerate(block.lines):
            places.setdefault(line.strip(), []).append((group, number))
    counts = Counter(line.strip() for block in came for line in block.lines)
    found: dict[Place, Place] = {}
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
            if end - start >= MIN_MOVED:
                shift = gone[group].first + origin - number
                for moved in range(start, end):
                    found.setdefault(
                        (block.path, block.first + moved), (gone[group].path, shift + moved)
                    )
            number = max(end, number + 1)
    return found


def _equal_around(
    lines: Sequence[str], number: int, others: Sequence[str], other: int
) -> tuple[int, int]:
    """Return the first line and the line after the last of what is equal around a line."""
    start, end, shift = number, number, other - number
    while start and start + shift and lines[start - 1] == others[start + shift - 1]:
        start -= 1
    while end < len(lines) and end + shift < len(others) and lines[end] == others[end + shift]:
        end += 1
    return start, end
