"""Files that git could not merge: their versions, as the index has them, and how they are called resolved."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import run_git
from vibes_lsp.history.repository import Repository


@dataclass(frozen=True, slots=True)
class Unmerged:
    """A file in conflict.

    Attributes:
        mode: What git has it as, such as `100644`.
        stages: Its versions by git's numbers: 1 the common one, 2 ours, 3 theirs; a side that removed it has none.
    """

    mode: str
    stages: dict[int, bytes] = field(default_factory=dict)


def unmerged_files(folder: Path) -> dict[str, Unmerged]:
    """Return what is in conflict below a folder, by its name there.

    Raises:
        HistoryUnavailable: Git does not answer.
    """
    found: dict[str, Unmerged] = {}
    for line in run_git(folder, "ls-files", "--unmerged", "-z", "--", ".").split(b"\0"):
        if not line:
            continue
        facts, _, name = line.partition(b"\t")
        mode, blob, stage = facts.decode("ascii").split(" ")
        file = found.setdefault(os.fsdecode(name), Unmerged(mode))
        file.stages[int(stage)] = run_git(folder, "cat-file", "blob", blob)
    return found


def mark_resolved(repository: Repository, path: Path, mode: str) -> None:
    """Put a file into the index as it is on disk, so that it is in conflict no more; no filter of the repository's settings runs.

    Raises:
        HistoryUnavailable: Git refuses.
    """
    blob = run_git(repository.root, "hash-object", "-w", "--no-filters", "--", str(path)).decode("ascii").strip()
    run_git(repository.root, "update-index", "--add", "--cacheinfo", mode, blob, repository.name_of(path))


def merge_base(repository: Repository, commit: str) -> str | None:
    """Return where HEAD and a commit part; None where they have nothing in common, or there is no HEAD.

    Args:
        repository: Where.
        commit: A whole hash.
    """
    head = repository.head()
    if head is None:
        return None
    try:
        return run_git(repository.root, "merge-base", head, commit).decode("ascii").strip()
    except HistoryUnavailable:
        return None
