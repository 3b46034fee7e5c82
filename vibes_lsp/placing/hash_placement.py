"""Place the hashes of a block among candidate lines of a text, in order and in place (R32)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.line_hashes import distinctive_numbers, line_hash

_MAX_COMPARED: Final = 1_000_000
"""Lines that are compared to find a whole block. One that needs more has no distinctive line, and
is not found: a text and a record may be made to need hours."""


@dataclass(frozen=True)
class HashedText:
    """The lines of a text, and their hashes."""

    lines: Sequence[str]

    @cached_property
    def hashes(self) -> Sequence[str]:
        """The hash of each line."""
        return [line_hash(line) for line in self.lines]

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """Where lines with a hash are, ascending."""
        places: dict[str, list[int]] = {}
        for number, known in enumerate(self.hashes):
            places.setdefault(known, []).append(number)
        return places

    @cached_property
    def distinctive(self) -> frozenset[int]:
        """The numbers of its distinctive lines."""
        return distinctive_numbers(self.lines)


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """Where lines of a block stand.

    Attributes:
        lines: For lines of the text, in order, the line of the block that each is.
        is_whole: Whether the block stands as one, at one place only.
        is_ambiguous: Whether it stands as one at several places.
    """

    lines: Mapping[int, int] = field(default_factory=dict)
    is_whole: bool = False
    is_ambiguous: bool = False


def place_hashes(
    block: Sequence[str], text: HashedText, candidates: AbstractSet[int]
) -> PlacedBlock:
    """Return where the lines of a block stand in a text.

    The whole block where it stands once. Else its lines in order, near those that are distinctive
    and together with one of them, because boilerplate fits anywhere.

    Args:
        block: The hashes of the block.
        text: The text.
        candidates: The numbers of the lines that may be one of the block.
    """
    starts = _whole(block, text, candidates)
    if len(starts) == 1:
        numbers = range(len(block))
        return PlacedBlock({starts[0] + number: number for number in numbers}, is_whole=True)
    places = {
        known: places
        for known in dict.fromkeys(block)
        if (places := [place for place in text.places.get(known, ()) if place in candidates])
    }
    return PlacedBlock(_in_order(block, text, places), is_ambiguous=len(starts) > 1)


def _whole(block: Sequence[str], text: HashedText, candidates: AbstractSet[int]) -> list[int]:
    """Return where a block stands as one; looked for by its rarest line, if that is rare."""
    rarest = min(range(len(block)), key=lambda number: len(text.places.get(block[number], ())))
    last = len(text.lines) - len(block)
    starts = [
        start
        for place in text.places.get(block[rarest], ())
        if 0 <= (start := place - rarest) <= last
    ]
    if len(starts) * len(block) > _MAX_COMPARED:
        return []
    return [
        start
        for start in starts
        if list(text.hashes[start : start + len(block)]) == list(block)
        and candidates >= set(range(start, start + len(block)))
    ]


def consecutive(numbers: Iterable[int]) -> list[range]:
    """Return ascending numbers as ranges without gaps."""
    ranges: list[range] = []
    for number in numbers:
        if ranges and ranges[-1].stop == number:
            ranges[-1] = range(ranges[-1].start, number + 1)
        else:
            ranges.append(range(number, number + 1))
    return ranges


def _in_order(
    block: Sequence[str], text: HashedText, places: Mapping[str, Sequence[int]]
) -> Mapping[int, int]:
    """Return the lines of a block that stand together with a distinctive one of them."""
    first = {line: number for number, line in reversed(list(enumerate(block)))}
    starts = [
        number - first[line]
        for line, numbers in places.items()
        for number in numbers
        if number in text.distinctive
    ]
    if not starts:
        return {}
    window = range(max(min(starts), 0), min(max(starts) + len(block), len(text.lines)))
    candidates = {number for numbers in places.values() for number in numbers}
    origins = came_from(
        block, [text.hashes[number] if number in candidates else "" for number in window]
    )
    lines = {number: line for number, line in zip(window, origins, strict=True) if line >= 0}
    return {
        number: lines[number]
        for group in consecutive(lines)
        if not text.distinctive.isdisjoint(group)
        for number in group
    }
