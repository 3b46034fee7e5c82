"""Texts of agents as their file has them, so that lines are the same (R14). Pure.

Agents show the lines of a file with other ends than it has, its start without the byte-order mark,
and characters where the file has bytes of another encoding than UTF-8.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from vibes_lsp.agents.events import DiffHunk, FileEdit, PatchChunk, lines_after
from vibes_lsp.anchors.encodings import encoding_of, in_encoding
from vibes_lsp.anchors.text import BOM

_Part = TypeVar("_Part", DiffHunk, PatchChunk)


def plain_text(text: str) -> str:
    """Return a text whose lines end at LF alone."""
    return text.removeprefix(BOM).replace("\r\n", "\n")


def plain_edit(edit: FileEdit) -> FileEdit:
    """Return an edit whose texts have lines that end at LF alone."""
    return replace(
        edit,
        before=_plain(edit.before),
        after=_plain(edit.after),
        old=_plain(edit.old),
        new=_plain(edit.new),
        hunks=tuple(_plain_hunk(hunk) for hunk in edit.hunks),
    )


def in_encoding_of(edit: FileEdit, saved: str | None) -> FileEdit:
    """Return an edit whose texts are as its file has them, which may not be UTF-8.

    Args:
        edit: The edit.
        saved: The file as it is now; None if there is none.

    Raises:
        UnknownEncoding: It has none of the edit's lines in any encoding that is tried.
    """
    texts = [text for text in (edit.after, edit.new) if text is not None]
    lines = [line for hunk in edit.hunks for line in lines_after(hunk)]
    lines += [line for chunk in edit.chunks for line in lines_after(chunk)]
    encoding = None if saved is None else encoding_of(saved, [*texts, *lines])
    if encoding is None:
        return edit

    def saved_as(text: str | None) -> str | None:
        return None if text is None else in_encoding(text, encoding)

    return replace(
        edit,
        before=saved_as(edit.before),
        after=saved_as(edit.after),
        old=saved_as(edit.old),
        new=saved_as(edit.new),
        hunks=tuple(_in_encoding(hunk, encoding) for hunk in edit.hunks),
        chunks=tuple(_in_encoding(chunk, encoding) for chunk in edit.chunks),
    )


def _in_encoding(part: _Part, encoding: str) -> _Part:
    return replace(
        part, lines=tuple((tag, in_encoding(line, encoding)) for tag, line in part.lines)
    )


def _plain(text: str | None) -> str | None:
    return None if text is None else plain_text(text)


def _plain_hunk(hunk: DiffHunk) -> DiffHunk:
    if hunk.new_start > 1:
        return hunk
    return replace(hunk, lines=tuple((tag, line.removeprefix(BOM)) for tag, line in hunk.lines))
