"""What the pre-commit hook does (R4, R29): write what waits for this commit, and stage the trail.

It also folds the journal and backfills earlier commits. The commit waits for it, so what only some
commits need is imported when they need it.

No failure stops a commit: it is reported, and the rest is left to the next commit. Only a commit
that would remove a whole trail is stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from vibes_lsp.errors import AuditDirNotFound, RefusedWrite, UnreadableFile, VibesError, report
from vibes_lsp.git.given_up_commits import (
    FileInIndex,
    Mark,
    committing_process,
    hook_lock,
    take_back,
    write_mark,
)
from vibes_lsp.git.missing_trail import refuse_missing_trail
from vibes_lsp.git.staging import CommitIndex, open_commit_index
from vibes_lsp.maintenance.late_edits import is_seen, note_seen
from vibes_lsp.maintenance.lost_records import (
    Restored,
    refuse_removed_trail,
    remove_repeated,
    restore_lost_records,
)
from vibes_lsp.maintenance.pending_commits import read_commits
from vibes_lsp.model.vocabulary import BackfillWhen
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir, named_audit_dir
from vibes_lsp.store.files import is_inside, read_file
from vibes_lsp.store.journal import journal_files
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME
from vibes_lsp.store.waiting import (
    WaitingPlace,
    make_private_folder,
    place_of_waiting,
    register_hook,
    waiting_place,
)
from vibes_lsp.store.waiting_lines import Waiting
from vibes_lsp.trail.committed_waiting import read_uncommitted_waiting

if TYPE_CHECKING:
    from vibes_lsp.maintenance.waiting_into_log import DueRecords

RECENT: Final = timedelta(days=90)
"""Maximum age of annotations to backfill while a commit waits; `vibes backfill` has no limit."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class PreparedTrail:
    """What was done to one trail.

    Attributes:
        directory: The trail.
        backfilled: The ids of the written records.
        staged: The staged files, from the top of the work tree.
        problems: What failed; the commit goes on.
        restored: How many records of HEAD the commit lacked, which were put back.
    """

    directory: AuditDir
    backfilled: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    problems: tuple[VibesError, ...] = ()
    restored: int = 0


def prepare_commit(
    folder: Path,
    environment: Mapping[str, str],
    audit_dir: Path | None = None,
    *,
    now: Callable[[], datetime] = _utc_now,
    prepare: Callable[[AuditDir], object] = lambda _directory: None,
) -> list[PreparedTrail]:
    """Update and stage the trails of a commit.

    These are the folder's own trail and those of the files that the commit changes. If git may
    refuse the commit as empty, nothing is written: the trail would stay staged in a tree that was
    clean.

    Args:
        folder: Where git runs the hook: the top of the work tree.
        environment: The hook's environment.
        audit_dir: Only this trail.
        now: The clock.
        prepare: Called for each trail before anything else is written to it.

    Raises:
        HistoryUnavailable: Git fails.
        RemovedTrail: The commit would remove a whole trail.
    """
    index = open_commit_index(folder, environment)
    if index is None:
        return []
    changed = index.changed_files()
    refuse_removed_trail(index, AuditDir(audit_dir or folder / AUDIT_DIR_NAME), changed)
    if index.is_sequencing:
        return []  # what it brings is late, and the next commit has it
    is_missing = audit_dir is not None and not audit_dir.exists()  # in a branch without a trail
    if is_missing or index.may_be_empty(changed):
        return []
    root = index.repository.root
    named = (
        [named_audit_dir(audit_dir)] if audit_dir is not None else _trails(folder, root, changed)
    )
    own = [directory for directory in named if is_inside(directory.path, root)]
    by_framework = "PRE_COMMIT" in environment
    return [
        _prepare(directory, index, changed, now, prepare, by_framework=by_framework)
        for directory in own
    ]


def _trails(folder: Path, root: Path, changed: Iterable[str]) -> list[AuditDir]:
    trails = dict.fromkeys(_nearest(folder))
    for parent in dict.fromkeys((root / name).parent for name in changed):
        trails.update(dict.fromkeys(_nearest(parent)))
    return list(trails)


def _nearest(folder: Path) -> Iterable[AuditDir]:
    try:
        return [find_audit_dir(folder)]
    except AuditDirNotFound:
        return []


def _prepare(
    directory: AuditDir,
    index: CommitIndex,
    changed: Mapping[str, str],
    now: Callable[[], datetime],
    prepare: Callable[[AuditDir], object],
    *,
    by_framework: bool,
) -> PreparedTrail:
    """Write, backfill and stage one trail, and collect what fails.

    The pre-commit framework stashes unstaged changes and restores them as a patch. A trail that it
    may have stashed stays unchanged.
    """
    problems: list[VibesError] = []
    with ExitStack() as stack:
        place: WaitingPlace | None = None
        try:
            place = _let_wait(directory, index)
            if place is not None:
                stack.enter_context(hook_lock(place).acquire())
        except VibesError as error:
            problems.append(error)
        return _prepare_locked(
            directory, index, changed, now, prepare, place, problems, by_framework=by_framework
        )


def _prepare_locked(  # noqa: PLR0917
    directory: AuditDir,
    index: CommitIndex,
    changed: Mapping[str, str],
    now: Callable[[], datetime],
    prepare: Callable[[AuditDir], object],
    place: WaitingPlace | None,
    problems: list[VibesError],
    *,
    by_framework: bool,
) -> PreparedTrail:
    backfilled: tuple[str, ...] = ()
    mark, waiting = Mark(index.repository.head(), committing_process()), Waiting()
    try:
        refuse_missing_trail(directory.project)
    except RefusedWrite as error:
        problems.append(error)
        return _restore_only(directory, index, changed, problems)
    try:
        take_back(directory, by_hook=True)
        if by_framework and place is None:
            return PreparedTrail(directory, problems=tuple(problems))
        prepare(directory)
        waiting = read_uncommitted_waiting(directory, others=True)
        problems += [UnreadableFile(message) for message in waiting.unreadable]
        due = _due(directory, index, changed, waiting, place)
        if place is not None:
            mark = _mark_of(directory, mark, due)
            write_mark(place, mark)
        if due is not None:
            from vibes_lsp.maintenance.waiting_into_log import write_due  # noqa: PLC0415

            write_due(directory, due)
        remove_repeated(directory)
        _fold(directory)
        backfilled = _backfill(directory, index, now, () if due is None else due.ids)
    except VibesError as error:
        problems.append(error)
    except Exception as error:  # noqa: BLE001  # stage what was recorded
        problems.append(report(error))
    staged: tuple[str, ...] = ()
    restored = Restored()
    try:
        settings = (directory.config, directory.gitignore, directory.gitattributes)
        entries = index.stage((directory.log, directory.manifest), (*settings, *_blobs(directory)))
        staged = tuple(entries)
        restored = restore_lost_records(index, directory, changed, staged)
        if place is not None:
            files = {name: FileInIndex(*entry) for name, entry in entries.items()}
            records = (*mark.records, *backfilled)
            write_mark(
                place,
                msgspec.structs.replace(
                    mark, staged=files | _restored_files(index, files, restored), records=records
                ),
            )
        if place is not None and waiting.records:
            note_seen(place, index.write_tree())
            _drop_expired(directory, now())
    except VibesError as error:
        problems.append(error)
    return PreparedTrail(directory, backfilled, staged, tuple(problems), restored.records)


def _restored_files(
    index: CommitIndex, staged: Mapping[str, FileInIndex], restored: Restored
) -> dict[str, FileInIndex]:
    """Return the files into which records were put back, as they were first and are now."""
    after = index.entries(list(restored.before)) if restored.records else {}
    return {
        name: FileInIndex(staged[name].before if name in staged else entry, after.get(name, ""))
        for name, entry in restored.before.items()
    }


def _drop_expired(directory: AuditDir, now: datetime) -> None:
    # a commit for which nothing waits need not import this
    from vibes_lsp.maintenance.expired_records import drop_expired  # noqa: PLC0415

    drop_expired(directory, now)


def _restore_only(
    directory: AuditDir, index: CommitIndex, changed: Mapping[str, str], problems: list[VibesError]
) -> PreparedTrail:
    """Put back what the commit lacks of a trail that is not on the disk; write nothing there."""
    restored = Restored()
    try:
        restored = restore_lost_records(index, directory, changed, ())
    except VibesError as error:
        problems.append(error)
    return PreparedTrail(directory, problems=tuple(problems), restored=restored.records)


def _let_wait(directory: AuditDir, index: CommitIndex) -> WaitingPlace | None:
    """Let the trail's records wait for commits from now on; None where they cannot.

    The records of a trail that git ignores are never staged, so they do not wait either.
    """
    place = waiting_place(directory)
    if place is None:
        return None
    if place_of_waiting(directory) is None:
        if index.repository.is_ignored(directory.log):
            return None
        # only the first commit imports this
        from vibes_lsp.maintenance.hook_installation import (  # noqa: PLC0415
            NAMES,
            hooks_folder,
            update_hook,
        )

        hook = hooks_folder(index.repository).path / NAMES[0]
        if not hook.exists():
            return None
        register_hook(place, hook)
        update_hook(directory.project)
    make_private_folder(place, place.folder)
    place.staged.parent.mkdir(mode=0o700, exist_ok=True)  # a linked work tree's own
    return place


def _due(
    directory: AuditDir,
    index: CommitIndex,
    changed: Mapping[str, str],
    waiting: Waiting,
    place: WaitingPlace | None,
) -> DueRecords | None:
    """Return what enters the log with this commit, and what earlier ones brought without a hook."""
    if not waiting.records:
        return None
    # a commit for which nothing waits need not import these
    from vibes_lsp.maintenance.due_hunks import due_hunks, late_records  # noqa: PLC0415
    from vibes_lsp.maintenance.new_files import CommitFiles  # noqa: PLC0415
    from vibes_lsp.maintenance.waiting_into_log import (  # noqa: PLC0415
        due_records,
        read_logged,
        waiting_files_of,
    )

    repository = index.repository
    logged = read_logged(directory, waiting)
    edits = waiting_files_of(directory, waiting, logged)
    prefix = repository.prefix_of(directory.project)
    trail = f"{repository.relative_path(directory.path)}/"
    due = due_hunks(edits, CommitFiles(index, changed, prefix, trail))
    if place is None or not is_seen(place, repository):
        for edit, records in late_records(edits, repository, prefix).items():
            due.setdefault(edit, []).extend(records)
    return due_records(directory, waiting, logged, due)


def _mark_of(directory: AuditDir, mark: Mark, due: DueRecords | None) -> Mark:
    if due is None:
        return mark
    return msgspec.structs.replace(
        mark,
        records=due.ids,
        entries=tuple(due.entries),
        blobs=tuple(name for name, _ in due.blobs),
        manifest=read_file(directory.manifest) if due.entries else None,
    )


def _backfill(
    directory: AuditDir, index: CommitIndex, now: Callable[[], datetime], new: Sequence[str]
) -> tuple[str, ...]:
    repository, since = index.repository, now() - RECENT
    head = repository.head()
    known = read_commits(read_file(directory.log) or b"", since, new)
    if index.is_rebasing or head is None or not known.pending:
        return ()
    before = _ids_before(directory, index, head)
    pending = {name for name in known.pending if before is None or name in before}
    # few commits have anything to write, and each waits for what is imported
    from vibes_lsp.store.config import load_config  # noqa: PLC0415

    when = load_config(directory).config.backfill.when if pending else BackfillWhen.MANUAL
    if when == BackfillWhen.MANUAL:
        return ()
    written: tuple[str, ...] = ()
    if before is not None:
        from vibes_lsp.maintenance.committed_hunks import committed_hunks  # noqa: PLC0415
        from vibes_lsp.store.writer import AuditWriter  # noqa: PLC0415

        single = {name: known.pending[name] for name in pending - known.successors}
        records, is_any_left = committed_hunks(directory, repository, head, single, when)
        AuditWriter(directory, waits=False).append(records.records, known=known.ids.__contains__)
        written = (*records.ids, *records.edges)
        if not is_any_left and len(single) == len(pending):
            return written
    from vibes_lsp.maintenance.backfill import BackfillScope, backfill  # noqa: PLC0415
    from vibes_lsp.recording.recorder import Recorder  # noqa: PLC0415

    with Recorder(directory, now=now) as recorder:
        rest = backfill(recorder, BackfillScope(when, since), repository=repository)
    return (*written, *rest.written)


def _ids_before(directory: AuditDir, index: CommitIndex, head: str) -> Collection[str] | None:
    """Return the annotations that the log had before HEAD, which may be amended.

    None if HEAD has no log, as where git ignores the trail.
    """
    objects = index.repository.objects
    commit, name = objects.commit(head), index.repository.relative_path(directory.log)
    if commit is None or objects.entry(head, name) is None:
        return None
    logs = (objects.contents(f"{parent}:{name}") for parent in commit.parents[:1])
    return {name for log in logs for name in read_commits(log or b"", None).ids}


def _fold(directory: AuditDir) -> None:
    """Fold what an earlier version, or a program without our hook, left in the journal."""
    if journal_files(directory):
        from vibes_lsp.store.journal_folding import fold_journal  # noqa: PLC0415

        fold_journal(directory)


def _blobs(directory: AuditDir) -> Iterator[Path]:
    try:
        yield from sorted(path for path in directory.blobs.iterdir() if path.suffix == ".gz")
    except OSError:
        return
