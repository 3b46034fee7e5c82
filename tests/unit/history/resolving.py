"""Resolve commits once, with a new `CommitResolver`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vibes_lsp.history.commit_resolution import CommitResolver, ResolvedCommit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from vibes_lsp.history.repository import Repository


def commits_by_log(
    repository: Repository, log: Path, wanted: Iterable[str]
) -> dict[str, ResolvedCommit]:
    """Resolve records by the log."""
    return CommitResolver(repository, log.parent, log).by_log(wanted)


def commits_by_path(
    repository: Repository, project: Path, moments: Mapping[str, Iterable[datetime]]
) -> dict[tuple[str, datetime], ResolvedCommit]:
    """Resolve edits by the history of their files."""
    return CommitResolver(repository, project, project / "log").by_path(moments)
