"""Cases made by random edits of real files, where the identity of each line is known.

A line that is edited, renamed in or indented is still the same line; a replaced line is not.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from benchmarks.locating.cases import Case, Range, choose_ranges
from benchmarks.locating.linemaps import DEAD
from benchmarks.locating.truth import Truth
from vibes_lsp.anchors.text import Text

_SHORTEST: Final = 30
_APART: Final = 5
_LONGEST_BLOCK: Final = 30
_WORD: Final = re.compile(r"[A-Za-z_]\w{3,}")
_LINE = tuple[int, str]
"""A line with its number in the old text, `DEAD` for one that was not in it."""


@dataclass
class Draft:
    """A text being edited.

    Attributes:
        rng: Decides everything.
        lines: The lines now.
        foreign: Lines that can be put in.
        touched: Old lines that an edit was about: ranges to ask for.
    """

    rng: random.Random
    lines: list[_LINE]
    foreign: Sequence[str]
    touched: list[Range] = field(default_factory=list)

    def block(self) -> tuple[int, int]:
        """Return the start and the (exclusive) end of a random block of the current lines."""
        length = self.rng.randint(1, min(_LONGEST_BLOCK, len(self.lines) // 4))
        begin = self.rng.randrange(len(self.lines) - length)
        numbers = [number for number, _ in self.lines[begin : begin + length] if number != DEAD]
        if numbers and numbers[-1] - numbers[0] == length - 1:
            self.touched.append((numbers[0], numbers[-1]))
        return begin, begin + length

    def strangers(self) -> list[_LINE]:
        """Return some lines of another file."""
        length = self.rng.randint(1, 20)
        begin = self.rng.randrange(max(1, len(self.foreign) - length))
        return [(DEAD, line) for line in self.foreign[begin : begin + length]]


def _insert(draft: Draft) -> None:
    at = draft.rng.randrange(len(draft.lines))
    draft.lines[at:at] = draft.strangers()


def _delete(draft: Draft) -> None:
    begin, end = draft.block()
    del draft.lines[begin:end]


def _replace(draft: Draft) -> None:
    begin, end = draft.block()
    draft.lines[begin:end] = draft.strangers()


def _edit(draft: Draft) -> None:
    """Change a word in some of the lines of a block."""
    begin, end = draft.block()
    for at in range(begin, end):
        number, line = draft.lines[at]
        words = _WORD.findall(line)
        if words and draft.rng.random() < 0.3:
            draft.lines[at] = (
                number,
                line.replace(draft.rng.choice(words), f"changed_{draft.rng.randrange(100)}", 1),
            )


def _reindent(draft: Draft) -> None:
    begin, end = draft.block()
    draft.lines[begin:end] = [
        (number, f"    {line}" if line else line) for number, line in draft.lines[begin:end]
    ]


def _reformat(draft: Draft) -> None:
    """Halve or double the indentation of the whole file, as a formatter does."""
    width = draft.rng.choice((0.5, 2.0))
    for at, (number, line) in enumerate(draft.lines):
        bare = line.lstrip(" ")
        draft.lines[at] = number, " " * round((len(line) - len(bare)) * width) + bare


def _rename(draft: Draft) -> None:
    """Rename five identifiers everywhere."""
    words = sorted({word for _, line in draft.lines for word in _WORD.findall(line)})
    names = {word: f"{word}_renamed" for word in draft.rng.sample(words, min(5, len(words)))}
    draft.lines[:] = [
        (number, _WORD.sub(lambda word: names.get(word[0], word[0]), line))
        for number, line in draft.lines
    ]


def _move(draft: Draft) -> None:
    begin, end = draft.block()
    block = draft.lines[begin:end]
    del draft.lines[begin:end]
    at = draft.rng.randrange(len(draft.lines))
    draft.lines[at:at] = block


def _copy_above(draft: Draft) -> None:
    begin, end = draft.block()
    at = draft.rng.choice((begin, draft.rng.randint(0, begin)))
    draft.lines[at:at] = [(DEAD, line) for _, line in draft.lines[begin:end]]


def _copy_below(draft: Draft) -> None:
    begin, end = draft.block()
    at = draft.rng.choice((end, draft.rng.randint(end, len(draft.lines))))
    draft.lines[at:at] = [(DEAD, line) for _, line in draft.lines[begin:end]]


def _mix(draft: Draft) -> None:
    for _ in range(draft.rng.randint(3, 12)):
        draft.rng.choice(
            (
                _insert,
                _insert,
                _delete,
                _replace,
                _edit,
                _edit,
                _reindent,
                _move,
                _copy_above,
                _copy_below,
            )
        )(draft)


EDITS: Final[Mapping[str, Callable[[Draft], None]]] = {
    "insert": _insert,
    "delete": _delete,
    "replace": _replace,
    "edit": _edit,
    "reindent": _reindent,
    "reformat": _reformat,
    "rename": _rename,
    "move": _move,
    "copy above": _copy_above,
    "copy below": _copy_below,
    "mixed": _mix,
}
_TWINS: Final[Mapping[str, Callable[[list[_LINE], int, int], None]]] = {
    "a copy deleted": lambda lines, begin, end: lines.__delitem__(slice(begin, end)),
    "a copy edited": lambda lines, begin, end: lines.__setitem__(
        slice(begin, end), [(number, f"{line} edited") for number, line in lines[begin:end]]
    ),
}
KINDS: Final = (*EDITS, *_TWINS)


def generated(
    rng: random.Random, texts: Sequence[tuple[str, Sequence[str]]], count: int
) -> Iterator[Case]:
    """Give so many cases of every kind in turn, made of files given by name and lines."""
    usable = [(name, lines) for name, lines in texts if len(lines) >= _SHORTEST]
    for turn in range(count if usable else 0):
        kind = KINDS[turn % len(KINDS)]
        name, lines = rng.choice(usable)
        _, foreign = rng.choice(usable)
        yield (
            _edited_twin(rng, kind, name, lines)
            if kind in _TWINS
            else _edited(rng, kind, name, lines, foreign)
        )


def _edited(
    rng: random.Random, kind: str, name: str, lines: Sequence[str], foreign: Sequence[str]
) -> Case:
    draft = Draft(rng, list(enumerate(lines, 1)), foreign)
    EDITS[kind](draft)
    return _case(rng, (kind, name), lines, draft.lines, draft.touched)


def _edited_twin(rng: random.Random, kind: str, name: str, lines: Sequence[str]) -> Case:
    """Put a copy of a block into the old text, then do something to one of the two."""
    length = rng.randint(1, min(_LONGEST_BLOCK, len(lines) // 4))
    begin = rng.randrange(len(lines) // 2)
    at = rng.randint(
        begin + length + _APART, len(lines)
    )  # of two copies side by side nothing could say which one went
    old = [*lines[:at], *lines[begin : begin + length], *lines[at:]]
    new = list(enumerate(old, 1))
    chosen = rng.choice((begin, at))
    _TWINS[kind](new, chosen, chosen + length)
    return _case(rng, (kind, name), old, new, [(begin + 1, begin + length), (at + 1, at + length)])


def _case(
    rng: random.Random,
    about: tuple[str, str],
    old: Sequence[str],
    new: Sequence[_LINE],
    touched: Sequence[Range],
) -> Case:
    lines = [DEAD] * (len(old) + 1)
    strangers: dict[str, set[int]] = defaultdict(set)
    for place, (number, line) in enumerate(new, 1):
        if number != DEAD:
            lines[number] = place
        else:
            strangers[line].add(place)
    doubts = {
        number: strangers[line]
        for number, line in enumerate(old, 1)
        if line in strangers and lines[number] > 0
    }
    before, after = (
        "".join(f"{line}\n" for line in each) for each in (old, [line for _, line in new])
    )
    truth = Truth(lines, doubts)
    return Case(
        f"generated: {about[0]}",
        about[1],
        ("as it was", about[0]),
        Text(before),
        Text(after),
        choose_ranges(rng, old, touched),
        truth,
    )
