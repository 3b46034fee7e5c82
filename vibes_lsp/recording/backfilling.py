"""Back-filling: writing into the log which commit brought an annotation, once that commit is no longer the last (RFC 9.2, R4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.commit_resolution import CommitResolver
from vibes_lsp.history.committed import CommittedFiles
from vibes_lsp.history.repository import Repository, open_repository
from vibes_lsp.index.commits import recorded_commit, resolve_commits
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.model.vocabulary import BackfillWhen, SupersedesReason
from vibes_lsp.recording.commit_attribution import Attributions, Renewals, grouped, may_land
from vibes_lsp.recording.context import Draft, RecordingContext
from vibes_lsp.recording.results import Backfilled

_SLACK: Final = timedelta(days=1)
"""How far the clock of one who commits may be behind that of one who records."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What is looked at.

    Attributes:
        when: Which commits count: `landed` asks for those that the branch others build on has, anything else for all before HEAD.
        since: Only annotations from then on; None for all.
    """

    when: BackfillWhen = BackfillWhen.NEXT_COMMIT
    since: datetime | None = None


def backfill(situation: RecordingContext, scope: Scope) -> tuple[Draft, Backfilled]:
    """Return the records that name the commits of annotations.

    Due are those whose commit is before HEAD, whose path that commit has and whose lines are found there; the others stay as they are.

    Raises:
        HistoryUnavailable: The project is in no git repository.
    """
    repository = open_repository(situation.project)
    if repository is None:
        raise HistoryUnavailable(
            f"{situation.project} is in no git repository",
            hint="only a commit can be written into the log",
        )
    trail = situation.trail
    lineages = trail.lineages() if scope.since is None else trail.lineages_since(scope.since)
    pending = [lineage for lineage in lineages if recorded_commit(lineage) is None]
    renewals = Renewals(SupersedesReason.COMMIT)
    done = _land(
        situation, repository, [each for each in pending if may_land(each)], scope, renewals
    )
    draft = Draft(situation.timestamp, None, renewals.records, renewals.edges)
    left = tuple(lineage.current.id for lineage in pending if lineage.first.id not in done)
    return draft, Backfilled(tuple(renewals.ids), left, tuple(renewals.edges), renewals.written())


def _land(
    situation: RecordingContext,
    repository: Repository,
    pending: Sequence[Lineage],
    scope: Scope,
    renewals: Renewals,
) -> set[str]:
    """Add the records of what is due, in the order of the edits, and return the ids of the first records of those."""
    head = repository.head()
    if not pending or head is None:
        return set()
    since = (
        None if scope.since is None else min(lineage.first.moment for lineage in pending) - _SLACK
    )
    commits = CommitResolver(
        repository, situation.project, situation.trail.directory.log, since=since
    )
    derived = resolve_commits(pending, repository, situation.trail.directory, commits)
    groups = {
        key: group for key, group in grouped(pending, derived).items() if key[1].commit != head
    }
    with CommittedFiles(repository, situation.project) as files:
        files.prefetch(list({path for path, _ in groups}), since)
        landings = Attributions(files, _allowed(repository, head, scope.when))
        landed = {
            identifier: where
            for (path, commit), group in groups.items()
            for identifier, where in landings.of(path, commit, group).items()
        }
    return {
        each.first.id
        for each in pending
        if each.first.id in landed and renewals.add(each, landed[each.first.id])
    }


def _allowed(repository: Repository, head: str, when: BackfillWhen) -> Callable[[str], bool]:
    """Return what says whether a commit may be written: never HEAD, which may be amended."""
    if when != BackfillWhen.LANDED:
        return lambda commit: commit != head
    branch = repository.upstream_commit()
    return lambda commit: (
        commit != head and branch is not None and repository.is_ancestor(commit, branch)
    )
