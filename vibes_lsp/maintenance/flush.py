"""Write what waits into the log on request, before the next commit (R29)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable, RefusedWrite, UnreadableFile
from vibes_lsp.git.file_encodings import as_stored
from vibes_lsp.git.given_up_commits import take_back
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.git.staging import commit_files
from vibes_lsp.maintenance.due_hunks import due_hunks, late_records
from vibes_lsp.maintenance.expired_records import drop_expired
from vibes_lsp.maintenance.new_files import DiskFiles
from vibes_lsp.maintenance.waiting_into_log import (
    due_records,
    read_logged,
    waiting_files_of,
    write_due,
)
from vibes_lsp.model.members import Members
from vibes_lsp.model.paths import normal_path
from vibes_lsp.placing.edits import edit_id
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import is_inside, read_file
from vibes_lsp.store.journal_folding import fold_journal
from vibes_lsp.trail.committed_waiting import read_uncommitted_waiting

_MESSAGE: Final = "Record what the audit trail was waiting for"
_MAX_FILE: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class Flushed:
    """What was written.

    Attributes:
        written: The ids of the records.
        waiting: The ids of the annotations that go on waiting.
        commit: The commit that was made; None for none.
        problems: What could not be read.
    """

    written: tuple[str, ...]
    waiting: tuple[str, ...]
    commit: str | None = None
    problems: tuple[str, ...] = ()


def flush(directory: AuditDir) -> Flushed:
    """Write the waiting edits that the files on disk have, and the verdicts on what the log has.

    Raises:
        RefusedWrite: A file cannot be written.
        UnreadableFile: The log cannot be read.
    """
    take_back(directory)
    repository = open_repository(directory.project)
    if repository is None:
        return _write(directory, None, reads_disk=True)
    with closing(repository):
        return _write(directory, repository, reads_disk=True)


def flush_and_commit(directory: AuditDir) -> Flushed:
    """Write what waits about HEAD, and make a commit of the trail alone.

    Records of lines that are not committed yet go on waiting.

    Raises:
        RefusedWrite: There is no work tree, or no commit yet, or git refuses.
        UnreadableFile: The log cannot be read.
    """
    take_back(directory)
    repository = open_repository(directory.project)
    head = None if repository is None else repository.head()
    if repository is None or head is None:
        raise RefusedWrite(
            f"{directory.project} has no commit to add to",
            hint="run `vibes flush` without --commit",
        )
    with closing(repository):
        done = _write(directory, repository, reads_disk=False)
        files = [directory.log, directory.manifest, *_blobs(directory)]
        try:
            is_made = commit_files(repository, files, _MESSAGE)
        except HistoryUnavailable as error:
            raise RefusedWrite(
                error.message, hint="the records are written; commit the audit trail yourself"
            ) from error
        commit = repository.objects.head() if is_made else None
        return Flushed(done.written, done.waiting, commit, done.problems)


def _write(directory: AuditDir, repository: Repository | None, *, reads_disk: bool) -> Flushed:
    """Write what HEAD has, and what the files on disk have."""
    waiting = read_uncommitted_waiting(directory, others=True)
    logged = read_logged(directory, waiting)
    edits = waiting_files_of(directory, waiting, logged)
    due: dict[str, list[Members]] = {}
    head, prefix = None, ""
    if repository is not None:
        head, prefix = repository.head(), repository.prefix_of(directory.project)
        due = late_records(edits, repository, prefix)
    if reads_disk:
        objects = None if repository is None else repository.objects
        files = DiskFiles(_reader(directory.project), objects, head, prefix)
        for edit, records in due_hunks(edits, files).items():
            due.setdefault(edit, []).extend(records)
    entering = due_records(directory, waiting, logged, due)
    write_due(directory, entering)
    fold_journal(directory)
    drop_expired(directory, datetime.now(UTC))
    done = {*logged.hunks, *(edit_id(record) for record in entering.hunks)}
    left = tuple(
        record.id
        for record in waiting.records
        if record.is_own and record.members.is_annotation and record.id not in done
    )
    return Flushed(entering.ids, left, problems=waiting.unreadable)


def _reader(project: Path) -> Callable[[str], bytes | None]:
    def read(path: str) -> bytes | None:
        file = project / normal_path(path)
        if not is_inside(file, project):
            return None
        try:
            content = read_file(file, limit=_MAX_FILE)
        except UnreadableFile:
            return None
        return None if content is None else as_stored(project, path, content)

    return read


def _blobs(directory: AuditDir) -> list[Path]:
    try:
        return sorted(path for path in directory.blobs.iterdir() if path.suffix == ".gz")
    except OSError:
        return []
