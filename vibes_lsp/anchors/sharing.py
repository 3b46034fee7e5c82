"""What two versions of a file have in common at their beginning and at their end: most of both, as a rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_STRIDES: Final = (1 << 14, 1 << 10, 1 << 6, 1 << 3, 1)


@dataclass(frozen=True, slots=True)
class Shared:
    """The lines that a text has in common with one near to it.

    Attributes:
        first: How many lines both begin with.
        last: The number of lines of the text before those that both end with.
        near_last: The same of the other one.
        between: What the text has in between.
    """

    first: int
    last: int
    near_last: int
    between: str

    def of(self, near: Sequence[str], between: Sequence[str]) -> list[str]:
        """Return the lines of the text, given those of the other one and those in between."""
        return [*near[: self.first], *between, *near[self.near_last :]]

    def is_most(self, length: int) -> bool:
        """Whether the lines that only one of the two has are at most half as many as the text has."""
        return 2 * (self.last + self.near_last - 2 * self.first) <= length

    def numbers(self, near: Sequence[int], between: Sequence[int]) -> Sequence[int]:
        """Return where a line stands in the text, 1-based, given where it does in the other one and in between."""
        shift = self.last - self.near_last
        before = [number for number in near if number <= self.first]
        return [*before, *between, *(number + shift for number in near if number > self.near_last)]


def shared_lines(content: str, near: str) -> Shared | None:
    """Return what a text shares with another; None where lines end in other ways than by LF."""
    if any("\r" in each or each.startswith("\ufeff") for each in (content, near)):
        return None
    most = min(len(content), len(near))
    begin = content.rfind("\n", 0, common_start(content, near, most)) + 1
    end = common_end(content, near, most - begin)
    newline = content.find("\n", len(content) - end)
    end = 0 if newline < 0 else len(content) - newline - 1
    between = content[begin : len(content) - end]
    first = content.count("\n", 0, begin)
    return Shared(first, first + _lines_in(between), first + _lines_in(near[begin : len(near) - end]), between)


def _lines_in(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def common_start(one: Sequence[object], other: Sequence[object], most: int) -> int:
    """Return how many members two sequences begin with alike, at most so many: long slices first, they are what Python compares fastest."""
    alike = 0
    for stride in _STRIDES:
        while alike + stride <= most and one[alike : alike + stride] == other[alike : alike + stride]:
            alike += stride
    return alike


def common_end(one: Sequence[object], other: Sequence[object], most: int) -> int:
    """Return how many members two sequences end with alike, at most so many."""
    alike, here, there = 0, len(one), len(other)
    for stride in _STRIDES:
        while alike + stride <= most and one[here - stride : here] == other[there - stride : there]:
            alike, here, there = alike + stride, here - stride, there - stride
    return alike
