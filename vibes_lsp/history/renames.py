"""Which files were renamed by a commit, or since a commit."""

from __future__ import annotations

from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import run_git
from vibes_lsp.history.repository import Repository

_RENAME_OPTIONS: Final = (
    "-r",
    "-z",
    "--name-status",
    "--diff-filter=R",
    "-l1000",
    "--ignore-submodules=all",
)
BY_SIMILARITY: Final = "--find-renames=50%"
BY_HASH: Final = "--find-renames=100%"
"""Compares no contents, which a partial clone may lack."""


def renames_in_commit(repository: Repository, commit: str) -> tuple[dict[str, str], bool]:
    """Return the files that a commit renamed, new paths by old, and whether the answer is final.

    It is not final if git lacked objects to compare. There are none for a merge or if git fails.

    Args:
        repository: The repository.
        commit: A full hash.
    """
    if not repository.objects.may_rename(commit):
        return {}, True
    return _find_renames(repository, ("diff-tree", "--no-commit-id"), commit)


def renames_since(repository: Repository, commit: str) -> dict[str, str]:
    """Return the files of a commit that have other paths in the index now; none if git fails."""
    return _find_renames(repository, ("diff-index", "--cached"), commit)[0]


def _find_renames(
    repository: Repository, command: tuple[str, ...], commit: str
) -> tuple[dict[str, str], bool]:
    for detection in (BY_SIMILARITY, BY_HASH):
        try:
            listed = run_git(repository.root, *command, *_RENAME_OPTIONS, detection, commit, "--")
        except HistoryUnavailable:
            continue
        parts = [part.decode("utf-8", "surrogateescape") for part in listed.split(b"\0")[:-1]]
        return dict(zip(parts[1::3], parts[2::3], strict=True)), detection == BY_SIMILARITY
    return {}, False
