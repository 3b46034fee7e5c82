"""Tell whether git may have other answers than before, from the times of a repository's files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, TypeAlias

_MAX_BYTES: Final = 4096
_Stamp: TypeAlias = tuple[int, int, int] | None


class RepositoryState:
    """The state of the repository that a folder is in: HEAD, its branch, the index.

    A look costs a few `stat` calls and does not run git.

    Args:
        folder: A folder of the work tree; there may be no repository.
    """

    def __init__(self, folder: Path) -> None:
        self._folders = (folder, *folder.absolute().parents)
        self._seen: tuple[object, ...] | None = None
        self._places: tuple[object, Path, Path] | None = None
        self._branch: tuple[object, str] = None, ""

    def refresh(self) -> bool:
        """Look; return whether anything differs from the last look. The first look finds nothing new."""
        before, self._seen = self._seen, self._now()
        return before is not None and before != self._seen

    def _now(self) -> tuple[object, ...]:
        marker = next(
            (found for each in self._folders if os.path.lexists(found := each / ".git")), None
        )
        if marker is None:
            return ()
        key = marker, _stamp(marker)
        if self._places is None or self._places[0] != key:
            self._places = key, *_folders(marker)
        _, git, common = self._places
        head = _stamp(git / "HEAD")
        if self._branch[0] != head:
            self._branch = head, _read(git / "HEAD").removeprefix("ref: ")
        names = (self._branch[1], "packed-refs", "shallow", "reftable/tables.list")
        return (marker, head, _stamp(git / "index"), *(_stamp(common / name) for name in names))


def _folders(marker: Path) -> tuple[Path, Path]:
    """Return the folder of a work tree's own files, and the one with the branches of all its work trees."""
    git = marker if marker.is_dir() else marker.parent / _read(marker).removeprefix("gitdir: ")
    return git, git / (_read(git / "commondir") or ".")


def _read(file: Path) -> str:
    """Return the start of a small file without its line end; nothing where there is none."""
    try:
        with file.open("rb") as stream:
            return os.fsdecode(stream.read(_MAX_BYTES).rstrip(b"\n"))
    except OSError:
        return ""


def _stamp(file: Path) -> _Stamp:
    try:
        found = file.stat()
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
