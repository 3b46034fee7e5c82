"""Texts without byte-order mark and CR before LF, for which lines are the same (R14). Pure.

Agents show the lines of a file with other ends than it has, and its start without the mark.
"""

from __future__ import annotations

from dataclasses import replace

from vibes_lsp.anchors.text import BOM
from vibes_lsp.ingest.events import DiffHunk, FileEdit


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


def _plain(text: str | None) -> str | None:
    return None if text is None else plain_text(text)


def _plain_hunk(hunk: DiffHunk) -> DiffHunk:
    if hunk.new_start > 1:
        return hunk
    return replace(hunk, lines=tuple((tag, line.removeprefix(BOM)) for tag, line in hunk.lines))
