"""The project's own files as saved, and recorded paths that name none of them (R19)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.model.paths import PathKind, normal_path, path_kind
from vibes_lsp.store.files import is_circular, is_inside, read_file

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
    if not is_inside(project / path, project) and not is_circular(project / path):
        raise UnreadableFile(f"{path} leads out of the project")
    data = read_file(project / path, limit=limit)
    if data is None:
        raise UnreadableFile(f"{path} is not there", hint=hint)
    return data


_WORDS: Final = {
    PathKind.ABSOLUTE: "absolute",
    PathKind.ESCAPING: "leaves the project",
    PathKind.UNUSABLE: "not a path",
    PathKind.TOO_LONG: "longer than any file's",
}
ABSENT: Final = "not there"


def foreign_paths(paths: Iterable[str], project: Path) -> dict[str, str]:
    """Return the paths that name no file below `project`, each with the reason in words."""
    foreign: dict[str, str] = {}
    for path in paths:
        reason = _WORDS.get(path_kind(path))
        if reason is None and not _is_file(project / normal_path(path)):
            reason = ABSENT
        if reason is not None:
            foreign[path] = reason
    return foreign


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that this system cannot have
        return False
