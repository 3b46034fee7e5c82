"""The commit of each annotation: recorded, or resolved if it is missing or rewritten (R4, R4b)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from vibes_lsp.git.commit_resolution import CommitMethod, CommitResolver, ResolvedCommit
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.trail.lineage import Lineage

if TYPE_CHECKING:
    from vibes_lsp.trail.log_index import LogIndex

COMMITTED_FIRST: Final = timedelta(minutes=5)
"""How long before its record an edit may be committed, by a tool without sessions (R14)."""


def recorded_commit(lineage: Lineage) -> str | None:
    """Return the commit of the current record, else the newest that any member names."""
    return next(iter(recorded_commits(lineage)), None)


def resolve_commits(
    lineages: Sequence[Lineage], resolver: CommitResolver
) -> dict[str, ResolvedCommit]:
    """Return the commits of lineages that record none, or none that HEAD descends from.

    Args:
        lineages: Lineages of one project.
        resolver: Asks git about this project.

    Returns:
        Commits by the id of the first record.
    """
    rewritten = rewritten_commits(lineages, resolver)
    pending = [
        lineage
        for lineage in lineages
        if recorded_commit(lineage) is None or lineage.first.id in rewritten
    ]
    by_log = resolver.by_log(identifier for lineage in pending for identifier in lineage.ids)
    commits: dict[str, ResolvedCommit] = {}
    unresolved: list[Lineage] = []
    for lineage in pending:
        commit = next(
            (by_log[identifier] for identifier in lineage.ids if identifier in by_log), None
        )
        if commit is not None:
            commits[lineage.first.id] = commit
        elif not lineage.first.is_waiting:
            unresolved.append(lineage)
    elsewhere = resolver.reachable(
        (rewritten[lineage.first.id] for lineage in unresolved if lineage.first.id in rewritten),
        "--all",
    )
    commits.update(
        _by_path(
            [lineage for lineage in unresolved if rewritten.get(lineage.first.id) not in elsewhere],
            resolver,
        )
    )
    return commits | {
        identifier: replace(commits[identifier], replaces=commit)
        for identifier, commit in rewritten.items()
        if identifier in commits
    }


def known_commit(lineage: Lineage, resolved: ResolvedCommit | None) -> ResolvedCommit | None:
    """Return the commit of a lineage: the recorded one, unless it was rewritten.

    Args:
        lineage: The lineage.
        resolved: The result of `resolve_commits`, which may be older than the last record.
    """
    recorded = recorded_commit(lineage)
    if recorded is None or (resolved is not None and resolved.replaces == recorded):
        return resolved
    return ResolvedCommit(recorded, CommitMethod.RECORDED)


def rewritten_commits(lineages: Sequence[Lineage], resolver: CommitResolver) -> dict[str, str]:
    """Return the recorded commits of which HEAD is no descendant (R4b), by first record."""
    recorded = {lineage.first.id: recorded_commits(lineage) for lineage in lineages}
    reachable = resolver.reachable(commit for named in recorded.values() for commit in named)
    return {
        identifier: named[0]
        for identifier, named in recorded.items()
        if named and reachable.isdisjoint(named)
    }


def recorded_commits(lineage: Lineage) -> list[str]:
    """Return the commits that records of a lineage name: the current record's, then the newest."""
    if len(lineage.members) == 1:
        commit = lineage.current.text("commit_hash")
        return [commit] if commit else []
    members = (lineage.current, *reversed(lineage.members))
    kept = [
        member for member in members if member.text("action") != Action.REBASE_ORPHAN
    ] or members
    return [commit for member in kept if (commit := member.text("commit_hash"))]


def earliest_edit_time(log: LogIndex, lineage: Lineage) -> datetime | None:
    """Return the time before which a commit is older than an edit (R14).

    That is the start of its session, because a tool may commit first and record then. Without a
    session, it is some minutes before the record. None if the timestamp cannot be parsed.
    """
    recorded = lineage.first.moment
    if recorded.year == 1:  # see `LogRecord.moment`
        return None
    identifier = lineage.first.text("session_id")
    session = log.session(identifier) if identifier else None
    start = session.start if session is not None else None
    return edit_begin(recorded, None if start is None else start.moment)


def edit_begin(recorded: datetime, session_start: datetime | None) -> datetime:
    """Return the time before which a commit is older than an edit; see `earliest_edit_time`.

    Args:
        recorded: The time of its record.
        session_start: When its session began; None without one.
    """
    earliest = (
        recorded - COMMITTED_FIRST
        if session_start is None or session_start.year == 1
        else min(session_start, recorded)
    )
    return earliest.replace(microsecond=0)  # commit times are whole seconds


def _by_path(lineages: Sequence[Lineage], resolver: CommitResolver) -> dict[str, ResolvedCommit]:
    moments: dict[str, set[datetime]] = defaultdict(set)
    for lineage in lineages:
        moments[_path(lineage)].add(lineage.first.moment)
    inferred = resolver.by_path(moments)
    places = {lineage.first.id: (_path(lineage), lineage.first.moment) for lineage in lineages}
    return {
        identifier: inferred[place] for identifier, place in places.items() if place in inferred
    }


def _path(lineage: Lineage) -> str:
    return lineage.first.text("file_path") or ""
