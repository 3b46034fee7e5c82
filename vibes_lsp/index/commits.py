"""Which commit each annotation came with, where the record does not say (R4, R17)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from vibes_lsp.history.derived import DerivedCommit, DerivedCommits
from vibes_lsp.history.repository import Repository
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.store.layout import AuditDir


def recorded_commit(lineage: Lineage) -> str | None:
    """Return the commit that the lineage records: its current record's, else the newest that any member names."""
    members = (lineage.current, *reversed(lineage.members))
    return next((commit for member in members if (commit := member.text("commit_hash"))), None)


def derive_commits(
    lineages: Sequence[Lineage], repository: Repository, directory: AuditDir, kept: DerivedCommits | None = None
) -> dict[str, DerivedCommit]:
    """Return the derived commits of lineages that record none, by the id of their first record.

    Args:
        lineages: Those of one project.
        repository: Where it is tracked.
        directory: Its audit directory.
        kept: What earlier calls for the project have read of git's history; without it all is read.
    """
    commits = kept or DerivedCommits(repository, directory.project, directory.log)
    pending = [lineage for lineage in lineages if recorded_commit(lineage) is None]
    by_log = commits.by_log(identifier for lineage in pending for identifier in lineage.ids)
    found: dict[str, DerivedCommit] = {}
    left: list[Lineage] = []
    for lineage in pending:
        commit = next((by_log[identifier] for identifier in lineage.ids if identifier in by_log), None)
        if commit is None:
            left.append(lineage)
        else:
            found[lineage.first.id] = commit
    return found | _by_path(left, commits)


def _by_path(lineages: Sequence[Lineage], commits: DerivedCommits) -> dict[str, DerivedCommit]:
    moments: dict[str, set[datetime]] = defaultdict(set)
    for lineage in lineages:
        moments[_path(lineage)].add(lineage.first.moment)
    inferred = commits.by_path(moments)
    places = {lineage.first.id: (_path(lineage), lineage.first.moment) for lineage in lineages}
    return {identifier: inferred[place] for identifier, place in places.items() if place in inferred}


def _path(lineage: Lineage) -> str:
    return lineage.first.text("file_path") or ""
