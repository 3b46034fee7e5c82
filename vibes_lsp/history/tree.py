"""What a commit holds below a folder, by name: files, links and submodules, as git has them and not as they were checked out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vibes_lsp.history.blobs import Entry
from vibes_lsp.history.git import run_git
from vibes_lsp.history.repository import Repository


def tree_of(repository: Repository, commit: str, folder: Path) -> Mapping[str, Entry]:
    """Return the entries of a commit below a folder, by their names relative to it; folders themselves are left out.

    Args:
        repository: Where to look.
        commit: A whole hash.
        folder: Absolute, inside the work tree.

    Raises:
        HistoryUnavailable: Git cannot answer.
    """
    prefix = repository.prefix_of(folder)
    listed = run_git(
        repository.root, "ls-tree", "-r", "-z", "--full-tree", commit, *([prefix] if prefix else [])
    )
    found: dict[str, Entry] = {}
    for line in listed.split(b"\0")[:-1]:
        facts, _, name = line.partition(b"\t")
        mode, _, identifier = facts.decode("ascii").split(" ")
        found[name.decode("utf-8", "surrogateescape").removeprefix(prefix)] = Entry(
            mode, identifier
        )
    return found
