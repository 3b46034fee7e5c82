"""Apply an inline completion to a text: which lines it wrote, and where other lines moved. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from vibes_lsp.anchors.text import BOM, replace_invalid
from vibes_lsp.model.vocabulary import Action

LineColumn: TypeAlias = tuple[int, int]
"""A position as in LSP: line and UTF-16 column, both from 0."""

_LINE_END: Final = re.compile(r"\r?\n")


@dataclass(frozen=True, slots=True)
class AppliedEdit:
    """A text after a completion was accepted.

    Attributes:
        text: The whole text.
        lines: First and last line, 1-based, with text of the completion; None when that is white
            space only.
        action: `create` when it only inserted text, else `modify`.
        first_line: The line in which it begins, 1-based.
        removed: How many line ends it removed.
        added: How many line ends it inserted.
        replaced: The lines that it replaced, without leading and trailing blanks.
    """

    text: str
    lines: tuple[int, int] | None
    action: str
    first_line: int
    removed: int
    added: int
    replaced: tuple[str, ...] = ()

    def follow(self, start: int, end: int) -> tuple[int, int]:
        """Return the new numbers of lines of the text before; replaced lines extend to the edit."""
        below, shift = self.first_line + self.removed, self.added - self.removed
        first = (
            start
            if start <= self.first_line
            else self.first_line
            if start <= below
            else start + shift
        )
        last = (
            end
            if end <= self.first_line
            else self.first_line + self.added
            if end <= below
            else end + shift
        )
        return first, last


def apply_edit(before: str, start: LineColumn, end: LineColumn, new_text: str) -> AppliedEdit:
    """Return the text in which a completion has replaced a range.

    A common prefix and suffix of the range and the completion, such as the typed part of a word, is
    not counted as written.

    Args:
        before: The text before.
        start: Start of the range.
        end: End of the range; a position beyond a line or the text is its end.
        new_text: The completion; it gets the line ends of the text.
    """
    new = _with_ends_of(before, new_text)
    first = _offset(before, start)
    last = max(first, _offset(before, end))
    replaced = before[first:last]
    after = before[:first] + new + before[last:]
    prefix = _common_length(replaced, new)
    suffix = _common_length(replaced[prefix:][::-1], new[prefix:][::-1])
    action = Action.MODIFY if replaced[prefix : len(replaced) - suffix].strip() else Action.CREATE
    written = _written(after, first + prefix, first + len(new) - suffix)
    head, tail = before.rfind("\n", 0, first) + 1, before.find("\n", last)
    old_lines = [
        replace_invalid(line.strip())
        for line in before[head : len(before) if tail < 0 else tail].split("\n")
    ]
    first_line = 1 + before.count("\n", 0, first)
    return AppliedEdit(
        after,
        written,
        action.value,
        first_line,
        replaced.count("\n"),
        new.count("\n"),
        tuple(old_lines),
    )


def find_applied_edit(
    now: str, start: LineColumn, end: LineColumn, new_text: str
) -> AppliedEdit | None:
    """Return a text that already has a completion at its position; None when it does not.

    Args:
        now: The text.
        start: Start of the range that it replaced.
        end: End of that range.
        new_text: The completion.
    """
    new = _with_ends_of(now, new_text)
    first = _offset(now, start)
    if not new.strip() or not now.startswith(new, first):
        return None
    action = Action.CREATE if start == end else Action.MODIFY
    first_line = 1 + now.count("\n", 0, first)
    return AppliedEdit(
        now,
        _written(now, first, first + len(new)),
        action.value,
        first_line,
        end[0] - start[0],
        new.count("\n"),
    )


def _written(text: str, start: int, stop: int) -> tuple[int, int] | None:
    """Return the lines of some characters without the blanks around them."""
    body = text[start:stop]
    if not body.strip():
        return None
    first, last = start + len(body) - len(body.lstrip()), start + len(body.rstrip()) - 1
    return 1 + text.count("\n", 0, first), 1 + text.count("\n", 0, last)


def _common_length(first: str, second: str) -> int:
    """Return the length of the common prefix of two texts."""
    shortest = min(len(first), len(second))
    return next((number for number in range(shortest) if first[number] != second[number]), shortest)


def _offset(text: str, position: LineColumn) -> int:
    line, column = position
    begin = len(BOM) if text.startswith(BOM) else 0
    ends = _LINE_END.finditer(text)
    for _ in range(line):
        line_end = next(ends, None)
        if line_end is None:
            return len(text)
        begin = line_end.end()
    line_end = next(ends, None)
    content = text[begin : len(text) if line_end is None else line_end.start()]
    head = content.encode("utf-16-le", "surrogatepass")[: 2 * column].decode("utf-16-le", "ignore")
    return begin + min(len(head), len(content))


def _with_ends_of(text: str, new: str) -> str:
    """Return a completion with the line ends of the text, as an editor inserts it."""
    end = _LINE_END.search(text)
    return new if end is None else _LINE_END.sub(end[0], new)
