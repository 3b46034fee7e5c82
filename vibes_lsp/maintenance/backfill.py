"""Write into the log which commit introduced each annotation (RFC 9.2, R4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.commit_resolution import CommitResolver
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.maintenance.commit_attribution import (
    CommitAttribution,
    add_committed,
    group_by_commit,
    has_locatable_lines,
)
from vibes_lsp.maintenance.committed_files import CommittedFiles
from vibes_lsp.maintenance.committed_hunks import CLOCK_SKEW, is_allowed
from vibes_lsp.maintenance.superseding_records import SupersedingRecords
from vibes_lsp.model.vocabulary import BackfillWhen, SupersedesReason
from vibes_lsp.recording.context import Draft, RecordingContext
from vibes_lsp.recording.recorder import Recorder
from vibes_lsp.recording.results import Result
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import recorded_commit, resolve_commits


@dataclass(frozen=True, slots=True)
class BackfillScope:
    """Which commits and annotations to look at.

    Attributes:
        when: `landed` takes only commits of the branch that others build on; any other value takes
            all commits before HEAD.
        since: Only annotations from then on; None for all.
    """

    when: BackfillWhen = BackfillWhen.NEXT_COMMIT
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Backfilled(Result):
    """Annotations whose commit was written into the log (R4).

    Attributes:
        backfilled: The ids of the new records.
        pending: The ids of the annotations whose commit is unknown or must not be written yet.
        edges: The ids of the edges from the new records to those that they supersede.
        records: The new records as they are on disk.
    """

    backfilled: tuple[str, ...]
    pending: tuple[str, ...]
    edges: tuple[str, ...]
    records: tuple[dict[str, Any], ...]

    @property
    def written(self) -> tuple[str, ...]:
        """The ids of all that was written."""
        return (*self.backfilled, *self.edges)


def backfill(
    recorder: Recorder,
    scope: BackfillScope | None = None,
    *,
    dry_run: bool = False,
    repository: Repository | None = None,
) -> Backfilled:
    """Write into the log which commits introduced annotations, except for HEAD (R4).

    An annotation is due if its commit is an ancestor of HEAD and has its path and its lines. A
    second call writes nothing.

    Args:
        recorder: The trail's recorder.
        scope: By default all annotations.
        dry_run: Write nothing, only return what would be written.
        repository: The repository that the project is in, if it is open.

    Raises:
        HistoryUnavailable: The project is in no git repository.
    """
    chosen = scope or BackfillScope()
    return recorder.write_derived(
        Backfilled,
        lambda context: _backfill(context, chosen, repository),
        dry_run=dry_run,
        at_once=True,
    )


def _backfill(
    context: RecordingContext, scope: BackfillScope, repository: Repository | None
) -> tuple[Draft, Backfilled]:
    repository = repository or open_repository(context.project)
    if repository is None:
        raise HistoryUnavailable(
            f"{context.project} is in no git repository",
            hint="`vibes backfill` needs git's history",
        )
    trail = context.trail
    all_lineages = trail.lineages() if scope.since is None else trail.lineages_since(scope.since)
    lineages = [lineage for lineage in all_lineages if not lineage.current.is_waiting]
    pending = [lineage for lineage in lineages if recorded_commit(lineage) is None]
    new = SupersedingRecords(SupersedesReason.COMMIT)
    done = _add_due(
        context,
        repository,
        [lineage for lineage in pending if has_locatable_lines(lineage)],
        scope,
        new,
    )
    draft = Draft(context.timestamp, None, new.records, new.edges)
    left = tuple(lineage.current.id for lineage in pending if lineage.first.id not in done)
    return draft, Backfilled(tuple(new.ids), left, tuple(new.edges), new.without_edges())


def _add_due(
    context: RecordingContext,
    repository: Repository,
    pending: Sequence[Lineage],
    scope: BackfillScope,
    new: SupersedingRecords,
) -> set[str]:
    """Add the records of due annotations in the order of the edits; return their first ids."""
    head = repository.head()
    if not pending or head is None:
        return set()
    since = (
        None
        if scope.since is None
        else min(lineage.first.moment for lineage in pending) - CLOCK_SKEW
    )
    commits = CommitResolver(repository, context.project, context.trail.directory.log, since=since)
    resolved = resolve_commits(pending, commits)
    groups = {
        key: group
        for key, group in group_by_commit(pending, resolved).items()
        if key[1].commit != head
    }
    files = CommittedFiles(repository, context.project)
    files.prefetch(list({path for path, _ in groups}), since)
    attribution = CommitAttribution(
        files, lambda commit: is_allowed(repository, commit, head, scope.when)
    )
    committed_lines = {
        identifier: lines
        for (path, commit), group in groups.items()
        for identifier, lines in attribution.find(path, commit, group).items()
    }
    return {
        lineage.first.id
        for lineage in pending
        if lineage.first.id in committed_lines
        and add_committed(new, lineage, committed_lines[lineage.first.id])
    }
