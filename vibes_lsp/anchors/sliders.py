"""Where a block of new lines begins that may as well begin some lines earlier or later.

Git's indent heuristic, by which its blame decides too: a block begins and ends where the code is
least indented, at a blank line if there is one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

_MAX_SLIDING: Final = 100
_MAX_INDENT: Final = 200
_MAX_BLANKS: Final = 20
_TAB: Final = 8
_START_OF_FILE: Final = 1
_END_OF_FILE: Final = 21
_BLANK: Final = -30
_BLANK_AFTER: Final = 6
_INDENT: Final = (-4, 10)
"""The penalty for more indentation than before: without and with blank lines."""
_OUTDENT: Final = (24, 17)
"""The penalty for less indentation than before and after."""
_DEDENT: Final = (23, 17)
"""The penalty for less indentation than before."""
_INDENT_WEIGHT: Final = 60


class _Split(NamedTuple):
    """How bad it is that a block begins or ends before a line."""

    indent: int
    penalty: int


def settle_blocks(lines: Sequence[str], partners: list[int], length: int) -> None:
    """Move blocks without partners, between lines whose partners are neighbours, as git does.

    Args:
        lines: The lines of a text.
        partners: The line of another text that each line is; -1 for none. Changed in place.
        length: How many lines the other text has.
    """
    for start, end in lone_blocks(partners, length):
        lowest, highest = sliding_lines(lines, partners, start, end, _MAX_SLIDING)
        if lowest < start or highest > end:
            size = end - start
            best = _best_end(lines, range(lowest + size, highest + 1), size)
            _move(partners, start, end, best)


def sliding_lines(
    lines: Sequence[str], partners: Sequence[int], start: int, end: int, longest: int = sys.maxsize
) -> tuple[int, int]:
    """Return between which lines a block without partners may stand as well as where it is.

    Args:
        lines: The lines of a text.
        partners: The line of another text that each line is; -1 for none.
        start: The first line of the block.
        end: The line after its last.
        longest: How many lines are taken into account, with those of the block.
    """
    size, first, last = end - start, start, end
    while (
        first
        and end - first < longest
        and partners[first - 1] >= 0
        and lines[first - 1] == lines[first - 1 + size]
    ):
        first -= 1
    while (
        last < len(lines)
        and last - start < longest
        and partners[last] >= 0
        and lines[last] == lines[last - size]
    ):
        last += 1
    return first, last


def lone_blocks(partners: Sequence[int], length: int) -> list[tuple[int, int]]:
    """Return the blocks without partners between lines whose partners are neighbours.

    For each the first line and the line after the last.
    """
    ends = [*partners, length]
    return [
        (start, end)
        for start, end in lone_runs(partners)
        if ends[end] == (ends[start - 1] + 1 if start else 0)
    ]


def lone_runs(partners: Sequence[int]) -> list[tuple[int, int]]:
    """Return the runs without partners: for each the first line and the line after the last."""
    runs: list[tuple[int, int]] = []
    ends = [*partners, len(partners), -1]  # so that each run has an end
    start = ends.index(-1)
    while start < len(partners):
        end = start
        while ends[end] < 0:
            end += 1
        runs.append((start, end))
        start = ends.index(-1, end)
    return runs


def _move(partners: list[int], start: int, end: int, new_end: int) -> None:
    """Let a block end elsewhere; the lines that it passes take the other places."""
    first, last = min(start, new_end - (end - start)), max(end, new_end)
    around = [partner for partner in partners[first:last] if partner >= 0]
    before = new_end - (end - start) - first
    partners[first:last] = [*around[:before], *[-1] * (end - start), *around[before:]]


def _best_end(lines: Sequence[str], ends: range, size: int) -> int:
    best, best_split = ends.stop - 1, None
    for end in ends:
        splits = _measure(lines, end), _measure(lines, end - size)
        split = _Split(sum(edge.indent for edge in splits), sum(edge.penalty for edge in splits))
        if best_split is None or _compare(split, best_split) <= 0:
            best, best_split = end, split
    return best


def _compare(first: _Split, second: _Split) -> int:
    """Return a negative number if the first is better."""
    by_indent = (first.indent > second.indent) - (first.indent < second.indent)
    return _INDENT_WEIGHT * by_indent + first.penalty - second.penalty


def _measure(lines: Sequence[str], place: int) -> _Split:
    at_end = place >= len(lines)
    indent = -1 if at_end else _indent(lines[place])
    before, blanks_before = _indent_near(lines, range(place - 1, -1, -1))
    after, blanks_after = _indent_near(lines, range(place + 1, len(lines)))
    penalty = _END_OF_FILE if at_end else 0
    if before == -1 and not blanks_before:
        penalty += _START_OF_FILE
    following = 1 + blanks_after if indent == -1 else 0
    penalty += _BLANK * (blanks_before + following) + _BLANK_AFTER * following
    indent = after if indent == -1 else indent
    has_blanks = bool(blanks_before + following)
    if -1 in (indent, before) or indent == before:
        pass
    elif indent > before:
        penalty += _INDENT[has_blanks]
    else:
        penalty += (_OUTDENT if after > indent else _DEDENT)[has_blanks]
    return _Split(indent, penalty)


def _indent_near(lines: Sequence[str], numbers: range) -> tuple[int, int]:
    """Return the indentation of the next line that is not blank, and how many blank ones precede.

    The indentation is -1 if there is none.
    """
    blanks = 0
    for number in numbers:
        if (indent := _indent(lines[number])) != -1:
            return indent, blanks
        blanks += 1
        if blanks == _MAX_BLANKS:
            return 0, blanks
    return -1, blanks


def _indent(line: str) -> int:
    """Return the indentation of a line in columns; -1 for a blank line."""
    columns = 0
    for character in line:
        if character == " ":
            columns += 1
        elif character == "\t":
            columns += _TAB - columns % _TAB
        elif character not in "\n\v\f\r":
            return columns
        if columns >= _MAX_INDENT:
            return _MAX_INDENT
    return -1
