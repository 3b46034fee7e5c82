"""What one commit did to the lines of a file, from `git diff`. Does not use the locator."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

DEAD: Final = 0
"""Instead of a line number: the line is gone."""
UNKNOWN: Final = -1
"""Instead of a line number: what became of the line cannot be said."""
_MOVED_LINES: Final = 3
"""Different distinctive lines that a block must have before it counts as moved."""
_MIN_CHARACTERS: Final = 8
"""Letters and digits that a distinctive line must have."""
_SIGNS: Final = bytes(range(0x30)) + rb":;<=>?@[\]^_`{|}~"
_BESIDE: Final = 2
"""Lines beside a moved block that a diff often confuses: blank lines, closing brackets."""
_FURTHEST_SLIDE: Final = 100


@dataclass(frozen=True, slots=True)
class Hunk:
    """A hunk of a diff without context: `deleted` lines from `old` became `added` from `new`.

    Numbers are 1-based, lines without white space, as `git diff -w` compares them.
    """

    old: int
    new: int
    deleted: Sequence[bytes]
    added: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class _Span:
    """Where a hunk is, and how many lines it deleted and added."""

    old: int
    new: int
    deleted: int
    added: int


class Change:
    """What one commit did to the lines of one file.

    Attributes:
        added: First and last line of each run of lines that it wrote, in the new file.
    """

    __slots__ = ("_hunks", "_shift", "_slides", "_table", "added")

    def __init__(self, hunks: Sequence[Hunk]) -> None:
        table = array("l", [DEAD])
        shift = 0
        for hunk in hunks:
            table.extend(line + shift for line in range(len(table), hunk.old))
            table.extend([DEAD] * len(hunk.deleted))
            shift += len(hunk.added) - len(hunk.deleted)
        _follow_moves(table, hunks)
        self._table = table
        self._shift = shift
        self._hunks = [
            _Span(hunk.old, hunk.new, len(hunk.deleted), len(hunk.added)) for hunk in hunks
        ]
        self._slides: dict[int, set[int]] | None = None
        self.added = [(hunk.new, hunk.new + len(hunk.added) - 1) for hunk in hunks if hunk.added]

    def follow(self, lines: Iterable[int]) -> list[int]:
        """Return where lines of the old file are in the new one; `DEAD` and `UNKNOWN` stay."""
        table, shift, known = self._table, self._shift, len(self._table)
        return [
            line if line <= 0 else table[line] if line < known else line + shift for line in lines
        ]

    def slides(self, old: Sequence[bytes], new: Sequence[bytes]) -> Mapping[int, set[int]]:
        """Return where else lines of the old file may be.

        A diff is equally true if a hunk slides along equal lines. `UNKNOWN` among the places means
        that nothing supports git's choice: a blank line or a bracket beside rewritten lines.

        Args:
            old: The lines of the old file without white space.
            new: Those of the new one.
        """
        if self._slides is None:
            found: dict[int, set[int]] = defaultdict(set)
            for hunk in self._hunks:
                for line, place in (*_slid_additions(hunk, new), *_slid_deletions(hunk, old)):
                    if line > 0 and UNKNOWN not in self.follow((line,)):
                        found[line].add(place)
            for line in self._stranded(old):
                found[line].add(UNKNOWN)
            self._slides = dict(found)
        return self._slides

    def _stranded(self, old: Sequence[bytes]) -> Iterator[int]:
        """Yield unchanged lines without text beside rewritten ones: git matches any of them."""
        for hunk in self._hunks:
            if hunk.deleted and hunk.added:
                for beside in (
                    range(hunk.old - 1, 0, -1),
                    range(hunk.old + hunk.deleted, len(old) + 1),
                ):
                    yield from takewhile(
                        lambda line: self.follow((line,))[0] > 0 and not has_text(old[line - 1]),
                        beside,
                    )


def parse_hunk(header: bytes, lines: Iterator[bytes]) -> Hunk:
    """Return the hunk of a diff without context, given its header and the lines after it."""
    old, deleted, new, added = _header(header)
    return Hunk(old, new, _body(lines, deleted), _body(lines, added))


def parse_patch(lines: Iterator[bytes]) -> list[Hunk]:
    """Return the hunks of one file's patch."""
    return [parse_hunk(line, lines) for line in lines if line.startswith(b"@@ -")]


def _header(line: bytes) -> tuple[int, int, int, int]:
    """Return first line and count on both sides.

    For an empty side git gives the line before it, this function the one after it.
    """
    before, after = line.split(b" ", 3)[1:3]
    old, _, deleted = before[1:].partition(b",")
    new, _, added = after[1:].partition(b",")
    counts = int(deleted or b"1"), int(added or b"1")
    return int(old) + (counts[0] == 0), counts[0], int(new) + (counts[1] == 0), counts[1]


def _body(lines: Iterator[bytes], count: int) -> list[bytes]:
    found: list[bytes] = []
    while len(found) < count:
        line = next(lines)
        if not line.startswith(b"\\"):  # "\ No newline at end of file"
            found.append(b"".join(line[1:].split()))
    return found


def _slid_additions(hunk: _Span, new: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the old lines beside a hunk that it may have added, with their places then."""
    if hunk.added:
        for step in _equal_run(new, hunk.new - 1, hunk.new + hunk.added - 1, -1):
            yield hunk.old - 1 - step, hunk.new + hunk.added - 1 - step
        for step in _equal_run(new, hunk.new, hunk.new + hunk.added, 1):
            yield hunk.old + hunk.deleted + step, hunk.new + step


def _slid_deletions(hunk: _Span, old: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the old lines that a hunk may have kept or deleted instead of others."""
    if hunk.deleted:
        for step in _equal_run(old, hunk.old - 1, hunk.old + hunk.deleted - 1, -1):
            yield hunk.old + hunk.deleted - 1 - step, hunk.new - 1 - step
            yield hunk.old - 1 - step, DEAD
        for step in _equal_run(old, hunk.old, hunk.old + hunk.deleted, 1):
            yield hunk.old + step, hunk.new + hunk.added + step
            yield hunk.old + hunk.deleted + step, DEAD


def _equal_run(lines: Sequence[bytes], one: int, other: int, direction: int) -> Iterator[int]:
    """Count the lines from two places on that are equal."""
    for step in range(_FURTHEST_SLIDE):
        first, second = one + direction * step, other + direction * step
        if (
            min(first, second) < 1
            or max(first, second) > len(lines)
            or lines[first - 1] != lines[second - 1]
        ):
            return
        yield step


def _follow_moves(table: array[int], hunks: Sequence[Hunk]) -> None:
    """Map deleted lines to where the same change added them, in a unique block.

    Lines that moved in smaller pieces or in several copies are unknown.
    """
    gone = {hunk.old + offset: line for hunk in hunks for offset, line in enumerate(hunk.deleted)}
    come = {hunk.new + offset: line for hunk in hunks for offset, line in enumerate(hunk.added)}
    added_counts = Counter(come.values())
    candidates = {
        number: line
        for number, line in gone.items()
        if line in added_counts and _is_distinctive(line)
    }
    if not candidates:
        return
    deleted_counts = Counter(candidates.values())
    places = {line: number for number, line in come.items()}
    for number in candidates:
        table[number] = UNKNOWN
    done: set[int] = set()
    for number, line in candidates.items():
        if number in done or deleted_counts[line] > 1 or added_counts[line] > 1:
            continue
        first, last, shift = _block(number, places[line], gone, come)
        block = range(first, last + 1)
        done.update(block)
        if len({gone[each] for each in block if _is_distinctive(gone[each])}) >= _MOVED_LINES:
            for each in block:
                table[each] = each + shift
            for each in (*range(first - _BESIDE, first), *range(last + 1, last + 1 + _BESIDE)):
                if 0 < each < len(table) and each not in done:
                    table[each] = UNKNOWN


def _block(
    old: int, new: int, gone: Mapping[int, bytes], come: Mapping[int, bytes]
) -> tuple[int, int, int]:
    """Return the first and last line of the block around a moved line, and its shift."""
    shift = new - old
    first = last = old
    while first - 1 in gone and gone[first - 1] == come.get(first - 1 + shift):
        first -= 1
    while last + 1 in gone and gone[last + 1] == come.get(last + 1 + shift):
        last += 1
    return first, last, shift


def has_text(line: bytes) -> bool:
    """Whether a line has letters or digits, so that it is more than blank or a bracket."""
    return bool(line.translate(None, _SIGNS))


def _is_distinctive(line: bytes) -> bool:
    return len(line) >= _MIN_CHARACTERS and len(line.translate(None, _SIGNS)) >= _MIN_CHARACTERS
