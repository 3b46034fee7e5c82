"""Follow lines through a formatter: they differ in layout and punctuation, not in their words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from vibes_lsp.anchors.align import align
from vibes_lsp.anchors.sliders import lone_runs
from vibes_lsp.anchors.text import compact

_PUNCTUATION: Final = str.maketrans("", "", "'\"`,;")
"""What a formatter adds, removes or replaces, besides white space."""


def reformatted(old: Sequence[str], new: Sequence[str], origins: Sequence[int]) -> list[int]:
    """Return the old line that each new line is or was made from by a formatter; -1 for none.

    A line that differs in white space only is found by itself. Lines that were joined or split are
    found as a block: between lines that are known, old and new ones have the same characters.

    Args:
        old: The old lines.
        new: The new lines.
        origins: The old line that each new line is; -1 where there is none.
    """
    sources = list(origins)
    for gap, new_gap in gaps(sources, len(old)):
        ours = [compact(line) for line in old[gap.start : gap.stop]]
        theirs = [compact(line) for line in new[new_gap.start : new_gap.stop]]
        for number, place in enumerate(align(ours, theirs)):
            if place >= 0 and ours[number]:
                sources[new_gap.start + place] = gap.start + number
    for gap, new_gap in gaps(sources, len(old)):
        for place, number in _within(old[gap.start : gap.stop], new[new_gap.start : new_gap.stop]):
            sources[new_gap.start + place] = gap.start + number
    return sources


def gaps(origins: Sequence[int], length: int) -> list[tuple[range, range]]:
    """Return the lines between known ones: those of the old text, and those of the new one."""
    ends = [*origins, length]
    pairs: list[tuple[range, range]] = []
    for start, end in lone_runs(origins):
        before = ends[start - 1] + 1 if start else 0
        if before < ends[end]:
            pairs.append((range(before, ends[end]), range(start, end)))
    return pairs


def _within(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield for each line of a block the old line with its first character, if both are equal."""
    ours, theirs = ([_bare(line) for line in lines] for lines in (old, new))
    if not any(ours) or "".join(ours) != "".join(theirs):
        return
    ends = list(accumulate(map(len, ours)))
    start = 0
    for number, line in enumerate(theirs):
        if line:
            yield number, bisect_right(ends, start)
        start += len(line)


def _bare(line: str) -> str:
    return compact(line).translate(_PUNCTUATION)
