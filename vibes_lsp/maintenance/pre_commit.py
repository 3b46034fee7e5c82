"""What the pre-commit hook does (R4): fold the journal, backfill earlier commits, stage the trail.

No failure stops a commit: it is reported, and the rest is left to the next commit. Only a commit
that would remove a whole trail is stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from vibes_lsp.errors import AuditDirNotFound, RefusedWrite, VibesError, report
from vibes_lsp.history.missing_trail import refuse_missing_trail
from vibes_lsp.history.staging import CommitIndex, open_commit_index
from vibes_lsp.maintenance.backfill import BackfillScope, backfill
from vibes_lsp.maintenance.lost_records import refuse_removed_trail, restore_lost_records
from vibes_lsp.model.vocabulary import BackfillWhen
from vibes_lsp.recording.recorder import Recorder, utc_now
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir, named_audit_dir
from vibes_lsp.store.config import load_config
from vibes_lsp.store.files import is_inside
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME
from vibes_lsp.store.writer import is_truncated

RECENT: Final = timedelta(days=90)
"""Maximum age of annotations to backfill while a commit waits; `vibes backfill` has no limit."""


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
    now: Callable[[], datetime] = utc_now,
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
    changed = [] if index is None else index.changed_files()
    if index is None:
        return []
    refuse_removed_trail(index, AuditDir(audit_dir or folder / AUDIT_DIR_NAME), changed)
    is_missing = audit_dir is not None and not audit_dir.exists()  # in a branch without a trail
    if is_missing or index.may_be_empty(changed):
        return []
    root = index.repository.root
    named = (
        [named_audit_dir(audit_dir)] if audit_dir is not None else _trails(folder, root, changed)
    )
    own = [directory for directory in named if is_inside(directory.path, root)]
    by_framework = "PRE_COMMIT" in environment
    prepared = [
        _prepare(directory, index, now, prepare, by_framework=by_framework) for directory in own
    ]
    return [_restore(trail, index, changed) for trail in prepared]


def _restore(trail: PreparedTrail, index: CommitIndex, changed: Collection[str]) -> PreparedTrail:
    try:
        restored = restore_lost_records(index, trail.directory, changed, trail.staged)
    except VibesError as error:
        return replace(trail, problems=(*trail.problems, error))
    return replace(trail, restored=restored)


def _trails(folder: Path, root: Path, changed: Iterable[str]) -> list[AuditDir]:
    found = dict.fromkeys(_nearest(folder))
    for parent in dict.fromkeys((root / name).parent for name in changed):
        found.update(dict.fromkeys(_nearest(parent)))
    return list(found)


def _nearest(folder: Path) -> Iterable[AuditDir]:
    try:
        return [find_audit_dir(folder)]
    except AuditDirNotFound:
        return []


def _prepare(
    directory: AuditDir,
    index: CommitIndex,
    now: Callable[[], datetime],
    prepare: Callable[[AuditDir], object],
    *,
    by_framework: bool,
) -> PreparedTrail:
    """Fold, backfill and stage one trail, and collect what fails.

    The pre-commit framework stashes unstaged changes and restores them as a patch. A trail that it
    may have stashed stays unchanged.
    """
    problems: list[VibesError] = []
    backfilled: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    try:
        refuse_missing_trail(directory.project)
    except RefusedWrite as error:
        return PreparedTrail(directory, problems=(error,))
    try:
        if by_framework and (is_truncated(directory) or not index.differs_from_head(directory.log)):
            return PreparedTrail(directory)
        prepare(directory)
        with Recorder(directory, now=now) as recorder:
            backfilled = _backfill(recorder, index)
    except VibesError as error:
        problems.append(error)
    except Exception as error:  # noqa: BLE001  # stage what was recorded
        problems.append(report(error))
    try:
        settings = (directory.config, directory.gitignore, directory.gitattributes)
        staged = tuple(
            index.stage((directory.log, directory.manifest), (*settings, *_blobs(directory)))
        )
    except VibesError as error:
        problems.append(error)
    return PreparedTrail(directory, backfilled, staged, tuple(problems))


def _backfill(recorder: Recorder, index: CommitIndex) -> tuple[str, ...]:
    when = load_config(recorder.directory).config.backfill.when
    if when == BackfillWhen.MANUAL or index.is_rebasing:
        return ()
    scope = BackfillScope(when, recorder.now() - RECENT)
    return backfill(recorder, scope, repository=index.repository).backfilled


def _blobs(directory: AuditDir) -> Iterator[Path]:
    try:
        yield from sorted(path for path in directory.blobs.iterdir() if path.suffix == ".gz")
    except OSError:
        return
