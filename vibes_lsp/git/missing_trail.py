"""A trail that git has and the disk has not: in a sparse checkout, or after its folder was removed.

A new trail in its place would end all of its records with the next commit.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vibes_lsp.errors import AuditDirNotFound, HistoryUnavailable, RefusedWrite
from vibes_lsp.git.process import literal_pathspec, run_git
from vibes_lsp.store.audit_dir import LOG_NAME, MANIFEST_NAME
from vibes_lsp.store.git_folders import nearest_marker
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME, is_repository

_FILES: Final = (LOG_NAME, MANIFEST_NAME)
"""Files without which a trail cannot be read; the others can be written again without a loss."""


@dataclass(frozen=True, slots=True)
class MissingTrail:
    """A trail of which git has files that are not on the disk.

    Attributes:
        path: The audit directory, relative to the top of the work tree.
        files: The missing files, relative to it; all that git has if the folder is missing.
        is_committed: Whether HEAD has it, and not only the index.
        is_sparse: Whether a sparse checkout leaves it out.
    """

    path: str
    files: tuple[str, ...]
    is_committed: bool
    is_sparse: bool

    @property
    def reason(self) -> str:
        """Why it is not on the disk."""
        if self.is_sparse:
            return f"git has an audit trail in {self.path}, which this sparse checkout leaves out"
        if self.files:
            missing = " and ".join(self.files)
            return f"git has an audit trail in {self.path}, of which the disk lacks {missing}"
        return f"git has an audit trail in {self.path}, which is not on the disk"

    @property
    def restoring(self) -> str:
        """The command that brings it back."""
        if self.is_sparse:
            return f"git sparse-checkout add {shlex.quote(self.path)}"
        revision = "HEAD " if self.is_committed else ""
        paths = shlex.join([f"{self.path}/{name}" for name in self.files] or [self.path])
        return f"git checkout {revision}-- {paths}"


def find_missing_trail(folder: Path) -> MissingTrail | None:
    """Return the nearest trail at a folder or above it that only git has; None without one.

    Args:
        folder: A folder, or a file in it; it may not exist.
    """
    start = folder.absolute()
    for ancestor in (start, *start.parents):
        if ancestor.name != AUDIT_DIR_NAME and (trail := missing_trail(ancestor)) is not None:
            return trail
        if is_repository(str(ancestor)):
            break
    return None


def missing_trail(project: Path) -> MissingTrail | None:
    """Return the trail of a project if files of it are in git and not on the disk; else None.

    Git is asked only if a file of the trail is missing.
    """
    names = [name for name in _FILES if not os.path.lexists(project / AUDIT_DIR_NAME / name)]
    marker = nearest_marker(str(project.absolute())) if names else None
    if marker is None:
        return None
    top = marker.parent
    folder = (Path(os.path.relpath(project.absolute(), top)) / AUDIT_DIR_NAME).as_posix()
    paths = [f"{folder}/{name}" for name in names]
    is_committed = _has_any(top, ("ls-tree", "-z", "--full-tree", "HEAD", "--"), paths)
    if not is_committed and not _has_any(
        top, ("ls-files", "-z", "--"), list(map(literal_pathspec, paths))
    ):
        return None
    is_partial = os.path.lexists(project / AUDIT_DIR_NAME)
    return MissingTrail(folder, tuple(names) if is_partial else (), is_committed, is_sparse(top))


def refuse_missing_trail(project: Path) -> None:
    """Stop before a new trail is written where git has one.

    Raises:
        RefusedWrite: Git has a trail of the project that is not on the disk.
    """
    missing = missing_trail(project)
    if missing is not None:
        raise RefusedWrite(
            missing.reason, hint=f"nothing was written; restore it: {missing.restoring}"
        )


def explained(error: AuditDirNotFound, folder: Path) -> AuditDirNotFound:
    """Return an error with the reason and the remedy if git has the trail that was not found."""
    missing = find_missing_trail(folder)
    if missing is None:
        return error
    return AuditDirNotFound(missing.reason, hint=f"restore it: {missing.restoring}")


def is_sparse(top: Path) -> bool:
    """Return whether a work tree is a sparse checkout."""
    try:
        return run_git(top, "config", "--bool", "core.sparseCheckout").strip() == b"true"
    except HistoryUnavailable:
        return False


def _has_any(top: Path, command: Sequence[str], paths: Sequence[str]) -> bool:
    try:
        return bool(run_git(top, *command, *paths))
    except HistoryUnavailable:  # there is no commit yet
        return False
