"""Read HEAD and detect changes of a repository without running git, from its files."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from vibes_lsp.store.file_stamps import file_stamp
from vibes_lsp.store.git_folders import SHARED_REF, first_line, git_folders, nearest_marker

_NOTES: Final = "refs/notes/ai"
"""The ref of the notes that answers show (`exchange.note_overlay`)."""
_FIRST_FILES: Final = ("HEAD", "commondir", "config.worktree", "index")
_COMMON_FILES: Final = (
    "config",
    "packed-refs",
    "shallow",
    "info/attributes",
    "info/exclude",
    "objects/info/alternates",
)


class RepositoryState:
    """HEAD, its branch, the index and the notes of a folder's repository, as last seen.

    Args:
        folder: A folder of the work tree; there may be no repository.
    """

    def __init__(self, folder: Path) -> None:
        self._markers = [ancestor / ".git" for ancestor in (folder, *folder.absolute().parents)]
        self._seen: tuple[object, ...] | None = None

    def refresh(self) -> bool:
        """Return whether anything changed since the last call; False the first time."""
        before, self._seen = self._seen, self._look()
        return before is not None and before != self._seen

    def _look(self) -> tuple[object, ...]:
        marker = next(filter(os.path.lexists, self._markers), None)
        if marker is None:
            return ()
        git, common = git_folders(marker)
        branch = first_line(git / "HEAD").removeprefix("ref: ")
        shared = (branch, "packed-refs", "shallow", "reftable/tables.list", _NOTES)
        watched = (git / "HEAD", git / "index", *(common / name for name in shared))
        return marker, *map(file_stamp, watched)


def common_git_folder(folder: Path) -> Path | None:
    """Return the git directory that holds the refs of a work tree; None outside one."""
    marker = folder / ".git"
    return git_folders(marker)[1] if os.path.lexists(marker) else None


def is_partial_clone(folder: Path) -> bool:
    """Return whether objects may be missing in a folder's repository, and fetched when needed."""
    common = _common_folder_above(folder)
    return common is not None and any(common.glob("objects/pack/*.promisor"))


def special_file(folder: Path) -> str | None:
    """Return a file of a folder's repository that git would wait for, such as a pipe; else None.

    Git opens these files first, and blocks where another program must write into one.
    """
    marker = nearest_marker(str(folder))
    if marker is None:
        return None
    git, common = git_folders(marker)
    branch = first_line(git / "HEAD").removeprefix("ref: ")
    names = [git / name for name in _FIRST_FILES]
    names += [common / name for name in _COMMON_FILES]
    if SHARED_REF.fullmatch(branch):
        names.append(common / branch)
    return next((str(name) for name in names if is_special(name)), None)


def is_special(file: Path) -> bool:
    """Return whether there is something else than a regular file, such as a pipe or device."""
    try:
        return not stat.S_ISREG(os.stat(file).st_mode)  # noqa: PTH116  # half the time of a Path's
    except (OSError, ValueError):
        return False


def shared_repository(folder: Path, other_folder: Path) -> bool:
    """Return whether two folders are in work trees of the same repository."""
    first, second = (_common_folder_above(path) for path in (folder, other_folder))
    return first is not None and first == second


def _common_folder_above(folder: Path) -> Path | None:
    marker = nearest_marker(str(folder))
    return None if marker is None else git_folders(marker)[1].resolve()
