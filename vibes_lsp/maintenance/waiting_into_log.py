"""Write waiting records, with what they refer to, into the files that git tracks (R29)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.maintenance.due_hunks import WaitingFiles
from vibes_lsp.maintenance.waiting_selection import corrections, select
from vibes_lsp.model.canonical_json import canonical_json, object_or_none
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.vocabulary import REMAP_ACTIONS, RecordType
from vibes_lsp.placing.hunks import WrittenHunks
from vibes_lsp.store.appending import append_lines
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import (
    create_private_file,
    make_folder,
    read_file,
    replace_file,
    write_temporary,
)
from vibes_lsp.store.locks import FileLock
from vibes_lsp.store.waiting import make_private_folder, waiting_blobs, waiting_place
from vibes_lsp.store.waiting_lines import (
    Waiting,
    names_in_log,
    referenced_entries,
    written_hunks,
)

_MAX_BLOB: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class LogContents:
    """What a log has.

    Attributes:
        ids: The ids of its records.
        hunks: The records of annotations that wait, by the annotation's id; later copies of them
            for their commit (R4) are left out.
    """

    ids: frozenset[str]
    hunks: Mapping[str, Sequence[Members]]

    @property
    def hunk_ids(self) -> dict[str, list[str]]:
        """The ids of these records."""
        return {
            edit: [text(record, "annotation_id") or "" for record in records]
            for edit, records in self.hunks.items()
        }


@dataclass(frozen=True, slots=True)
class DueRecords:
    """What enters the log.

    Attributes:
        records: The records.
        entries: The entries that they name and the manifest may lack.
        blobs: The external entries among these that are not in the trail, by file name.
        hunks: Those of the records that are of annotations.
    """

    records: tuple[Members, ...] = ()
    entries: Mapping[str, msgspec.Raw] = field(default_factory=dict)
    blobs: tuple[tuple[str, bytes], ...] = ()
    hunks: tuple[Members, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the records."""
        return tuple(text(record, "annotation_id") or "" for record in self.records)


def read_logged(directory: AuditDir, waiting: Waiting) -> LogContents:
    """Return what the log has, with its records of what waits.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    log = read_file(directory.log) or b""
    edits = {record.id for record in waiting.records if record.members.is_annotation}
    ids: set[str] = set()
    places: dict[str, dict[int, None]] = {}
    for name, at, is_own in names_in_log(log):
        if is_own:
            ids.add(name)
        if name in edits:
            places.setdefault(name, {})[log.rfind(b"\n", 0, at) + 1] = None
    hunks: dict[str, list[Members]] = {}
    for name, starts in places.items():
        for start in sorted(starts):
            end = log.find(b"\n", start)
            record = object_or_none(log[start : len(log) if end < 0 else end]) or {}
            is_annotation = text(record, "type") in {RecordType.LINE, RecordType.FUNCTION}
            if is_annotation and text(record, "action") not in REMAP_ACTIONS:
                hunks.setdefault(name, []).append(record)
    return LogContents(frozenset(ids), hunks)


def waiting_files_of(directory: AuditDir, waiting: Waiting, logged: LogContents) -> WaitingFiles:
    """Return the edits that wait, by file, with what was written of them before."""
    edits = {record.id for record in waiting.records if record.members.is_annotation}
    written = WrittenHunks(written_hunks(directory, edits))
    return WaitingFiles(
        directory, waiting, logged.hunks, written, corrections(waiting.records).keys()
    )


def due_records(
    directory: AuditDir,
    waiting: Waiting,
    logged: LogContents,
    due: Mapping[str, Sequence[Members]],
) -> DueRecords:
    """Return what enters the log.

    Args:
        directory: The trail.
        waiting: All that waits.
        logged: What the log has.
        due: The records that it gets of annotations.
    """
    records = select(waiting.records, logged.ids, logged.hunk_ids, due)
    entries = referenced_entries(map(canonical_json, records), waiting.entries)
    blobs = tuple(_blobs(directory, entries.values()))
    hunks = tuple(
        record
        for record in records
        if text(record, "type") in {RecordType.LINE, RecordType.FUNCTION}
    )
    return DueRecords(tuple(records), entries, blobs, hunks)


def write_due(directory: AuditDir, due: DueRecords) -> None:
    """Write what enters the log: first what the records name.

    Raises:
        RefusedWrite: A file cannot be written; what was written may be written again.
        UnsupportedVersion: The trail has an unsupported version (R11).
    """
    if not due.records:
        return
    # a commit without records need not wait for these
    from vibes_lsp.store.journal_folding import add_to_manifest  # noqa: PLC0415
    from vibes_lsp.store.writer import AuditWriter  # noqa: PLC0415

    if due.entries:
        for name, content in due.blobs:
            make_folder(directory.blobs)
            replace_file(write_temporary(directory.blobs, content), directory.blobs / name)
        add_to_manifest(directory, dict(due.entries))
    _note_written(directory, due.hunks)
    AuditWriter(directory, waits=False).append(due.records)


def _note_written(directory: AuditDir, hunks: Iterable[Members]) -> None:
    """Keep the hunks: the same lines become the same bytes again, in any commit."""
    place = waiting_place(directory)
    lines = b"".join(canonical_json(record) + b"\n" for record in hunks)
    if place is None or not lines:
        return
    with suppress(RefusedWrite), FileLock(place.lock).acquire() as lock:
        make_private_folder(place, place.written.parent)
        create_private_file(place.written)
        append_lines(place.written, lines, lock)


def _blobs(directory: AuditDir, entries: Iterable[msgspec.Raw]) -> list[tuple[str, bytes]]:
    blobs = []
    for entry in entries:
        if b'"blob_path"' not in bytes(entry):
            continue
        path = text(object_or_none(bytes(entry)) or {}, "blob_path") or ""
        name = Path(path).name
        if path == f"blobs/{name}" and not (directory.blobs / name).exists():
            content = _read_blob(list(waiting_blobs(directory)), name)
            blobs += [] if content is None else [(name, content)]
    return blobs


def _read_blob(folders: Sequence[Path], name: str) -> bytes | None:
    for folder in folders:
        with suppress(UnreadableFile):
            content = read_file(folder / name, limit=_MAX_BLOB)
            if content is not None:
                return content
    return None
