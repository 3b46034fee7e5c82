"""The names that files have now which commits of HEAD's history renamed (R19)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.file_changes import file_changes
from vibes_lsp.git.git_cache import digest_of
from vibes_lsp.git.renames import renames_in, renames_since
from vibes_lsp.git.repository import Repository
from vibes_lsp.patience import GIT

_MAX_RENAMES: Final = 16
"""How often a file is followed to its next name."""


def current_names(repository: Repository, names: Iterable[str]) -> dict[str, str]:
    """Return the names that files have in the index; deleted and unknown files are left out.

    Args:
        repository: The repository.
        names: Names that the files had at any time, from the top of the work tree.
    """
    head = repository.head()
    if head is None:
        return {}
    key = f"name {digest_of(sorted(repository.shallow_boundary()))} {head}"
    known = {name: repository.cache.get(f"{key} {name}", str) for name in names}
    missing = [name for name, now in known.items() if now is None]
    if missing:
        current, is_settled = _names_in(repository, head, missing)
        known |= current
        for name in missing if is_settled else ():
            repository.cache.put(f"{key} {name}", current.get(name, ""))
    committed = {name: now for name, now in known.items() if now}
    staged = renames_since(repository, head) if committed else {}
    return {name: staged.get(now, now) for name, now in committed.items()}


def _names_in(
    repository: Repository, head: str, names: Iterable[str]
) -> tuple[dict[str, str], bool]:
    """Return the names that files have in a commit, and whether git could answer."""
    current: dict[str, str] = {}
    pending, is_settled = {name: name for name in names}, True
    for _ in range(_MAX_RENAMES):
        try:
            current |= {
                name: now
                for name, now in pending.items()
                if (entry := repository.objects.certain_entry(head, now)) is not None
                and not entry.is_folder
            }
            gone = {name: now for name, now in pending.items() if name not in current}
            if not gone:
                break
            renamed, is_complete = _renamed(repository, head, set(gone.values()))
        except HistoryUnavailable:
            return current, False
        is_settled = is_settled and is_complete
        pending = {name: renamed[now] for name, now in gone.items() if now in renamed}
    return current, is_settled


def _renamed(repository: Repository, head: str, names: set[str]) -> tuple[Mapping[str, str], bool]:
    """Return the next names of files by the last commits that renamed them, and as `_names_in`.

    Raises:
        HistoryUnavailable: Git fails.
    """
    with closing(file_changes(repository, [head], names, patience=GIT)) as changes:
        deletions = [(change.path, change.commit) for change in changes if change.is_deletion]
    renamed, is_settled = renames_in(
        repository, list(dict.fromkeys(commit for _, commit in deletions))
    )
    later_names: dict[str, str] = {}
    for name, commit in deletions:
        if (later := renamed.get(commit, {}).get(name)) is not None:
            later_names.setdefault(name, later)
    return later_names, is_settled
