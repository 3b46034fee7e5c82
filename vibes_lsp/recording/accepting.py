"""What accepting an inline completion does to a text: which lines it wrote, and where lines that were there before are now. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from vibes_lsp.anchors.text import BOM, replace_invalid
from vibes_lsp.model.vocabulary import Action

Place: TypeAlias = tuple[int, int]
"""A position as LSP has it: line and UTF-16 column, both from 0."""

_LINE_END: Final = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Accepted:
    """A text after a completion was accepted.

    Attributes:
        text: All of it.
        lines: First and last line, 1-based, that the completion wrote in; None when it wrote nothing but white space.
        action: Whether it only put something in, or also took something away.
        above: Number of the line in which it began.
        removed: How many line ends it took away.
        added: How many it put in.
        replaced: The lines that stood in its place before.
    """

    text: str
    lines: tuple[int, int] | None
    action: str
    above: int
    removed: int
    added: int
    replaced: tuple[str, ...] = ()

    def follow(self, start: int, end: int) -> tuple[int, int]:
        """Return where lines of the text before are in the text after; what replaced some of them counts as theirs."""
        below, shift = self.above + self.removed, self.added - self.removed
        first = start if start <= self.above else self.above if start <= below else start + shift
        last = (
            end if end <= self.above else self.above + self.added if end <= below else end + shift
        )
        return first, last


def accept(before: str, start: Place, end: Place, new_text: str) -> Accepted:
    """Return the text in which a completion has replaced a range.

    What the range and the completion have in common at their ends, such as what was typed of a word, was there before and counts for nothing.

    Args:
        before: The text before.
        start: Of the range.
        end: Of the range; a place beyond a line or the text counts as its end.
        new_text: The completion; it gets the line ends of the text.
    """
    new = _with_ends_of(before, new_text)
    first = _offset(before, start)
    last = max(first, _offset(before, end))
    replaced = before[first:last]
    after = before[:first] + new + before[last:]
    above = _common(replaced, new)
    below = _common(replaced[above:][::-1], new[above:][::-1])
    action = Action.MODIFY if replaced[above : len(replaced) - below].strip() else Action.CREATE
    written = _written(after, first + above, first + len(new) - below)
    head, tail = before.rfind("\n", 0, first) + 1, before.find("\n", last)
    stood = [
        replace_invalid(line.strip())
        for line in before[head : len(before) if tail < 0 else tail].split("\n")
    ]
    begun = 1 + before.count("\n", 0, first)
    return Accepted(
        after, written, action.value, begun, replaced.count("\n"), new.count("\n"), tuple(stood)
    )


def accepted_already(now: str, start: Place, end: Place, new_text: str) -> Accepted | None:
    """Return a text in which a completion stands where it was put; None when it does not.

    Args:
        now: The text.
        start: Of the range that it replaced.
        end: Of that range.
        new_text: The completion.
    """
    new = _with_ends_of(now, new_text)
    first = _offset(now, start)
    if not new.strip() or not now.startswith(new, first):
        return None
    action = Action.CREATE if start == end else Action.MODIFY
    begun = 1 + now.count("\n", 0, first)
    return Accepted(
        now,
        _written(now, first, first + len(new)),
        action.value,
        begun,
        end[0] - start[0],
        new.count("\n"),
    )


def line_count(text: str) -> int:
    """Return how many lines a text has in an editor: an empty one after the last line end counts."""
    return 1 + sum(1 for _ in _LINE_END.finditer(text))


def _written(text: str, start: int, stop: int) -> tuple[int, int] | None:
    """Return the lines that some characters are on; blanks around them are on no line of theirs."""
    body = text[start:stop]
    if not body.strip():
        return None
    first, last = start + len(body) - len(body.lstrip()), start + len(body.rstrip()) - 1
    return 1 + text.count("\n", 0, first), 1 + text.count("\n", 0, last)


def _common(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    shortest = min(len(one), len(other))
    return next((number for number in range(shortest) if one[number] != other[number]), shortest)


def _offset(text: str, place: Place) -> int:
    line, column = place
    begin = len(BOM) if text.startswith(BOM) else 0
    ends = _LINE_END.finditer(text)
    for _ in range(line):
        found = next(ends, None)
        if found is None:
            return len(text)
        begin = found.end()
    found = next(ends, None)
    content = text[begin : len(text) if found is None else found.start()]
    head = content.encode("utf-16-le", "surrogatepass")[: 2 * column].decode("utf-16-le", "ignore")
    return begin + min(len(head), len(content))


def _with_ends_of(text: str, new: str) -> str:
    """Return a completion with the line ends that the text has, as an editor puts it in."""
    end = _LINE_END.search(text)
    return new if end is None or end[0] == "\r" else re.sub(r"\r\n|\n", lambda _: end[0], new)
