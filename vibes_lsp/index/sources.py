"""The project's own files, as they are saved: what placements are looked for in."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.store.disk import inside, is_circular, read_file

_MAX_SOURCE: Final = 64 << 20
"""Largest source file that is looked at, in bytes."""

_HINT: Final = "give a file of the project"


def read_source(project: Path, path: str, *, limit: int = _MAX_SOURCE, hint: str = _HINT) -> Text:
    """Return the text of a file of the project; raises what `read_content` does."""
    return Text.from_bytes(read_content(project, path, limit=limit, hint=hint))


def read_content(project: Path, path: str, *, limit: int = _MAX_SOURCE, hint: str = _HINT) -> bytes:
    """Return the bytes of a file of the project.

    Args:
        project: The project's root.
        path: Relative to it.
        limit: Largest file that is read, in bytes.
        hint: What to do when it is not there.

    Raises:
        UnreadableFile: It is not there, cannot be read, or is a link out of the project (R19).
    """
    if not inside(project / path, project) and not is_circular(project / path):
        raise UnreadableFile(f"{path} leads out of the project")
    data = read_file(project / path, limit=limit)
    if data is None:
        raise UnreadableFile(f"{path} is not there", hint=hint)
    return data
