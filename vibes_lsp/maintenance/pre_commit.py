"""What belongs into a commit while it is being made (R4): the trail, folded, with the commits before filled in.

Git's pre-commit hook comes here. Nothing that goes wrong stops a commit: it is told, and what is left over goes into the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from vibes_lsp.errors import AuditDirNotFound, VibesError, report
from vibes_lsp.history.staging import CommitIndex, open_commit_index
from vibes_lsp.maintenance.backfill import BackfillScope, backfill
from vibes_lsp.model.vocabulary import BackfillWhen
from vibes_lsp.recording.recorder import Recorder, utc_now
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir, named_audit_dir
from vibes_lsp.store.config import load_config
from vibes_lsp.store.files import is_inside
from vibes_lsp.store.writer import is_truncated

RECENT: Final = timedelta(days=90)
"""How old an annotation is at most whose commit is looked for while a commit waits; `vibes backfill` looks for all."""


@dataclass(frozen=True, slots=True)
class PreparedTrail:
    """What was done to one trail.

    Attributes:
        directory: The trail.
        backfilled: The ids of the records that were written.
        staged: The names of the files, from the top of the work tree, that the commit got.
        problems: What could not be done; the commit goes on.
    """

    directory: AuditDir
    backfilled: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    problems: tuple[VibesError, ...] = ()


def prepare_commit(
    folder: Path,
    environment: Mapping[str, str],
    audit_dir: Path | None = None,
    *,
    now: Callable[[], datetime] = utc_now,
) -> list[PreparedTrail]:
    """Bring the trails of a commit up to date and stage them.

    Those are the trail of the folder itself, and those of the files that the commit changes. Where git may refuse the commit because
    it changes nothing, nothing is written: the trail would stay staged in a tree that was clean.

    Args:
        folder: Where git runs its hook: the top of the work tree.
        environment: The hook's.
        audit_dir: Only this trail.
        now: The clock.

    Raises:
        HistoryUnavailable: Git cannot be asked.
        AuditDirNotFound: The trail that is named is not there.
    """
    index = open_commit_index(folder, environment)
    if index is None or index.may_be_empty():
        return []
    named = [named_audit_dir(audit_dir)] if audit_dir is not None else _trails(folder, index)
    own = [directory for directory in named if is_inside(directory.path, index.repository.root)]
    return [
        _prepare(directory, index, now, by_framework="PRE_COMMIT" in environment)
        for directory in own
    ]


def _trails(folder: Path, index: CommitIndex) -> list[AuditDir]:
    found = dict.fromkeys(_nearest(folder))
    root = index.repository.root
    for parent in dict.fromkeys((root / name).parent for name in index.changed_files()):
        found.update(dict.fromkeys(_nearest(parent)))
    return list(found)


def _nearest(folder: Path) -> Iterable[AuditDir]:
    try:
        return [find_audit_dir(folder)]
    except AuditDirNotFound:
        return []


def _prepare(
    directory: AuditDir, index: CommitIndex, now: Callable[[], datetime], *, by_framework: bool
) -> PreparedTrail:
    """Fold, back-fill and stage one trail; what fails is left out, and told.

    The pre-commit framework puts aside what is not staged, and brings it back by a patch: a trail that may be put aside is not touched.
    """
    problems: list[VibesError] = []
    backfilled: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    try:
        if by_framework and (is_truncated(directory) or not index.differs_from_head(directory.log)):
            return PreparedTrail(directory)
        with Recorder(directory, now=now) as recorder:
            backfilled = _backfill(recorder, index)
    except VibesError as error:
        problems.append(error)
    except Exception as error:  # noqa: BLE001  # what was recorded is staged all the same
        problems.append(report(error))
    try:
        housekeeping = (directory.config, directory.gitignore, directory.gitattributes)
        staged = tuple(
            index.stage((directory.log, directory.manifest), (*housekeeping, *_blobs(directory)))
        )
    except VibesError as error:
        problems.append(error)
    return PreparedTrail(directory, backfilled, staged, tuple(problems))


def _backfill(recorder: Recorder, index: CommitIndex) -> tuple[str, ...]:
    when = load_config(recorder.directory).config.backfill.when
    if when == BackfillWhen.MANUAL or index.is_rebasing:
        return ()
    return backfill(recorder, BackfillScope(when, recorder.now() - RECENT)).backfilled


def _blobs(directory: AuditDir) -> Iterator[Path]:
    try:
        yield from sorted(path for path in directory.blobs.iterdir() if path.suffix == ".gz")
    except OSError:
        return
