"""Read git notes of a ref, such as `refs/notes/ai`: what other tools attached to commits."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.history.git import git_lines, run_git
from vibes_lsp.history.repository import Repository
from vibes_lsp.history.repository_state import common_git_folder
from vibes_lsp.store.file_stamps import FileStamp, file_stamp
from vibes_lsp.store.files import read_file
from vibes_lsp.store.git_folders import MAX_REFS_FILE

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BLOB: Final = "blob"


def files_of_ref(common: Path, ref: str) -> tuple[Path, Path, Path]:
    """Return the files that git has a ref in: its own, packed refs, or a database.

    Args:
        common: The git directory that holds the refs.
        ref: The full name of the ref.
    """
    return common / ref, common / "packed-refs", common / "reftable/tables.list"


def list_notes(repository: Repository, ref: str) -> dict[str, str]:
    """Return the blobs of a ref's notes by the commits that they are attached to.

    Empty if there is no such ref. Entries of its tree that are no notes are left out.

    Args:
        repository: The repository.
        ref: The full name of the ref.
    """
    try:
        listed = run_git(repository.root, "ls-tree", "-r", "-z", "--full-tree", ref)
    except HistoryUnavailable:
        return {}
    found: dict[str, str] = {}
    for line in listed.split(b"\0")[:-1]:
        metadata, _, name = line.decode("ascii", "replace").partition("\t")
        _, kind, blob = metadata.split(" ")
        commit = name.replace("/", "")  # git divides many notes among folders
        if kind == _BLOB and _COMMIT.fullmatch(commit):
            found[commit] = blob
    return found


class NotesRef:
    """The notes of a ref, read again only when the ref has changed.

    Where there is no such ref, a refresh costs three `stat` calls and starts no process.

    Args:
        repository: The repository.
        ref: The full name of the ref.

    Attributes:
        repository: As given.
    """

    def __init__(self, repository: Repository, ref: str) -> None:
        self.repository = repository
        self._ref = ref
        self._seen: tuple[FileStamp | None, ...] | None = None
        self._notes: Mapping[str, str] = {}

    def notes(self) -> Mapping[str, str]:
        """Return the blobs of the notes by commit; see `list_notes`."""
        common = common_git_folder(self.repository.root)
        if common is None:
            return {}
        seen = tuple(map(file_stamp, files_of_ref(common, self._ref)))
        if seen != self._seen:
            self._seen = seen
            loose, packed, table = (stamp is not None for stamp in seen)
            may_exist = loose or table or (packed and self._is_packed(common / "packed-refs"))
            self._notes = list_notes(self.repository, self._ref) if may_exist else {}
        return self._notes

    def _is_packed(self, file: Path) -> bool:
        try:
            return self._ref.encode() in (read_file(file, limit=MAX_REFS_FILE) or b"")
        except UnreadableFile:
            return False


def oldest_first(repository: Repository, commits: Collection[str]) -> list[str]:
    """Return those commits that are in the history of HEAD, parents before children.

    Raises:
        HistoryUnavailable: Git fails.
    """
    if not commits:
        return []
    with git_lines(repository.root, "rev-list", "--topo-order", "--reverse", "HEAD") as lines:
        return [commit for line in lines if (commit := line.decode().strip()) in commits]
