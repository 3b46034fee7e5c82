"""Recorded paths that name no file of this checkout (R19): other branches, other machines, other projects."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from vibes_lsp.model.paths import PathKind, normal_path, path_kind

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
