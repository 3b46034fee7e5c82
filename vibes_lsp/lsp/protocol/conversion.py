"""Convert between LSP's terms and ours: URIs and paths, columns in code units and characters."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from lsprotocol import types
from pygls.uris import to_fs_path

Encoding: TypeAlias = types.PositionEncodingKind | str
FIRST_LINE: Final = types.Range(types.Position(0, 0), types.Position(0, 0))
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
"""The bytes of a character in UTF-8 that follow its first."""


@lru_cache(maxsize=4096)
def path_of(uri: str) -> Path | None:
    """Return the absolute, normalized path of a URI.

    None for what is no file: `untitled:`, a notebook cell, an invalid URI.
    """
    try:
        name = to_fs_path(uri)
    except ValueError:
        return None
    return Path(os.path.normpath(name)).absolute() if name and "\0" not in name else None


@lru_cache(maxsize=4096)
def folder_of(uri: str) -> str | None:
    """Return the folder of the file of a URI, as an absolute path; None for what is no file."""
    file = path_of(uri)
    return None if file is None else str(file.parent)


def uri_in(project: Path, path: str) -> str | None:
    """Return the URI of a path in a project; None for one with half a surrogate pair."""
    try:
        return (project / path).as_uri()
    except ValueError:
        return None


def to_characters(line: str, units: int, encoding: Encoding) -> int:
    """Return how many characters the first `units` code units of a line are.

    A character that is cut does not count.
    """
    if line.isascii() or encoding == types.PositionEncodingKind.Utf32:
        return min(units, len(line))
    if encoding == types.PositionEncodingKind.Utf8:
        encoded = line.encode("utf-8", "surrogatepass")
        is_cut = units < len(encoded) and encoded[units] in _CONTINUATION
        return len(encoded[:units].translate(None, _CONTINUATION)) - is_cut
    head = line.encode("utf-16-le", "surrogatepass")[: 2 * units].decode(
        "utf-16-le", "surrogatepass"
    )
    return len(head) if line.startswith(head) else _count_utf16(line, units)


def to_column(line: str, characters: int, encoding: Encoding) -> int:
    """Return the column, in code units, that follows the first `characters` of a line."""
    head = line[:characters]
    if head.isascii() or encoding == types.PositionEncodingKind.Utf32:
        return len(head)
    if encoding == types.PositionEncodingKind.Utf8:
        return len(head.encode("utf-8", "surrogatepass"))
    return len(head.encode("utf-16-le", "surrogatepass")) // 2


def range_in_line(text: str, line: int, span: tuple[int, int], encoding: Encoding) -> types.Range:
    """Return the range of characters of a line.

    Args:
        text: The line.
        line: Its number, from 0.
        span: The first character, and the one after the last, from 0.
        encoding: What columns count.
    """
    start, end = (types.Position(line, to_column(text, at, encoding)) for at in span)
    return types.Range(start, end)


def range_of_lines(start: int, end: int) -> types.Range:
    """Return the range of whole lines, which are numbered from 1, with the last line break."""
    return types.Range(types.Position(start - 1, 0), types.Position(end, 0))


def lines_of(within: types.Range) -> tuple[int, int]:
    """Return the first and last line of a range, 1-based.

    An end at character 0 does not count its line, unless the range is empty.
    """
    first, last = within.start.line + 1, within.end.line + (within.end.character > 0)
    return first, max(first, last)


def place_of_lines(lines: Sequence[str], start: int, end: int, encoding: Encoding) -> types.Range:
    """Return the range of whole lines to open or list, numbered from 1.

    It ends on the last of them: editors show and select the line on which a place ends.
    """
    last = lines[end - 1] if end <= len(lines) else ""  # a file may get shorter meanwhile
    return types.Range(
        types.Position(start - 1, 0), types.Position(end - 1, to_column(last, len(last), encoding))
    )


def _count_utf16(line: str, units: int) -> int:
    """Count characters one by one: a pair is cut, or lone surrogates meet and form one."""
    column = 0
    for number, character in enumerate(line):
        column += 2 if character > "\uffff" else 1
        if column > units:
            return number
    return len(line)
