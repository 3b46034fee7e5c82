"""What look-ups in git history depend on, read from files without running git.

Two equal states, and files that are unchanged since the first, have the same results.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.exchange.git_ai_notes import NOTES_REF
from vibes_lsp.history.notes import files_of_ref
from vibes_lsp.history.repository import read_shallow_file
from vibes_lsp.store import file_stamps
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.file_stamps import is_settled
from vibes_lsp.store.files import read_file
from vibes_lsp.store.git_folders import git_folders, read_head
from vibes_lsp.store.kept_texts import text_folders
from vibes_lsp.store.waiting import waiting_files

_MAX_HASHED: Final = 64 << 20
"""Largest file that is hashed because it was modified just now, in bytes."""


class Stamp(msgspec.Struct, frozen=True, array_like=True):
    """What changes when a file is written.

    Attributes:
        status: Device, inode, size, and the times of modification and of status change.
        digest: A hash of the content, if it was modified so recently that another change may not
            show; else empty.
    """

    status: tuple[int, int, int, int, int]
    digest: bytes = b""


def stamp_file(path: str) -> Stamp | None:
    """Return the stamp of a regular file; None if there is none."""
    status = file_status(path)
    if status is None:
        return None
    return Stamp(status) if is_settled(max(status[3:])) else Stamp(status, _digest(path))


def is_unchanged(path: str, seen: Stamp | None) -> bool:
    """Whether a file is as it was when it was stamped."""
    status = file_status(path)
    if seen is None or status is None:
        return seen is None and status is None
    return status == seen.status and (not seen.digest or _digest(path) == seen.digest)


def file_status(path: str) -> tuple[int, int, int, int, int] | None:
    """Return the status of a regular file, as in a stamp; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  # for hundreds of files, a third of the time
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _folder_time(folder: Path) -> int:
    """Return when files of a folder were added or removed; 0 without one.

    A time of just now may hide a later change, so it is replaced by the present.
    """
    try:
        found = folder.stat().st_mtime_ns
    except (OSError, ValueError):
        return 0
    return found if is_settled(found) else file_stamps.now_ns()


def _digest(path: str) -> bytes:
    """Return a hash of a file; a value that equals no other one if it cannot be read."""
    with suppress(UnreadableFile, ValueError):
        data = read_file(Path(path), limit=_MAX_HASHED)
        if data is not None:
            return hashlib.sha256(data).digest()
    return os.urandom(32)


class LookupState(msgspec.Struct, frozen=True, array_like=True):
    """What the look-ups of all files of a project depend on.

    Attributes:
        project: The project's folder.
        head: The commit of HEAD.
        boundary: The boundary of a shallow clone.
        files: Stamps of the log, what waits, the index and the refs of notes, by absolute path.
        renamed: New names by old ones, of files that the client renamed.
        use_notes: Whether notes and trailers are read.
        ceilings: Where git stops to look for a repository.
        kept_texts: The time of the folder of kept texts.
    """

    project: str
    head: str
    boundary: list[str]
    files: dict[str, Stamp | None]
    renamed: dict[str, str]
    use_notes: bool
    ceilings: str
    kept_texts: int

    def holds(self, now: LookupState) -> bool:
        """Whether a later state is the same, and all files are as they were in this one."""
        is_same = (
            now.files.keys() == self.files.keys()
            and msgspec.structs.replace(now, files=self.files) == self
        )
        return is_same and all(is_unchanged(path, seen) for path, seen in self.files.items())


def lookup_state(
    directory: AuditDir, root: Path, renamed: Mapping[str, str], *, use_notes: bool
) -> LookupState | None:
    """Return the state now; None if it takes git to tell.

    Args:
        directory: The audit directory.
        root: The top folder of the work tree.
        renamed: New names by old ones.
        use_notes: Whether notes and trailers are read.
    """
    head = read_head(root)
    if head is None:
        return None
    git, common = git_folders(root / ".git")
    files = (
        directory.log,
        *waiting_files(directory),
        git / "index",
        git / "config.worktree",
        *files_of_ref(common, NOTES_REF),
    )
    return LookupState(
        os.fspath(directory.project),
        head,
        sorted(read_shallow_file(common / "shallow")),
        {path: stamp_file(path) for path in map(os.fspath, files)},
        dict(renamed),
        use_notes,
        os.environ.get("GIT_CEILING_DIRECTORIES", ""),
        max(map(_folder_time, text_folders(directory))),
    )
