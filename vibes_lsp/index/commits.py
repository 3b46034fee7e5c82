"""Which commit each annotation came with, where the record does not say (R4, R17)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from vibes_lsp.history.derived import DerivedCommit, commits_by_log, commits_by_path
from vibes_lsp.history.repository import Repository
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.store.layout import AuditDir


def recorded_commit(lineage: Lineage) -> str | None:
    """Return the commit that the lineage records: its current record's, else the newest that any member names."""
    members = (lineage.current, *reversed(lineage.members))
    return next((commit for member in members if (commit := member.text("commit_hash"))), None)


def derive_commits(lineages: Sequence[Lineage], repository: Repository, directory: AuditDir) -> dict[str, DerivedCommit]:
    """Return the derived commits of lineages that record none, by the id of their first record.

    Reads git's history once or twice for all of them; those that no commit fits are left out.
    """
    pending = [lineage for lineage in lineages if recorded_commit(lineage) is None]
    by_log = commits_by_log(repository, directory.log, (identifier for lineage in pending for identifier in lineage.ids))
    found: dict[str, DerivedCommit] = {}
    left: list[Lineage] = []
    for lineage in pending:
        commit = next((by_log[identifier] for identifier in lineage.ids if identifier in by_log), None)
        if commit is None:
            left.append(lineage)
        else:
            found[lineage.first.id] = commit
    return found | _by_path(left, repository, directory.project)


def _by_path(lineages: Sequence[Lineage], repository: Repository, project: Path) -> dict[str, DerivedCommit]:
    moments: dict[str, set[datetime]] = defaultdict(set)
    for lineage in lineages:
        moments[_path(lineage)].add(lineage.first.moment)
    inferred = commits_by_path(repository, project, moments) if moments else {}
    places = {lineage.first.id: (_path(lineage), lineage.first.moment) for lineage in lineages}
    return {identifier: inferred[place] for identifier, place in places.items() if place in inferred}


def _path(lineage: Lineage) -> str:
    return lineage.first.text("file_path") or ""
