"""Which files were renamed by commits, or since a commit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.process import run_git
from vibes_lsp.git.repository import Repository

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


def renames_in(
    repository: Repository, commits: Sequence[str]
) -> tuple[dict[str, dict[str, str]], bool]:
    """Return the files that commits renamed, new paths by old, and whether the answer is final.

    It is not final if git lacked objects to compare. There are none for a merge or if git fails.

    Args:
        repository: The repository.
        commits: Full hashes.
    """
    asked = "".join(f"{commit}\n" for commit in commits).encode()
    return _find_renames(repository, ("diff-tree", "--stdin"), (), asked)


def renames_since(repository: Repository, commit: str) -> dict[str, str]:
    """Return the files of a commit that have other paths in the index now; none if git fails."""
    renames, _ = _find_renames(repository, ("diff-index", "--cached"), (commit, "--"))
    return renames.get("", {})


def _find_renames(
    repository: Repository, command: Sequence[str], arguments: Sequence[str], stdin: bytes = b""
) -> tuple[dict[str, dict[str, str]], bool]:
    """Return renames by the commit that git names before them."""
    for detection in (BY_SIMILARITY, BY_HASH):
        try:
            listed = run_git(
                repository.root, *command, *_RENAME_OPTIONS, detection, *arguments, stdin=stdin
            )
        except HistoryUnavailable:
            continue
        renames: dict[str, dict[str, str]] = defaultdict(dict)
        commit, parts = "", iter(listed.split(b"\0")[:-1])
        for part in parts:
            if part.startswith(b"R"):
                old, new = (next(parts).decode("utf-8", "surrogateescape") for _ in range(2))
                renames[commit][old] = new
            else:
                commit = part.decode("ascii")
        return renames, detection == BY_SIMILARITY
    return {}, False
