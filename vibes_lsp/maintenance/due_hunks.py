"""Decides which records the edits that wait get in the log: hunks of their lines (R29, R32).

`placing.hunks` finds the lines; this module asks for the files, and for the edits that are about
them. What a commit without our hook brought is *late*.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

from vibes_lsp.anchors.line_hashes import is_long, line_hash, split_hashes
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.git.diff import tree_changes
from vibes_lsp.git.line_origins import line_origins
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.members import Members
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.placing.edits import RecordedEdit, logged_lines, read_edit
from vibes_lsp.placing.hash_placement import HashedText
from vibes_lsp.placing.hunks import (
    FileAtCommit,
    Origin,
    WrittenHunks,
    deletion_enters,
    hunks,
    late_hunks,
    other_records,
)
from vibes_lsp.placing.standing import CandidateEdits, has_left
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import is_inside, read_file
from vibes_lsp.store.kept_texts import read_kept_text
from vibes_lsp.store.waiting_lines import Waiting, WaitingRecord

_EMPTY: Final = HashedText(())
_MAX_FILE: Final = 64 << 20
_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)
"""What git cuts off the time of a commit."""


class NewFiles(Protocol):
    """The files of a commit being made, or those on disk, against the commits before.

    Paths are relative to the project.
    """

    def changed(self, asked: Collection[str], *, others: bool) -> Collection[str]:
        """Return the files that may have changed.

        Args:
            asked: Those of which edits wait.
            others: Whether lines may have moved from these to other files.
        """

    def file(self, path: str) -> FileAtCommit | None:
        """Return a changed file; None if it was removed, or git stores another content."""

    def before(self, path: str) -> HashedText:
        """Return a changed file as it was in the first parent."""


class WaitingFiles:
    """The edits of a trail that wait, by file.

    Args:
        directory: The trail.
        waiting: What waits.
        logged: The records that the log has of these edits, by the edit's id.
        written: The hunks that were written before.
        left_out: The ids of annotations that enter in another way.
    """

    def __init__(
        self,
        directory: AuditDir,
        waiting: Waiting,
        logged: Mapping[str, Sequence[Members]],
        written: WrittenHunks,
        left_out: Collection[str] = (),
    ) -> None:
        self.directory = directory
        self.logged = logged
        self.written = written
        self._records: dict[str, list[WaitingRecord]] = {}
        self._texts: dict[str, Text | None] = {}
        self._edits: dict[str, RecordedEdit | None] = {}
        for record in waiting.records:
            path = record.members.file_path
            if record.id in left_out or not record.members.is_annotation or not path:
                continue
            if can_be_in_project(path):
                self._records.setdefault(normal_path(path), []).append(record)

    @property
    def paths(self) -> Collection[str]:
        """The files."""
        return self._records.keys()

    def records(self, path: str) -> Sequence[WaitingRecord]:
        """Return the records of a file's edits, in the order of receipt."""
        return self._records.get(path, ())

    def edits(self, path: str, *, own: bool = True) -> list[RecordedEdit]:
        """Return the edits of a file that are this work tree's, or those of the others."""
        edits = (self.edit(record) for record in self.records(path) if record.is_own is own)
        return [edit for edit in edits if edit is not None]

    def unlogged(self, path: str) -> list[RecordedEdit]:
        """Return this work tree's edits of a file of which the log has nothing."""
        return [edit for edit in self.edits(path) if edit.id not in self.logged]

    def edit(self, record: WaitingRecord) -> RecordedEdit | None:
        """Return the edit of a record."""
        if record.id not in self._edits:
            self._edits[record.id] = read_edit(parse_object(record.data))
        return self._edits[record.id]

    def text(self, content: str) -> Text | None:
        """Return a text that is kept, by its `file_content_hash`."""
        if content not in self._texts:
            kept_bytes = read_kept_text(self.directory, content)
            self._texts[content] = None if kept_bytes is None else Text.from_bytes(kept_bytes)
        return self._texts[content]

    def candidates(self, path: str, moved: Sequence[RecordedEdit] = ()) -> CandidateEdits:
        """Return the edits that the lines of a file may be of."""
        own, foreign = self.edits(path), self.edits(path, own=False)
        logged = logged_lines(
            record for edit in (*own, *foreign, *moved) for record in self.logged.get(edit.id, ())
        )
        return CandidateEdits(own, moved, foreign, self.text, logged)

    @property
    def has_unwritten(self) -> bool:
        """Whether an edit of this work tree waits of which nothing was written."""
        return any(
            record.is_own and record.id not in self.logged and not self.written.has(record.id)
            for records in self._records.values()
            for record in records
        )

    def never_written(self, hashes: AbstractSet[str]) -> list[RecordedEdit]:
        """Return this work tree's edits with one of some lines, of which nothing was written."""
        edits: list[RecordedEdit] = []
        for records in self._records.values() if hashes else ():
            for record in records:
                if not record.is_own or record.id in self.logged or self.written.has(record.id):
                    continue
                if hashes.isdisjoint(split_hashes(record.members.line_hashes)):
                    continue
                edit = self.edit(record)
                if edit is not None and edit.writes_lines:
                    edits.append(edit)
        return edits


def due_hunks(waiting: WaitingFiles, files: NewFiles) -> dict[str, list[Members]]:
    """Return the records that edits get because of new files, by the edit's id.

    Args:
        waiting: The edits.
        files: The files.
    """
    records_by_edit: dict[str, list[Members]] = {}
    changed = files.changed(waiting.paths, others=waiting.has_unwritten)
    present = {path: file for path in changed if (file := files.file(path)) is not None}
    added = {
        path: {line_hash(line): line for line in _lines(file, file.new)}
        for path, file in present.items()
    }
    moved = _moved(waiting, present, added)
    for path, file in present.items():
        candidates = waiting.candidates(path, [edit for edit in moved if edit.path != path])
        if candidates.own or candidates.moved or candidates.foreign:
            disk = _on_disk(waiting.directory.project, path)
            whole = None if disk.lines == file.text.lines else disk
            _add(records_by_edit, hunks(file, candidates, waiting.written, whole))
            _add(records_by_edit, other_records(file, waiting.unlogged(path)))
    for path in changed:
        deletions = [edit for edit in waiting.unlogged(path) if edit.is_deletion]
        if deletions:
            now = set(present[path].hashed.hashes) if path in present else set[str]()
            elsewhere = {
                name for other_path, names in added.items() if other_path != path for name in names
            }
            before = files.before(path)
            _add(
                records_by_edit,
                (
                    edit.members
                    for edit in deletions
                    if deletion_enters(edit, before, now, elsewhere)
                ),
            )
    return records_by_edit


def _moved(
    waiting: WaitingFiles,
    present: Mapping[str, FileAtCommit],
    added: Mapping[str, Mapping[str, str]],
) -> list[RecordedEdit]:
    """Return the edits that have left their file, of which another one has a new long line."""
    long = {name for names in added.values() for name, line in names.items() if is_long(line)}
    moved = []
    for edit in waiting.never_written(long):
        texts = [_on_disk(waiting.directory.project, edit.path)]
        if edit.path in present:
            texts.append(present[edit.path].hashed)
        if has_left(edit, waiting.text(edit.content), texts):
            moved.append(edit)
    return moved


def late_records(
    waiting: WaitingFiles, repository: Repository, prefix: str
) -> dict[str, list[Members]]:
    """Return the records of edits that commits without our hook brought, by the edit's id.

    Args:
        waiting: The edits.
        repository: The repository.
        prefix: The project's folder from the top of the work tree, with a final slash.
    """
    records_by_edit: dict[str, list[Members]] = {}
    head = repository.head()
    if head is None:
        return records_by_edit
    late = LateFiles(repository, prefix, head)
    for path in waiting.paths:
        by_base: dict[str | None, list[WaitingRecord]] = {}
        for record in waiting.records(path):
            if record.is_own and record.id not in waiting.logged:
                by_base.setdefault(late.base_of(record), []).append(record)
        for base, records in by_base.items():
            if late.has_changed(base, path):
                edits = [edit for edit in map(waiting.edit, records) if edit is not None]
                _add(records_by_edit, late.records(path, base, edits, waiting.text))
    return records_by_edit


class LateFiles:
    """What was committed since edits were made.

    Args:
        repository: The repository.
        prefix: The project's folder from the top of the work tree, with a final slash.
        head: The commit of HEAD.
    """

    def __init__(self, repository: Repository, prefix: str, head: str) -> None:
        self._repository = repository
        self._prefix = prefix
        self._head = head
        self._changed: dict[str, Collection[str] | None] = {head: ()}
        commit = repository.objects.commit(head)
        self._moment = _NEVER if commit is None else commit.moment

    def base_of(self, record: WaitingRecord) -> str | None:
        """Return the commit that an edit was made on; None if that is not known.

        An event that was folded later names the commit of that time.
        """
        if record.head != self._head:
            return record.head
        moment = parse_timestamp(record.members.timestamp or "")
        return None if moment is None or moment < self._moment + _SECOND else record.head

    def has_changed(self, base: str | None, path: str) -> bool:
        """Whether HEAD has another version of a file than a commit; if unknown, it may have."""
        if base is None:
            return True
        if base not in self._changed:
            try:
                root = self._repository.root
                self._changed[base] = tree_changes(self._repository, base, self._head, root).keys()
            except HistoryUnavailable:
                self._changed[base] = None
        names = self._changed[base]
        return names is None or self._prefix + path in names

    def records(
        self,
        path: str,
        base: str | None,
        edits: Sequence[RecordedEdit],
        snapshots: Callable[[str], Text | None],
    ) -> list[Members]:
        """Return the records of edits of a file that were made on a commit."""
        file = self._file(self._head, self._prefix + path)
        before = None if base is None else self._file(base, self._prefix + path)
        records: list[Members] = []
        if file is not None:
            records += self._hunks(file, path, edits, snapshots)
            records += other_records(file, edits)
        now = set() if file is None else set(file.hashed.hashes)
        records += [
            edit.members
            for edit in edits
            if edit.is_deletion and before is not None and deletion_enters(edit, before.hashed, now)
        ]
        return records

    def _hunks(
        self,
        file: FileAtCommit,
        path: str,
        edits: Sequence[RecordedEdit],
        snapshots: Callable[[str], Text | None],
    ) -> list[Members]:
        writing = [edit for edit in edits if edit.writes_lines]
        if not writing:
            return []
        since = min(edit.moment for edit in writing).replace(microsecond=0)
        try:
            blamed = line_origins(self._repository, self._prefix + path, self._head, since=since)
        except HistoryUnavailable:  # as in a partial clone
            return []
        origins: list[Origin | None] = [None if origin is None else origin[:3] for origin in blamed]
        candidates = CandidateEdits(writing, snapshots=snapshots)
        return late_hunks(file.hashed, origins, candidates, self._file)

    def _file(self, commit: str, name: str) -> FileAtCommit | None:
        content = self._repository.objects.contents(f"{commit}:{name}")
        if content is None:
            return None
        path = name.removeprefix(self._prefix)
        return FileAtCommit(
            path, Text.from_bytes(content), sha256(content), frozenset(), commit=commit
        )


def _add(records_by_edit: dict[str, list[Members]], records: Iterable[Members]) -> None:
    for record in records:
        name = str(record.get("edit") or record.get("annotation_id"))
        records_by_edit.setdefault(name, []).append(record)


def _lines(file: FileAtCommit, numbers: Iterable[int]) -> Iterable[str]:
    lines = file.text.lines
    return (lines[number] for number in numbers if number < len(lines))


def _on_disk(project: Path, path: str) -> HashedText:
    file = project / path
    try:
        content = read_file(file, limit=_MAX_FILE) if is_inside(file, project) else None
    except UnreadableFile:
        return _EMPTY
    return HashedText(Text.from_bytes(content or b"").lines)
