"""Lines that know their author, and how git's operations combine texts of them.

A line keeps its identity from text to text. A merge is computed on identities, where no line is equal to
another one by chance, and then compared with what git made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

PERSON: Final = "person"
"""The author of a line that no edit of an AI wrote; other authors are names of edits."""
UNKNOWN: Final = "?"
"""The author of a line that git placed otherwise than the generator: it is not judged."""


class Origin(Enum):
    """How a line came into being."""

    TYPED = "typed"
    COPIED = "copied"
    """By a person, of a line that still stood."""
    RETYPED = "retyped"
    """By a person, of a line that a commit had taken away, or that another project lost."""
    UNDONE = "undone"
    """By a person, in the same file, of a line that no commit had: texts cannot tell that from undo."""
    FORMATTED = "formatted"
    """By a formatter, of a line that differs in white space only."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text.

    Attributes:
        number: Its identity.
        text: Without the end of line.
        author: `PERSON`, `UNKNOWN` or the name of an edit.
        ordinary: Whether people and AIs write lines that are equal to it by chance.
        origin: How it came into being.
        typed: The text as its author wrote it, where a formatter changed it since.
        root: The identity that it had then.
        source: The author of the text that a person copied or typed again.
    """

    number: int
    text: str
    author: str
    ordinary: bool = False
    origin: Origin = Origin.TYPED
    typed: str = ""
    root: int = 0
    source: str = ""

    @property
    def by_ai(self) -> bool:
        """Whether an edit of an AI wrote it."""
        return self.author not in (PERSON, UNKNOWN)


Lines: TypeAlias = tuple[Line, ...]


class File(NamedTuple):
    """A file, which keeps its identity when it is renamed."""

    number: int
    lines: Lines


Tree: TypeAlias = Mapping[str, File]
"""Path -> file."""


class Conflict(NamedTuple):
    """A place where both sides changed the same lines."""

    ours: Lines
    theirs: Lines


def texts(lines: Iterable[Line]) -> list[str]:
    """Return the texts of lines."""
    return [line.text for line in lines]


def numbers(lines: Iterable[Line]) -> list[int]:
    """Return the identities of lines."""
    return [line.number for line in lines]


def author_of_text(line: Line) -> str:
    """Return the edit whose text a line is, as far as texts can say it; empty if of no edit."""
    if line.by_ai:
        return line.author
    return line.source if line.origin == Origin.UNDONE else ""


def spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return ascending numbers as spans of neighbours, first and last included."""
    result: list[tuple[int, int]] = []
    for number in numbers:
        if result and result[-1][1] == number - 1:
            result[-1] = (result[-1][0], number)
        else:
            result.append((number, number))
    return result


def changes(old: Lines, new: Lines) -> list[tuple[int, int, int, int]]:
    """Return what differs by identity: start and end in the old text, start and end in the new one."""
    matcher = SequenceMatcher(
        None, [line.number for line in old], [line.number for line in new], autojunk=False
    )
    return [operation[1:] for operation in matcher.get_opcodes() if operation[0] != "equal"]


def merge_lines(base: Lines, ours: Lines, theirs: Lines) -> Iterator[Lines | Conflict]:
    """Merge three texts as git does, on the identities of their lines.

    Changes of both sides that touch are a conflict, as in git.
    """
    numbers = [[line.number for line in side] for side in (base, ours, theirs)]
    kept = [_kept(numbers[0], side) for side in numbers[1:]]
    start = [0, 0, 0]
    for place in [*range(len(base)), None]:
        if place is None:
            end = [len(base), len(ours), len(theirs)]
        elif place in kept[0] and place in kept[1]:
            end = [place, kept[0][place], kept[1][place]]
        else:
            continue
        before, mine, other = (
            side[first:last]
            for side, first, last in zip((base, ours, theirs), start, end, strict=True)
        )
        if before == mine:
            yield other
        elif other in (before, mine):
            yield mine
        else:
            yield Conflict(mine, other)
        if place is not None:
            yield (base[place],)
            start = [number + 1 for number in end]


def _kept(old: Sequence[int], new: Sequence[int]) -> dict[int, int]:
    """Return where lines of the old text are in the new one, by their places."""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return {
        block.a + offset: block.b + offset
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }


def match_texts(expected: Lines, actual: Sequence[str]) -> list[Line | None]:
    """Return for each text the expected line that it is; None where it is not one of them."""
    result: list[Line | None] = [None] * len(actual)
    matcher = SequenceMatcher(None, texts(expected), actual, autojunk=False)
    for block in matcher.get_matching_blocks():
        result[block.b : block.b + block.size] = expected[block.a : block.a + block.size]
    return result
