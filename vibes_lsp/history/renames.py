"""Which files a commit, or the index, renamed."""

from __future__ import annotations

from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import run_git
from vibes_lsp.history.repository import Repository

_OPTIONS: Final = (
    "-r",
    "-z",
    "--name-status",
    "--diff-filter=R",
    "-l1000",
    "--ignore-submodules=all",
)
_SIMILAR: Final = "--find-renames=50%"
_EQUAL: Final = "--find-renames=100%"
"""Needs no contents, which a partial clone may not have."""


def renames_in_commit(repository: Repository, commit: str) -> tuple[dict[str, str], bool]:
    """Return the new names of the files that a commit renamed, by the old ones; none for a merge or where git cannot answer.

    Beside them is said whether that settles it: whether all objects were there that git wanted to compare.
    """
    return _detected(repository, ("diff-tree", "--no-commit-id"), commit)


def renames_since(repository: Repository, commit: str) -> dict[str, str]:
    """Return the index's names of files that had others in a commit, by those; none where git cannot answer."""
    return _detected(repository, ("diff-index", "--cached"), commit)[0]


def _detected(
    repository: Repository, command: tuple[str, ...], commit: str
) -> tuple[dict[str, str], bool]:
    for detection in (_SIMILAR, _EQUAL):
        try:
            listed = run_git(repository.root, *command, *_OPTIONS, detection, commit, "--")
        except HistoryUnavailable:
            continue
        parts = [part.decode("utf-8", "surrogateescape") for part in listed.split(b"\0")[:-1]]
        return dict(zip(parts[1::3], parts[2::3], strict=True)), detection == _SIMILAR
    return {}, False
