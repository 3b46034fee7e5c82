"""Open documents: their text as the client has it, changed as LSP says, whatever the library's own copy thinks.

LSP knows three line ends: LF, CRLF and CR. Columns are counted in the encoding that was negotiated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from lsprotocol import types

from vibes_lsp.anchors.text import Text

Encoding: TypeAlias = types.PositionEncodingKind | str
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Document:
    """One version of an open document."""

    uri: str
    version: int
    content: str

    @cached_property
    def text(self) -> Text:
        """The text as anchors see it."""
        return Text(self.content)


class Documents:
    """The open documents by URI."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}
        self.encoding: Encoding = types.PositionEncodingKind.Utf16

    def opened(self, uri: str, version: int, content: str) -> None:
        """Take over a document; it may be open already, in a client that lost count."""
        self._open[uri] = Document(uri, version, content)

    def changed(self, uri: str, version: int | None, changes: list[types.TextDocumentContentChangeEvent]) -> None:
        """Apply changes in their order; those of a document that is not open have nothing to change."""
        document = self._open.get(uri)
        if document is None:
            return
        content = document.content
        for change in changes:
            content = apply_change(content, change, self.encoding)
        self._open[uri] = Document(uri, version if version is not None else document.version + 1, content)

    def closed(self, uri: str) -> None:
        """Forget a document."""
        self._open.pop(uri, None)

    def get(self, uri: str) -> Document | None:
        """Return an open document; None when it is not open."""
        return self._open.get(uri)

    def uris(self) -> list[str]:
        """Return the URIs of all open documents."""
        return list(self._open)


def apply_change(content: str, change: types.TextDocumentContentChangeEvent, encoding: Encoding) -> str:
    """Return a text after one change; a position beyond a line or the text counts as its end."""
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return change.text
    starts = line_starts(content)
    begin = offset_at(content, starts, change.range.start, encoding)
    end = offset_at(content, starts, change.range.end, encoding)
    return content[:begin] + change.text + content[max(begin, end) :]


def line_starts(content: str) -> list[int]:
    """Return the offset at which each line begins."""
    return [0, *(match.end() for match in _LINE_END.finditer(content))]


def offset_at(content: str, starts: list[int], position: types.Position, encoding: Encoding) -> int:
    """Return the offset in characters that a position names."""
    if position.line >= len(starts):
        return len(content)
    start = starts[position.line]
    stop = starts[position.line + 1] if position.line + 1 < len(starts) else len(content)
    line = content[start:stop].rstrip("\r\n")
    return start + _characters(line, position.character, encoding)


def _characters(line: str, units: int, encoding: Encoding) -> int:
    """Return how many characters the first `units` code units of a line are; one that is cut counts as before it."""
    if line.isascii() or encoding == types.PositionEncodingKind.Utf32:
        return min(units, len(line))
    if encoding == types.PositionEncodingKind.Utf8:
        return len(line.encode("utf-8", "surrogatepass")[:units].decode("utf-8", "ignore"))
    return len(line.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore"))


def columns(line: str, characters: int, encoding: Encoding) -> int:
    """Return the column, in code units, that follows the first `characters` of a line."""
    head = line[:characters]
    if head.isascii() or encoding == types.PositionEncodingKind.Utf32:
        return len(head)
    if encoding == types.PositionEncodingKind.Utf8:
        return len(head.encode("utf-8", "surrogatepass"))
    return len(head.encode("utf-16-le", "surrogatepass")) // 2
