"""Derived commits asked for once, with nothing kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vibes_lsp.history.derived_commits import DerivedCommit, DerivedCommits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from vibes_lsp.history.repository import Repository


def commits_by_log(
    repository: Repository, log: Path, wanted: Iterable[str]
) -> dict[str, DerivedCommit]:
    """Ask by a log alone."""
    return DerivedCommits(repository, log.parent, log).by_log(wanted)


def commits_by_path(
    repository: Repository, project: Path, moments: Mapping[str, Iterable[datetime]]
) -> dict[tuple[str, datetime], DerivedCommit]:
    """Ask by the files of a project alone."""
    return DerivedCommits(repository, project, project / "log").by_path(moments)
