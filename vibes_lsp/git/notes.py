"""Read git notes of a ref, such as `refs/notes/ai`: what other tools attached to commits."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.process import git_lines, run_git
from vibes_lsp.git.repository import Repository

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BLOB: Final = "blob"


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
    blobs: dict[str, str] = {}
    for line in listed.split(b"\0")[:-1]:
        metadata, _, name = line.decode("ascii", "replace").partition("\t")
        _, kind, blob = metadata.split(" ")
        commit = name.replace("/", "")  # git divides many notes among folders
        if kind == _BLOB and _COMMIT.fullmatch(commit):
            blobs[commit] = blob
    return blobs


def oldest_first(repository: Repository, commits: Collection[str]) -> list[str]:
    """Return those commits that are in the history of HEAD, parents before children.

    Raises:
        HistoryUnavailable: Git fails.
    """
    if not commits:
        return []
    with git_lines(repository.root, "rev-list", "--topo-order", "--reverse", "HEAD") as lines:
        return [commit for line in lines if (commit := line.decode().strip()) in commits]
