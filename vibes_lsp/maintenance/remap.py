"""Record where annotations are whose commits a rebase or a squash rewrote (RFC 7.3.1, R4b)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar

from vibes_lsp.errors import HistoryUnavailable, ShallowClone, UnreadableFile
from vibes_lsp.git.commit_resolution import CommitResolver
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.maintenance.commit_attribution import (
    CommitAttribution,
    add_committed,
    group_by_commit,
    has_locatable_lines,
)
from vibes_lsp.maintenance.committed_files import CommittedFiles
from vibes_lsp.maintenance.superseding_records import SupersedingRecords
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, EdgeType, RecordType, SupersedesReason
from vibes_lsp.recording.context import Draft, RecordingContext
from vibes_lsp.recording.recorder import Recorder
from vibes_lsp.recording.requests import Request
from vibes_lsp.recording.results import Result
from vibes_lsp.store.files import is_inside, read_file
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import resolve_commits, rewritten_commits


@dataclass(frozen=True, slots=True)
class Remapped(Result):
    """Annotations whose commit was rewritten (RFC 7.3.1, R4b).

    Attributes:
        remapped: The ids of the records that give the lines in the new commit.
        orphaned: The ids of the records of annotations that are not in the new commit.
        unchanged: The ids of the annotations for which nothing was written.
        edges: The ids of the edges from the new records to those that they supersede.
        records: The new records as they are on disk.
    """

    record_types: ClassVar[frozenset[str]] = frozenset(
        {RecordType.LINE, RecordType.FUNCTION, EdgeType.SUPERSEDES}
    )
    remapped: tuple[str, ...]
    orphaned: tuple[str, ...]
    unchanged: tuple[str, ...]
    edges: tuple[str, ...]
    records: tuple[dict[str, Any], ...]


class Remap(Request[Remapped]):
    """`vibes.remap`: the locations of the project's annotations after a rewrite of history."""


def remap(
    recorder: Recorder,
    *,
    dry_run: bool = False,
    request_id: str | None = None,
    repository: Repository | None = None,
) -> Remapped:
    """Record where annotations are whose commit is no ancestor of HEAD any more.

    An annotation in a file that the rewrite did not change gets no record. One that is not found
    gets an orphan record, once.

    Args:
        recorder: The trail's recorder.
        dry_run: Write nothing, only return what would be written; the request id is not used up.
        request_id: The same id again changes nothing and returns the same result.
        repository: The repository that the project is in, if it is open; it is closed.

    Raises:
        HistoryUnavailable: The project is in no git repository.
        ShallowClone: Git does not have the commits that were rewritten.
    """
    return recorder.write_derived(
        Remapped,
        lambda context: _remap(context, repository or open_repository(context.project)),
        dry_run=dry_run,
        request_id=request_id,
        at_once=True,
    )


def _remap(context: RecordingContext, repository: Repository | None) -> tuple[Draft, Remapped]:
    if repository is None:
        raise HistoryUnavailable(
            f"{context.project} is in no git repository",
            hint="`vibes backfill` needs git's history",
        )
    if repository.shallow_boundary():
        raise ShallowClone(
            "this clone is shallow: it does not have the commits that were rewritten",
            hint="run `git fetch --unshallow`",
        )
    lineages = [lineage for lineage in context.trail.lineages() if not lineage.current.is_waiting]
    commits = CommitResolver(repository, context.project, context.trail.directory.log)
    gone = rewritten_commits(lineages, commits)
    affected = [lineage for lineage in lineages if lineage.first.id in gone]
    resolved = resolve_commits(affected, commits)
    changed = [
        lineage
        for lineage in affected
        if has_locatable_lines(lineage) and not _is_unchanged(context, lineage)
    ]
    remapped = SupersedingRecords(SupersedesReason.REWRITE)
    orphaned = SupersedingRecords(SupersedesReason.ORPHAN)
    with closing(repository):
        files = CommittedFiles(repository, context.project)
        groups = group_by_commit(changed, resolved)
        files.prefetch(list({path for path, _ in groups}))
        attribution = CommitAttribution(files, lambda _: True)
        for (path, commit), group in groups.items():
            own = files.read(path, commit.commit)
            in_changed_file = [
                lineage
                for lineage in group
                if own is None or sha256(own.content) != lineage.current.text("file_content_hash")
            ]
            committed = attribution.find(path, commit, in_changed_file)
            for lineage in in_changed_file:
                if lineage.first.id in committed:
                    add_committed(remapped, lineage, committed[lineage.first.id])
                elif (
                    not _is_orphan(lineage, commits)
                    and not context.hides_saved(path)  # git's versions never have the lines
                    and attribution.is_absent(
                        lineage, path, (commit.commit, repository.head() or "")
                    )
                ):
                    orphaned.add(
                        lineage.current.id,
                        lineage.current.members,
                        {"action": Action.REBASE_ORPHAN.value},
                        commit.commit,
                        files.commit_time(commit.commit) or context.now,
                    )
    return _written(context, remapped, orphaned, affected)


def _written(
    context: RecordingContext,
    remapped: SupersedingRecords,
    orphaned: SupersedingRecords,
    affected: Sequence[Lineage],
) -> tuple[Draft, Remapped]:
    draft = Draft(
        context.timestamp,
        None,
        [*remapped.records, *orphaned.records],
        [*remapped.edges, *orphaned.edges],
    )
    superseded = {*remapped.superseded, *orphaned.superseded}
    unchanged = tuple(
        lineage.current.id for lineage in affected if lineage.current.id not in superseded
    )
    records = (*remapped.without_edges(), *orphaned.without_edges())
    return draft, Remapped(
        tuple(remapped.ids), tuple(orphaned.ids), unchanged, tuple(draft.edges), records
    )


def _is_unchanged(context: RecordingContext, lineage: Lineage) -> bool:
    """Return whether the file on disk has the record's hash, so its lines are right (RFC 7.3.1)."""
    path = context.project / normal_path(lineage.current.text("file_path") or "")
    try:
        content = read_file(path) if is_inside(path, context.project) else None
    except UnreadableFile:
        return False
    return content is not None and sha256(content) == lineage.current.text("file_content_hash")


def _is_orphan(lineage: Lineage, commits: CommitResolver) -> bool:
    """Return whether an orphan record already names an ancestor of HEAD."""
    marks = [
        member.text("commit_hash") or ""
        for member in lineage.members
        if member.text("action") == Action.REBASE_ORPHAN
    ]
    return bool(commits.reachable(filter(None, marks)))
