"""Find the git folders of a work tree, and its HEAD, by reading files: git is not run."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.store.files import read_beginning, read_file
from vibes_lsp.store.trail_search import is_repository

_MAX_BYTES: Final = 4096
MAX_REFS_FILE: Final = 256 << 20
"""Largest file of refs or commits that is read, in bytes."""
_MAX_REFS: Final = 5
"""Symbolic refs that are followed, as git does."""
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
SHARED_REF: Final = re.compile(r"refs/(?!bisect/|worktree/|rewritten/)(?!.*\.\.)[^\\:\0\n]+")
"""A ref that all work trees share."""


def git_folders(marker: Path) -> tuple[Path, Path]:
    """Return the git directory of a work tree, and the common one that holds its branches.

    Args:
        marker: The work tree's `.git`, a folder or a file.
    """
    git = marker if marker.is_dir() else marker.parent / first_line(marker).removeprefix("gitdir: ")
    return git, git / (first_line(git / "commondir") or ".")


def nearest_marker(folder: str) -> Path | None:
    """Return the `.git` of the work tree that an absolute path is in; None outside one."""
    while not is_repository(folder):
        parent = os.path.dirname(folder)  # noqa: PTH120
        if parent == folder:
            return None
        folder = parent
    return Path(folder, ".git")


def read_head(root: Path) -> str | None:
    """Return the commit of HEAD as the files of a repository name it; None if only git can tell.

    Only git can tell before the first commit, or where refs are in a database.

    Args:
        root: The top folder of the work tree.
    """
    marker = root / ".git"
    if not os.path.lexists(marker):
        return None
    git, common = git_folders(marker)
    value = first_line(git / "HEAD")
    for _ in range(_MAX_REFS):
        if _COMMIT.fullmatch(value):
            return value
        name = value.removeprefix("ref:").strip()
        if name == value or not SHARED_REF.fullmatch(name) or (common / "reftable").exists():
            return None
        value = first_line(common / name) or _read_packed(common / "packed-refs", name)
    return None


def _read_packed(file: Path, name: str) -> str:
    """Return what a file of packed refs has for a name; empty if it has nothing."""
    with suppress(UnreadableFile):
        content = read_file(file, limit=MAX_REFS_FILE) or b""
        before, separator, _ = (b"\n" + content).partition(os.fsencode(f" {name}\n"))
        if separator:
            return before.rpartition(b"\n")[2].decode("ascii", "replace")
    return ""


def first_line(file: Path) -> str:
    """Return the start of a small file without its line end; empty if there is none."""
    return os.fsdecode(read_beginning(file, _MAX_BYTES).rstrip(b"\n"))
