"""The project's own files, as they are saved."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.store.disk import read_file

MAX_SOURCE: Final = 64 << 20
"""Largest source file that is annotated, in bytes."""


def source_text(project: Path, path: str) -> Text:
    """Return a file's text.

    Args:
        project: The project's root.
        path: Relative to it, and inside it.

    Raises:
        UnreadableFile: It is not there, or cannot be read.
    """
    data = read_file(project / path, limit=MAX_SOURCE)
    if data is None:
        raise UnreadableFile(f"{path} is not there", hint="save it first, or give its text")
    return Text.from_bytes(data)
