"""Repositories of the tests as the product opens them, and commits resolved in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vibes_lsp.git.commit_resolution import CommitResolver, ResolvedCommit
from vibes_lsp.git.repository import Repository as Git
from vibes_lsp.git.repository import open_repository

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from tests.trails import Repository

TEXT: Final = "".join(f"line {number}\n" for number in range(30))


def open_git(repository: Repository) -> Git:
    """Open the repository as the product does."""
    found = open_repository(repository.path)
    assert found is not None
    return found


def resolver_for(repository: Repository) -> CommitResolver:
    """Return a new resolver for the log of the repository's trail."""
    log = repository.path / ".ai-audit/annotations.jsonl"
    return CommitResolver(open_git(repository), repository.path, log)


def commit_two_versions(repository: Repository) -> tuple[str, str, str]:
    """Make three commits, of which the first and the third change `a.py`."""
    repository.write("a.py", "1\n")
    first = repository.commit("First")
    repository.write("b.py", "1\n")
    second = repository.commit("Another file")
    repository.write("a.py", "2\n")
    return first, second, repository.commit("Third")


def commits_by_log(repository: Git, log: Path, wanted: Iterable[str]) -> dict[str, ResolvedCommit]:
    """Resolve records by the log."""
    return CommitResolver(repository, log.parent, log).by_log(wanted)


def commits_by_path(
    repository: Git, project: Path, moments: Mapping[str, Iterable[datetime]]
) -> dict[tuple[str, datetime], ResolvedCommit]:
    """Resolve edits by the history of their files."""
    return CommitResolver(repository, project, project / "log").by_path(moments)
