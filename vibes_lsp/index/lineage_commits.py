"""Which commit each annotation came with, where the record does not say, or names one that was rewritten (R4, R4b, R17)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from vibes_lsp.history.commit_resolution import CommitMethod, CommitResolver, ResolvedCommit
from vibes_lsp.history.repository import Repository
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.log_index import LogIndex
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.store.audit_dir import AuditDir

_COMMITTED_FIRST: Final = timedelta(minutes=5)
"""How long before its record an edit may have been committed, by a tool that commits first and records no session (R14)."""


def recorded_commit(lineage: Lineage) -> str | None:
    """Return the commit that the lineage records: its current record's, else the newest that any member names."""
    return next(iter(recorded_commits(lineage)), None)


def resolve_commits(
    lineages: Sequence[Lineage],
    repository: Repository,
    directory: AuditDir,
    kept: CommitResolver | None = None,
) -> dict[str, ResolvedCommit]:
    """Return the derived commits of lineages that record none, or only such as HEAD does not come from, by the id of their first record.

    Args:
        lineages: Those of one project.
        repository: Where it is tracked.
        directory: Its audit directory.
        kept: What earlier calls for the project have read of git's history; without it all is read.
    """
    commits = kept or CommitResolver(repository, directory.project, directory.log)
    gone = rewritten_commits(lineages, commits)
    pending = [
        lineage
        for lineage in lineages
        if recorded_commit(lineage) is None or lineage.first.id in gone
    ]
    by_log = commits.by_log(identifier for lineage in pending for identifier in lineage.ids)
    found: dict[str, ResolvedCommit] = {}
    left: list[Lineage] = []
    for lineage in pending:
        commit = next(
            (by_log[identifier] for identifier in lineage.ids if identifier in by_log), None
        )
        if commit is not None:
            found[lineage.first.id] = commit
        else:
            left.append(lineage)
    elsewhere = commits.reachable(
        (gone[each.first.id] for each in left if each.first.id in gone), "--all"
    )
    found.update(
        _by_path([each for each in left if gone.get(each.first.id) not in elsewhere], commits)
    )
    return found | {
        identifier: replace(found[identifier], replaces=commit)
        for identifier, commit in gone.items()
        if identifier in found
    }


def known_commit(lineage: Lineage, derived: ResolvedCommit | None) -> ResolvedCommit | None:
    """Return the commit of a lineage: the recorded one, unless another was derived in its place.

    Args:
        lineage: The lineage.
        derived: What was derived for it, perhaps before its last record was written.
    """
    recorded = recorded_commit(lineage)
    if recorded is None or (derived is not None and derived.replaces == recorded):
        return derived
    return ResolvedCommit(recorded, CommitMethod.RECORDED)


def rewritten_commits(lineages: Sequence[Lineage], commits: CommitResolver) -> dict[str, str]:
    """Return the commits of lineages that record only such as HEAD does not come from (R4b), by the id of their first record."""
    recorded = {lineage.first.id: recorded_commits(lineage) for lineage in lineages}
    there = commits.reachable(commit for named in recorded.values() for commit in named)
    return {
        identifier: named[0]
        for identifier, named in recorded.items()
        if named and there.isdisjoint(named)
    }


def recorded_commits(lineage: Lineage) -> list[str]:
    """Return the commits that the records of a lineage name, the current record's first, then the newest."""
    if len(lineage.members) == 1:  # as most have
        commit = lineage.current.text("commit_hash")
        return [commit] if commit else []
    members = (lineage.current, *reversed(lineage.members))
    found = [
        member for member in members if member.text("action") != Action.REBASE_ORPHAN
    ] or members
    return [commit for member in found if (commit := member.text("commit_hash"))]


def earliest_edit_time(log: LogIndex, lineage: Lineage) -> datetime | None:
    """Return the time before which a commit was made before an edit (R14); None when the record has no time that can be read.

    That is when the session of the edit began: a tool may commit first and record then. Without a known session it may have done so
    some minutes before the record.
    """
    recorded = lineage.first.moment
    if recorded.year == 1:  # see `LogRecord.moment`
        return None
    identifier = lineage.first.text("session_id")
    session = log.session(identifier) if identifier else None
    start = session.start if session is not None else None
    earliest = (
        recorded - _COMMITTED_FIRST
        if start is None or start.moment.year == 1
        else min(start.moment, recorded)
    )
    return earliest.replace(microsecond=0)  # commits know whole seconds only


def _by_path(lineages: Sequence[Lineage], commits: CommitResolver) -> dict[str, ResolvedCommit]:
    moments: dict[str, set[datetime]] = defaultdict(set)
    for lineage in lineages:
        moments[_path(lineage)].add(lineage.first.moment)
    inferred = commits.by_path(moments)
    places = {lineage.first.id: (_path(lineage), lineage.first.moment) for lineage in lineages}
    return {
        identifier: inferred[place] for identifier, place in places.items() if place in inferred
    }


def _path(lineage: Lineage) -> str:
    return lineage.first.text("file_path") or ""
