"""Remapping: writing anew where annotations are whose commits were rewritten, by a rebase or a squash (RFC 7.3.1, R4b)."""

from __future__ import annotations

from collections.abc import Sequence

from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.history.commit_resolution import CommitResolver
from vibes_lsp.history.committed import CommittedFiles
from vibes_lsp.history.repository import open_repository
from vibes_lsp.index.commits import resolve_commits, rewritten
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, SupersedesReason
from vibes_lsp.recording.commit_attribution import Attributions, Renewals, grouped, may_land
from vibes_lsp.recording.context import Draft, RecordingContext
from vibes_lsp.recording.results import Remapped
from vibes_lsp.store.files import is_inside, read_file


def remap(situation: RecordingContext) -> tuple[Draft, Remapped]:
    """Return the records of annotations whose commit HEAD does not come from any more, but from another that has them.

    An annotation in a file that the rewrite did not change stays as it is. One that is not found gets an orphan record, once.

    Raises:
        HistoryUnavailable: The project is in no git repository, or in a shallow clone: then nobody can tell what was rewritten.
    """
    repository = open_repository(situation.project)
    if repository is None:
        raise HistoryUnavailable(
            f"{situation.project} is in no git repository",
            hint="only what a commit had can be remapped",
        )
    if repository.boundary():
        raise HistoryUnavailable(
            "this clone is shallow: which commits were rewritten cannot be told",
            hint="run `git fetch --unshallow`",
        )
    lineages = situation.trail.lineages()
    commits = CommitResolver(repository, situation.project, situation.trail.directory.log)
    gone = rewritten(lineages, commits)
    affected = [lineage for lineage in lineages if lineage.first.id in gone]
    derived = resolve_commits(affected, repository, situation.trail.directory, commits)
    changed = [each for each in affected if may_land(each) and not _is_unchanged(situation, each)]
    remapped, orphaned = Renewals(SupersedesReason.REWRITE), Renewals(SupersedesReason.ORPHAN)
    with CommittedFiles(repository, situation.project) as files:
        groups = grouped(changed, derived)
        files.prefetch(list({path for path, _ in groups}))
        landings = Attributions(files, lambda _: True)
        for (path, commit), group in groups.items():
            own = files.at(path, commit.commit)
            rewritten_file = [
                each
                for each in group
                if own is None or sha256(own.content) != each.current.text("file_content_hash")
            ]
            landed = landings.of(path, commit, rewritten_file)
            for lineage in rewritten_file:
                if lineage.first.id in landed:
                    remapped.add(lineage, landed[lineage.first.id])
                elif not _is_orphan(lineage, commits) and landings.is_nowhere(
                    lineage, path, (commit.commit, repository.head() or "")
                ):
                    orphaned.add_orphan(
                        lineage, commit.commit, files.commit_time(commit.commit) or situation.now
                    )
    return _written(situation, remapped, orphaned, affected)


def _written(
    situation: RecordingContext, remapped: Renewals, orphaned: Renewals, affected: Sequence[Lineage]
) -> tuple[Draft, Remapped]:
    draft = Draft(
        situation.timestamp,
        None,
        [*remapped.records, *orphaned.records],
        [*remapped.edges, *orphaned.edges],
    )
    replaced = {*remapped.replaced, *orphaned.replaced}
    unchanged = tuple(
        lineage.current.id for lineage in affected if lineage.current.id not in replaced
    )
    records = (*remapped.written(), *orphaned.written())
    return draft, Remapped(
        tuple(remapped.ids), tuple(orphaned.ids), unchanged, tuple(draft.edges), records
    )


def _is_unchanged(situation: RecordingContext, lineage: Lineage) -> bool:
    """Whether the file is on disk as the record saw it (RFC 7.3.1): whatever was rewritten, its lines still hold."""
    path = situation.project / normal_path(lineage.current.text("file_path") or "")
    try:
        data = read_file(path) if is_inside(path, situation.project) else None
    except UnreadableFile:
        return False
    return data is not None and sha256(data) == lineage.current.text("file_content_hash")


def _is_orphan(lineage: Lineage, commits: CommitResolver) -> bool:
    """Whether a record says already that it is not found in a commit that HEAD comes from."""
    marks = [
        each.text("commit_hash") or ""
        for each in lineage.members
        if each.text("action") == Action.REBASE_ORPHAN
    ]
    return bool(commits.reached(filter(None, marks)))
