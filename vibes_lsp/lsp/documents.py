"""Open documents: lines as the client has them, changed as LSP says, and the changes that led to the current version."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from lsprotocol import types

from vibes_lsp.anchors.live_edits import Edits
from vibes_lsp.anchors.text import BOM, Text
from vibes_lsp.lsp.conversion import Encoding, to_characters, to_utf16_column

_CHANGES: Final = 256
_CHARACTERS: Final = 4 << 20
"""How much replaced text is kept, at most."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """Lines that were replaced.

    Attributes:
        first: Index of the first of them.
        new: How many lines stand there now.
        old: They, with their ends.
    """

    first: int
    new: int
    old: Sequence[str]

    @property
    def size(self) -> int:
        """The number of characters."""
        return sum(map(len, self.old))


class RecentChanges:
    """The last changes of a document; the oldest are forgotten when there are many, or much text was replaced."""

    def __init__(self) -> None:
        self._changes: deque[tuple[int, Replaced]] = deque()
        self._characters = 0

    def add(self, version: int, replaced: Replaced) -> None:
        """Take in a change.

        Args:
            version: Of the document before it; several changes may lead from one version to the next.
            replaced: What it replaced.
        """
        self._changes.append((version, replaced))
        self._characters += replaced.size
        while self._changes and (len(self._changes) > _CHANGES or self._characters > _CHARACTERS):
            forgotten = self._changes[0][0]
            while self._changes and self._changes[0][0] == forgotten:  # half of a version is none
                self._characters -= self._changes.popleft()[1].size

    def latest(self, now: int) -> int:
        """Return the version before the last change; `now` where none is remembered."""
        return self._changes[-1][0] if self._changes else now

    def lines(self, now: Sequence[str], version: int) -> list[str] | None:
        """Return the lines as they were at a version; None when that is not known any more.

        Args:
            now: The lines as they are.
            version: One before the present.
        """
        if all(before != version for before, _ in self._changes):
            return None
        lines = list(now)
        is_there = False
        for before, replaced in reversed(self._changes):
            if is_there and before != version:
                break
            lines[replaced.first : replaced.first + replaced.new] = replaced.old
            is_there = before == version
        return lines


_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_ENDS: Final = "\r\n"


class Document:
    """An open document as it is now, and as it was a few changes ago.

    Attributes:
        uri: Its URI.
        version: As the client counts.
        revision: Grows with every change, however the client counts.
        saved: The text that was last opened or saved; `text` itself while there is no change since.
        saved_revision: The revision of that text.
        is_typing: Whether the user is typing; annotations are located in the pause that follows.
    """

    def __init__(self, uri: str, version: int, content: str) -> None:
        self.uri = uri
        self.version = version
        self.revision = 0
        self.saved_revision = 0
        self.is_typing = False
        self._expects_text = False
        self._edits: Edits | None = None
        self._lines = _split(content)
        self._lone = _lone_ends(self._lines) if "\r" in content else 0
        self.saved = Text(content)
        self._text: Text | None = self.saved
        self._past = RecentChanges()

    @property
    def text(self) -> Text:
        """The text as anchors see it; it stays as it is when the document changes."""
        if self._text is None:
            self._text = Text("".join(self._lines))
        return self._text

    @property
    def content(self) -> str:
        """The whole text."""
        return self.text.content

    @property
    def has_changes(self) -> bool:
        """Whether it was changed since it was opened or saved, even if the text is the same again."""
        return self.revision != self.saved_revision

    def save(self) -> None:
        """Record that the current text was saved."""
        self.saved = self.text
        self.saved_revision = self.revision
        self.is_typing = False

    def set_typing(self, *, now: bool) -> None:
        """Record that the user is typing, or has stopped."""
        self.is_typing = now

    @property
    def edits(self) -> Edits | None:
        """The edits since `collect_edits`; None before that, and once a line ended with a lone CR, which ends no line of an anchor."""
        return self._edits

    def collect_edits(self) -> Edits:
        """Return a new collector of the edits from now on; the one before gets no more."""
        self._edits = Edits()
        return self._edits

    def expect_text(self, *, expected: bool) -> None:
        """Record whether the client announced text that the next change inserts."""
        self._expects_text = expected

    def take_expected_text(self) -> bool:
        """Return whether text was announced, once."""
        expected, self._expects_text = self._expects_text, False
        return expected

    def before(self, version: int) -> str | None:
        """Return the whole text as it was at a version; None for one that is to come, or was too long ago."""
        if version == self.version:
            return self.content
        lines = self._past.lines(self._lines, version)
        return None if lines is None else "".join(lines)

    @property
    def previous(self) -> int:
        """The version before the last change; this one, if there was none that is remembered."""
        return self._past.latest(self.version)

    def lines(self, start: int, end: int) -> Sequence[str]:
        """Return some lines as anchors see them, 1-based and inclusive, without their ends; fewer where the text ends before.

        Means nothing while a line ends with a CR alone, which is no end to anchors; then nobody's `edits` are here either.
        """
        found = [line.rstrip(_ENDS) for line in self._lines[start - 1 : end]]
        if start == 1 and found:
            found[0] = found[0].removeprefix(BOM)
        if found and end >= len(self._lines) and not found[-1]:
            found.pop()  # what follows the last line end
        return found

    @property
    def length(self) -> int:
        """The number of lines as anchors see them."""
        return len(self._lines) - (not self.lines(len(self._lines), len(self._lines)))

    def change(
        self,
        version: int | None,
        changes: Sequence[types.TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) -> None:
        """Apply changes in their order; a position beyond a line or the text counts as its end.

        Where there are as many changes as versions, a client gathered what is typed: each change made one of the versions.
        """
        if self._lone:
            self._edits = None
        has_gathered = version == self.version + len(changes)
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangeWholeDocument):
                self._replace(0, len(self._lines), _split(change.text), is_insertion_above=False)
            else:
                self._apply(change.range, change.text, encoding)
            self.version += has_gathered
        if not has_gathered:
            self.version = version if version is not None else self.version + 1
        self.revision += 1
        self._text = None

    def _apply(self, within: types.Range, text: str, encoding: Encoding) -> None:
        first, start = self._place(within.start, encoding)
        last, end = max((first, start), self._place(within.end, encoding))
        new = self._lines[first][:start] + text + self._lines[last][end:]
        if first and new.startswith("\n") and self._lines[first - 1].endswith("\r"):
            first, start = first - 1, 1  # the CR before is half a line end now
            new = self._lines[first] + new
        self._replace(first, last + 1, _split(new), is_insertion_above=start == 0)

    def _place(self, position: types.Position, encoding: Encoding) -> tuple[int, int]:
        """Return the index of the line that a position names, and the number of characters before it in that line."""
        if position.line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        return position.line, to_characters(
            self._lines[position.line].rstrip(_ENDS), position.character, encoding
        )

    def _replace(self, first: int, stop: int, new: list[str], *, is_insertion_above: bool) -> None:
        if stop < len(self._lines):
            new.pop()  # which is empty: another line follows the last line end
        old = self._lines[first:stop]
        self._lines[first:stop] = new
        self._past.add(self.version, Replaced(first, len(new), old))
        self._lone += _lone_ends(new) - (_lone_ends(old) if self._lone else 0)
        if self._lone:
            self._edits = None
        elif self._edits is not None:
            above, below = _same_ends(old, new, below_first=is_insertion_above)
            self._edits.add(first + above, len(old) - above - below, len(new) - above - below)


class Documents:
    """The open documents by URI."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}
        self._encoding: Encoding = types.PositionEncodingKind.Utf16

    @property
    def encoding(self) -> Encoding:
        """The unit in which the client counts columns."""
        return self._encoding

    def use_encoding(self, encoding: Encoding) -> None:
        """Count columns in the unit that was negotiated with the client."""
        self._encoding = encoding

    def opened(self, uri: str, version: int, content: str) -> None:
        """Take over a document; it may be open already, in a client that lost count."""
        self._open[uri] = Document(uri, version, content)

    def changed(
        self, uri: str, version: int | None, changes: Sequence[types.TextDocumentContentChangeEvent]
    ) -> None:
        """Apply changes in their order; those of a document that is not open have nothing to change."""
        document = self._open.get(uri)
        if document is not None:
            document.change(version, changes, self._encoding)

    def saved(self, uri: str) -> None:
        """Take note that a document was saved as it is."""
        document = self._open.get(uri)
        if document is not None:
            document.save()

    def set_typing(self, uri: str, *, now: bool) -> None:
        """Record that the user is typing in a document, or has stopped."""
        document = self._open.get(uri)
        if document is not None:
            document.set_typing(now=now)

    def closed(self, uri: str) -> None:
        """Forget a document."""
        self._open.pop(uri, None)

    def get(self, uri: str) -> Document | None:
        """Return an open document; None when it is not open."""
        return self._open.get(uri)

    def uris(self) -> list[str]:
        """Return the URIs of all open documents."""
        return list(self._open)


def _split(text: str) -> list[str]:
    """Return the lines with their ends; the last has none, and may be empty."""
    if "\r" in text:
        stops = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]
        return [text[start:stop] for start, stop in pairwise(stops)]
    lines = text.split("\n")
    last = lines.pop()
    return [*(f"{line}\n" for line in lines), last]


def _lone_ends(lines: Sequence[str]) -> int:
    """Return how many lines end with a CR alone."""
    return sum(line.endswith("\r") for line in lines)


def _same_ends(old: Sequence[str], new: Sequence[str], *, below_first: bool) -> tuple[int, int]:
    """Return how many lines at the top and at the bottom of what was replaced are as before, whatever ends them.

    Args:
        old: The lines before.
        new: The lines after.
        below_first: Whether a line that may count as either counts as one at the bottom.
    """
    most = min(len(old), len(new))
    above = 0 if below_first else _same(old, new, most)
    below = _same(old[::-1], new[::-1], most - above)
    return (_same(old, new, most - below), below) if below_first else (above, below)


def _same(one: Sequence[str], other: Sequence[str], most: int) -> int:
    """Return how many lines are the same before the first that differs."""
    for number in range(most):
        if one[number] != other[number] and one[number].rstrip(_ENDS) != other[number].rstrip(
            _ENDS
        ):
            return number
    return most


def to_utf16(text: str, line: int, column: int, encoding: Encoding) -> int:
    """Return a column of a text, given in another encoding, in UTF-16."""
    lines = _split(text)
    return (
        to_utf16_column(lines[line].rstrip(_ENDS), column, encoding)
        if line < len(lines)
        else column
    )
