"""The annotations of a trail as placing reads them: what HEAD's log has, and what waits for it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain, islice
from typing import BinaryIO, Final

import msgspec

from vibes_lsp.anchors.line_hashes import line_hash, split_hashes
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.git.git_cache import digest_of
from vibes_lsp.git.log_additions import record_id_of
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.canonical_json import FastDecoder, object_or_none
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import RecordType
from vibes_lsp.placing.edits import OWNS_NOTHING, LoggedLines, RecordedEdit, logged_lines, read_edit
from vibes_lsp.store.files import open_file
from vibes_lsp.trail.committed_waiting import read_uncommitted_waiting
from vibes_lsp.trail.records import LogRecord
from vibes_lsp.trail.rows import LogLineKind
from vibes_lsp.trail.trail import Trail

_MAX_DATED: Final = 20_000
"""Annotations of which the oldest is looked for; a longer log is as old as the project."""
_LINES_AT_ONCE: Final = 8_192
_PART: Final = 1 << 20
"""Bytes of the log that are read at once."""
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class LogSummary(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known of a version of the log: a fact about its blob.

    Attributes:
        lines: How many lines it has.
        size: How many bytes.
        oldest: When its oldest edit was made; None without edits.
        hashes: The hashes of the lines of its records; None if there are too many records.
    """

    lines: int
    size: int
    oldest: datetime | None
    hashes: list[str] | None


class _LineMembers(msgspec.Struct, gc=False):
    type: str | None = None
    action: str | None = None
    timestamp: str | None = None
    line_hashes: str | None = None
    anchor_context: str | None = None


_DECODER: Final = FastDecoder(_LineMembers)


@dataclass(frozen=True, slots=True)
class CommittedLog:
    """Which records of a trail the log of a commit has.

    Attributes:
        lines: How many lines at the beginning of the log on disk it consists of.
        ids: The ids of its records, if the log on disk does not begin with it.
        summary: What else is known of it, if the log on disk begins with it.
    """

    lines: int = 0
    ids: frozenset[str] = frozenset()
    summary: LogSummary | None = field(default=None, compare=False)

    def has(self, record: LogRecord) -> bool:
        """Whether it has a record."""
        return record.line <= self.lines or record.id in self.ids


def committed_log(repository: Repository, commit: str, trail: Trail) -> CommittedLog:
    """Return which records the log of a commit has.

    Args:
        repository: The repository.
        commit: A full hash.
        trail: The trail, refreshed.

    Raises:
        HistoryUnavailable: Git fails.
    """
    directory = trail.directory
    if not directory.log.is_relative_to(directory.project):
        return CommittedLog()
    name = directory.log.relative_to(directory.project).as_posix()
    prefix = repository.prefix_of(directory.project)
    entry = repository.objects.certain_entry(commit, prefix + name)
    if entry is None or not entry.is_file:
        return CommittedLog()
    summary = repository.cache.get(f"log {entry.id}", LogSummary)
    if summary is None:
        summary = _summarise(repository.read_lines_below(commit, directory.project, name))
        repository.cache.put(f"log {entry.id}", summary)
    if not summary.lines:
        return CommittedLog()
    if summary.lines <= trail.line_count and trail.log.end_of(summary.lines) == summary.size:
        with suppress(OSError, UnreadableFile), open_file(directory.log) as log:
            if _begins_with(log, entry.id, summary.size):
                return CommittedLog(summary.lines, summary=summary)
    read = repository.read_lines_below(commit, directory.project, name)
    return CommittedLog(ids=frozenset(map(record_id_of, read)))


def _begins_with(file: BinaryIO, blob: str, size: int) -> bool:
    """Whether a file begins with the content of a blob of git, which is named by its hash."""
    new = hashlib.sha1 if len(blob) == 40 else hashlib.sha256
    digest = new(b"blob %d\0" % size, usedforsecurity=False)
    while size and (part := file.read(min(size, _PART))):
        digest.update(part)
        size -= len(part)
    return digest.hexdigest() == blob


def _summarise(log: Iterable[bytes]) -> LogSummary:
    lines, size, count = 0, 0, 0
    oldest: datetime | None = None
    hashes: set[str] = set()
    for line in log:
        lines, size = lines + 1, size + len(line)
        members = _members_of(line) if count <= _MAX_DATED else None
        if members is not None and members.type in (RecordType.LINE, RecordType.FUNCTION):
            count += 1
            moment = parse_timestamp(members.timestamp or "") or _NEVER
            oldest = moment if oldest is None else min(oldest, moment)
            hashes.update(_hashes_of(members))
    return LogSummary(lines, size, oldest, list(hashes) if count <= _MAX_DATED else None)


def _hashes_of(members: _LineMembers) -> Iterable[str]:
    """Return the hashes of the lines of a record; without them, those of its first lines."""
    if members.type != RecordType.LINE or members.action in OWNS_NOTHING:
        return ()
    context = members.anchor_context or ""
    return split_hashes(members.line_hashes) or map(line_hash, context.split("\n"))


def _members_of(line: bytes) -> _LineMembers | None:
    """Return the members of a line; the strict parser decides about what the quick one refuses."""
    decoded = _DECODER.decode(line)
    if decoded is None and (members := object_or_none(line)) is not None:
        names = _LineMembers.__struct_fields__
        decoded = _LineMembers(**{name: text(members, name) for name in names})
    return decoded


@dataclass(frozen=True, slots=True)
class FileRecords:
    """The annotations of a file.

    Attributes:
        logged: The line records that HEAD's log has, or that name their commit, in log order.
        waiting: The other annotations, in the order of receipt.
        lines: The lines of edits that the log has already.
        edits: All annotations, in the order of receipt.
    """

    logged: Sequence[RecordedEdit] = ()
    waiting: Sequence[RecordedEdit] = ()
    lines: LoggedLines = field(default_factory=dict)
    edits: Sequence[RecordedEdit] = ()


class TrailRecords:
    """The annotations of a trail, split by whether HEAD's log has them.

    Args:
        trail: The trail, refreshed.
        committed: Which records HEAD's log has.
    """

    def __init__(self, trail: Trail, committed: CommittedLog = CommittedLog()) -> None:
        self._trail, self._committed = trail, committed
        self._files: dict[str, FileRecords] = {}

    def file(self, path: str) -> FileRecords:
        """Return the annotations of a file, relative to the project."""
        if path not in self._files:
            records = list(self._trail.log.records(self._trail.log.lines_about(path)))
            # What names its commit needs none that brings it, as after an import.
            logged = [
                record
                for record in records
                if self._committed.has(record) or record.text("commit_hash")
            ]
            known = {record.id for record in logged}
            edits = read_edits(records) + self._partly_written.get(path, [])
            self._files[path] = FileRecords(
                [edit for edit in read_edits(logged) if edit.may_own],
                [edit for edit in edits if edit.id not in known],
                logged_lines(_members(logged)),
                edits,
            )
        return self._files[path]

    @cached_property
    def _partly_written(self) -> Mapping[str, list[RecordedEdit]]:
        """The edits by file that wait though the log has hunks of them, as after partial staging.

        The index has only the hunks.
        """
        edits: dict[str, list[RecordedEdit]] = {}
        for record in read_uncommitted_waiting(self._trail.directory).records:
            if (
                record.members.is_annotation
                and next(self._trail.log.with_id(record.id), None) is None
            ):
                edit = read_edit(object_or_none(record.data) or {})
                if edit is not None:
                    edits.setdefault(edit.path, []).append(edit)
        return edits

    def of_file(self, path: str) -> Sequence[RecordedEdit]:
        """Return the records of a file in HEAD's log, in its order."""
        return self.file(path).logged

    def of_id(self, identifier: str) -> RecordedEdit | None:
        """Return a record of HEAD's log; None if it can own no line."""
        records = [
            record for record in self._trail.log.with_id(identifier) if self._committed.has(record)
        ]
        return next((edit for edit in read_edits(records) if edit.may_own), None)

    def state(self) -> str | None:
        """Return what `of_file` and `of_id` follow from beside the commit; None if not known.

        It is the same as long as no record is added that names a commit and that HEAD's log lacks.
        """
        if self._committed.ids or len(self._lines_after_log()) > _MAX_DATED:
            return None
        named = [
            repr(edit.members) for edit in self.unwritten() if text(edit.members, "commit_hash")
        ]
        return digest_of([os.fspath(self._trail.directory.log), *named])

    def unwritten(self) -> Iterator[RecordedEdit]:
        """Yield the annotations of all files that HEAD's log does not have."""
        yield from read_edits(
            record
            for record in self._trail.log.records(self._lines_after_log())
            if record.is_annotation and not self._committed.has(record)
        )

    def _raw(self, lines: Iterable[int]) -> Iterator[bytes]:
        """Yield lines of the log, given by number."""
        numbers = iter(lines)
        while batch := list(islice(numbers, _LINES_AT_ONCE)):
            yield from self._trail.log.raw_lines(batch)

    def _lines_after_log(self) -> list[int]:
        """Return the numbers of the lines that HEAD's log may not have."""
        after = range(self._committed.lines + 1, self._trail.line_count + 1)
        return [*after, *self._trail.log.waiting_lines()]

    def line_hashes(self) -> AbstractSet[str] | None:
        """Return the hashes of the lines of all records; None if these are too many."""
        return None if self._dated is None else self._dated[1]

    @cached_property
    def _dated(self) -> tuple[datetime | None, AbstractSet[str]] | None:
        """When the oldest edit was made, and the hashes of all lines; None of too many records."""
        if self._trail.annotation_count > _MAX_DATED:
            return None
        parts = [_summarise(self._raw(self._lines_after_log()))]
        if self._committed.summary is not None:
            parts.append(self._committed.summary)
        if any(part.hashes is None for part in parts):
            return None
        oldest = min((part.oldest for part in parts if part.oldest is not None), default=None)
        return oldest, frozenset(chain.from_iterable(part.hashes or () for part in parts))

    @cached_property
    def every_line_hash(self) -> AbstractSet[str]:
        """The hashes of the lines of all records, however many these are."""
        lines = map(_members_of, self._raw(self._trail.log.lines_of(LogLineKind.LINE)))
        return {known for members in lines if members for known in _hashes_of(members)}

    def is_any_logged(self) -> bool:
        """Whether HEAD's log has a record, or a record names its commit."""
        return (
            bool(self._committed.lines or self._committed.ids)
            or self._dated is None
            or any(text(edit.members, "commit_hash") for edit in self.unwritten())
        )

    def oldest(self) -> datetime | None:
        """Return when the oldest edit was made; year 1 if that is not known."""
        return _NEVER if self._dated is None else self._dated[0]


def _members(records: Iterable[LogRecord]) -> Iterator[Members]:
    """Yield the members of records, with the computed id where there is none (R3)."""
    for record in records:
        yield (
            record.members
            if record.text("annotation_id")
            else {**record.members, "annotation_id": record.id}
        )


def read_edits(records: Iterable[LogRecord]) -> list[RecordedEdit]:
    """Return the annotations among records, as edits."""
    return [edit for edit in map(read_edit, _members(records)) if edit is not None]
