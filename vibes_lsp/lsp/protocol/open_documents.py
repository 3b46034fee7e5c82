"""Open documents: the client's lines, and the changes that led to the version.

The library's own buffer splits lines where no editor does, and copies the text for each change.

A line ends at LF, as for an anchor, git, Neovim, Emacs and Helix. LSP also names a CR alone, but
these editors send one as a part of its line; others never send one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from lsprotocol import types

from vibes_lsp.anchors.text import BOM, Text
from vibes_lsp.lsp.protocol.conversion import Encoding, to_characters, to_column
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME

_MAX_AUDIT_TEXT: Final = 32 << 20
"""Characters of the largest text of an audit file that is kept: a log of some ten thousands."""
_MAX_VERSIONS: Final = 64
_MAX_LINES: Final = 1 << 20
"""Lines of all earlier versions of a document that are kept; one version is kept at any length."""


class Document:
    """An open document with its recent versions.

    Attributes:
        uri: Its URI.
        version: The client's version.
        revision: Incremented by every change, unlike the version of some clients.
        saved: The text that was last opened or saved; `text` itself while there is no change since.
        saved_revision: The revision of that text.
        is_typing: Whether the user is typing; the disk is read in the pause that follows.
    """

    def __init__(self, uri: str, version: int, content: str) -> None:
        self.uri = uri
        self.version = version
        self.revision = 0
        self.saved_revision = 0
        self.is_typing = False
        self._lines = _split(content)
        self.saved = Text(content)
        self._text: Text | None = self.saved
        self._earlier: deque[tuple[int, list[str]]] = deque(maxlen=_MAX_VERSIONS)

    @property
    def text(self) -> Text:
        """The text as anchors see it. The value does not change with the document."""
        if self._text is None:
            self._text = Text("".join(self._lines))
        return self._text

    @property
    def content(self) -> str:
        """The whole text."""
        return self.text.content

    @property
    def has_changes(self) -> bool:
        """Whether it was changed since it was opened or saved, even back to the same text."""
        return self.revision != self.saved_revision

    @property
    def previous_version(self) -> int:
        """The version before the last change; the current one if no change is kept."""
        return self._earlier[-1][0] if self._earlier else self.version

    @property
    def length(self) -> int:
        """The number of lines as anchors see them."""
        return len(self._lines) - (not self.lines(len(self._lines), len(self._lines)))

    def text_at(self, version: int) -> str | None:
        """Return the whole text at a version; None for a later one, or one that is not kept."""
        if version == self.version:
            return self.content
        kept = (lines for earlier, lines in self._earlier if earlier == version)
        return next(("".join(lines) for lines in kept), None)

    def lines(self, start: int, end: int) -> Sequence[str]:
        """Return lines as anchors see them, 1-based and inclusive, without their ends.

        There are fewer if the text ends before.
        """
        lines = [_without_end(line) for line in self._lines[start - 1 : end]]
        if start == 1 and lines:
            lines[0] = lines[0].removeprefix(BOM)
        last = self._lines[-1]
        if lines and end >= len(self._lines) and (not last or (last == BOM and len(lines) == 1)):
            lines.pop()  # what follows the last line end
        return lines

    def save(self) -> None:
        """Record that the current text was saved."""
        self.saved = self.text
        self.saved_revision = self.revision
        self.is_typing = False

    def change(
        self,
        version: int | None,
        changes: Sequence[types.TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) -> None:
        """Apply changes in order. A position beyond a line or the text counts as its end.

        A client may gather what is typed: with as many changes as versions, each change makes one.
        """
        is_one_each = version == self.version + len(changes)
        for change in changes:
            self._keep_version()
            if isinstance(change, types.TextDocumentContentChangeWholeDocument):
                self._lines = _split(change.text)
            else:
                self._apply(change.range, change.text, encoding)
            self.version += is_one_each
        if not is_one_each:
            self.version = version if version is not None else self.version + 1
        self.revision += 1
        self._text = None

    def _keep_version(self) -> None:
        """Keep the lines of the current version, which a change is about to replace."""
        if not self._earlier or self._earlier[-1][0] != self.version:
            self._earlier.append((self.version, list(self._lines)))
        while len(self._earlier) > 1 and len(self._earlier) * len(self._lines) > _MAX_LINES:
            self._earlier.popleft()

    def _apply(self, within: types.Range, text: str, encoding: Encoding) -> None:
        first, start = self._position(within.start, encoding)
        last, end = max((first, start), self._position(within.end, encoding))
        new = _split(self._lines[first][:start] + text + self._lines[last][end:])
        if last + 1 < len(self._lines):
            new.pop()  # which is empty: another line follows the last line end
        self._lines[first : last + 1] = new

    def _position(self, position: types.Position, encoding: Encoding) -> tuple[int, int]:
        """Return the index of a position's line, and the number of characters before it."""
        if position.line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        return position.line, _characters(self._lines[position.line], position.character, encoding)


class Documents:
    """The open documents by URI.

    Attributes:
        encoding: The unit in which the client counts columns, as negotiated with it.
    """

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}
        self._refused: set[str] = set()
        self.encoding: Encoding = types.PositionEncodingKind.Utf16

    def open(self, uri: str, version: int, content: str) -> None:
        """Open a document, again if it is open already; refuse a large file of a trail."""
        if len(content) > _MAX_AUDIT_TEXT and f"/{AUDIT_DIR_NAME}/" in uri:
            self._open.pop(uri, None)
            self._refused.add(uri)
            return
        self._refused.discard(uri)
        self._open[uri] = Document(uri, version, content)

    def is_refused(self, uri: str) -> bool:
        """Whether the text of a document that the client has open was too large."""
        return uri in self._refused

    def change(
        self, uri: str, version: int | None, changes: Sequence[types.TextDocumentContentChangeEvent]
    ) -> None:
        """Apply changes to a document; nothing if it is not open."""
        document = self._open.get(uri)
        if document is not None:
            document.change(version, changes, self.encoding)

    def save(self, uri: str) -> None:
        """Record that a document was saved."""
        document = self._open.get(uri)
        if document is not None:
            document.save()

    def set_typing(self, uri: str, *, now: bool) -> None:
        """Record that the user is typing in a document, or has stopped."""
        document = self._open.get(uri)
        if document is not None:
            document.is_typing = now

    def close(self, uri: str) -> None:
        """Close a document."""
        self._open.pop(uri, None)
        self._refused.discard(uri)

    def get(self, uri: str) -> Document | None:
        """Return an open document; None when it is not open."""
        return self._open.get(uri)

    def uris(self) -> list[str]:
        """Return the URIs of all open documents."""
        return list(self._open)


def _split(text: str) -> list[str]:
    """Return the lines with their ends; the last has none, and may be empty."""
    lines = text.split("\n")
    last = lines.pop()
    return [*(f"{line}\n" for line in lines), last]


def _without_end(line: str) -> str:
    """Return a line without LF or CRLF; at the end of a text a CR alone counts, too (R14)."""
    return line.removesuffix("\n").removesuffix("\r")


def _characters(line: str, column: int, encoding: Encoding) -> int:
    """Return the number of characters before a column; one beyond the line is its end.

    An editor that takes CR for a character, where some lines end at CRLF and others at LF, means
    the place behind it by the column that follows it.
    """
    whole = line.removesuffix("\n")
    if whole.endswith("\r") and column == to_column(whole, len(whole), encoding):
        return len(whole)
    content = whole.removesuffix("\r") if whole != line else whole
    return to_characters(content, column, encoding)


def to_utf16(text: str, line: int, column: int, encoding: Encoding) -> int:
    """Return a column of a text, given in another encoding, in UTF-16."""
    lines = _split(text)
    if line >= len(lines):
        return column
    text = lines[line].removesuffix("\n")
    return to_column(text, to_characters(text, column, encoding), types.PositionEncodingKind.Utf16)
