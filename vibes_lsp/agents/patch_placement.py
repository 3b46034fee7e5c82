"""Where the chunks of an `apply_patch` patch are in a text: before it is applied, or after. Pure.

A chunk has lines but no line numbers. `apply_patch` searches the lines after each header, and then
the chunk's old lines, from the end of the previous chunk on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from vibes_lsp.agents.events import DiffHunk, PatchChunk, lines_after, lines_before

_MAX_PLACEMENTS: Final = 100
"""Combinations of places that are tried; a patch with more is unresolved."""


def apply_chunks(
    before: str, chunks: Sequence[PatchChunk]
) -> tuple[str, tuple[DiffHunk, ...]] | None:
    """Return a text with a patch applied, and the places; None when the patch does not fit."""
    lines = before.split("\n")
    compared = [line.removesuffix("\r") for line in lines]
    end = "\r" if "\r\n" in before else ""
    places: list[tuple[int, PatchChunk]] = []
    cursor = 0
    for chunk in chunks:
        for header in chunk.headers:
            found = _find(compared, [header], cursor)
            if found is None:
                return None
            cursor = found + 1
        old = lines_before(chunk)
        place = _last_line(compared) if not old else _find_chunk(compared, old, cursor, chunk)
        if place is None:
            return None
        places.append((place, chunk))
        cursor = place + len(old)
    hunks: list[DiffHunk] = []
    shift = 0
    for place, chunk in places:
        old, new = lines_before(chunk), lines_after(chunk)
        start = place + shift
        lines[start : start + len(old)] = [f"{line}{end}" for line in new]
        hunks.append(DiffHunk(start + 1, chunk.lines))
        shift += len(new) - len(old)
    after = "\n".join(lines)
    return after if after.endswith("\n") or not after else f"{after}\n", tuple(hunks)


def find_chunk_placements(
    after: str, chunks: Sequence[PatchChunk]
) -> list[tuple[tuple[DiffHunk, ...], str]]:
    """Return the possible places of a patch in a text that has it applied, with the text before.

    Of several, only those are returned from whose text before the patch makes this text.
    """
    lines = after.split("\n")
    compared = [line.removesuffix("\r") for line in lines]
    sides = [lines_after(chunk) for chunk in chunks]
    if not all(sides):
        return []
    found = []
    for places in _combinations(compared, sides):
        hunks = tuple(
            DiffHunk(place + 1, chunk.lines) for place, chunk in zip(places, chunks, strict=True)
        )
        found.append((hunks, _undo(lines, hunks, chunks)))
    if len(found) < 2:
        return found
    return [
        (hunks, before) for hunks, before in found if apply_chunks(before, chunks) == (after, hunks)
    ]


def places_of(lines: Sequence[str], block: Sequence[str]) -> list[int]:
    """Return where a block of lines occurs; an empty one occurs nowhere."""
    if not block:
        return []
    found = [start for start in range(len(lines) - len(block) + 1) if lines[start] == block[0]]
    return [start for start in found if list(lines[start : start + len(block)]) == list(block)]


def _combinations(lines: Sequence[str], blocks: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
    """Return the places of all blocks, in order and without overlaps; none when they are many."""
    combinations: list[tuple[int, ...]] = [()]
    for block in reversed(blocks):
        starts = places_of(lines, block)
        if len(starts) * len(combinations) > _MAX_PLACEMENTS**2:
            return []
        combinations = [
            (start, *rest)
            for start in starts
            for rest in combinations
            if not rest or start + len(block) <= rest[0]
        ]
        if len(combinations) > _MAX_PLACEMENTS:
            return []
    return sorted(combinations)


def _undo(lines: Sequence[str], hunks: Sequence[DiffHunk], chunks: Sequence[PatchChunk]) -> str:
    before = list(lines)
    end = "\r" if any(line.endswith("\r") for line in lines) else ""
    for hunk, chunk in reversed(list(zip(hunks, chunks, strict=True))):
        start = hunk.new_start - 1
        before[start : start + len(lines_after(chunk))] = [
            f"{line}{end}" for line in lines_before(chunk)
        ]
    return "\n".join(before)


def _find(lines: Sequence[str], block: Sequence[str], start: int) -> int | None:
    places = range(start, len(lines) - len(block) + 1)
    return next(
        (place for place in places if list(lines[place : place + len(block)]) == list(block)), None
    )


def _find_chunk(
    lines: Sequence[str], old: Sequence[str], cursor: int, chunk: PatchChunk
) -> int | None:
    if chunk.at_end:
        place = _last_line(lines) - len(old)
        if place >= cursor and list(lines[place : place + len(old)]) == list(old):
            return place
    return _find(lines, old, cursor)


def _last_line(lines: Sequence[str]) -> int:
    """Return the number of lines without the empty one behind the last newline."""
    return len(lines) - 1 if lines and lines[-1] == "" else len(lines)
