"""Drop waiting records that no commit needed for 30 days (R29)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from vibes_lsp.anchors.line_hashes import line_hash, split_hashes
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.model.canonical_json import canonical_json, object_or_none
from vibes_lsp.model.members import text
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.placing.hash_placement import HashedText
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import (
    is_inside,
    read_file,
    replace_file,
    temporary_files,
    write_temporary,
)
from vibes_lsp.store.locks import FileLock, append_lock
from vibes_lsp.store.waiting import (
    HEAD,
    RETENTION_DAYS,
    records_in_journal,
    waiting_files,
    waiting_place,
)
from vibes_lsp.store.waiting_lines import (
    WaitingMembers,
    WaitingRecord,
    parse_waiting,
    referenced_entries,
)
from vibes_lsp.trail.committed_waiting import committed_waiting


def drop_expired(directory: AuditDir, now: datetime) -> int:
    """Drop what waits in this work tree, or in removed ones, for more than 30 days.

    An edit of which a line still stands in its file goes on waiting. So do entries that are recent:
    a decision, or what another program has written and is about to name.

    Returns:
        How many records were dropped.

    Raises:
        RefusedWrite: A file cannot be locked or written; it is unchanged.
    """
    place = waiting_place(directory)
    if place is None:
        return 0
    cutoff = now - timedelta(days=RETENTION_DAYS)
    dropped = 0
    files = (place.records, *filter(place.is_abandoned, place.other_records()))
    locks = {records: FileLock(records.with_suffix(place.lock.suffix)) for records in files}
    locks[records_in_journal(directory)] = append_lock(directory)
    for records, lock in locks.items():
        if records.is_file() and records != committed_waiting(directory):
            with lock.acquire():
                dropped += _drop(directory, records, cutoff)
    return dropped


def _drop(directory: AuditDir, records: Path, cutoff: datetime) -> int:
    """Drop what is older than a time from a file; the caller holds its lock."""
    if records.parent != directory.journal:  # where another program may be about to fold
        for temporary in temporary_files(records.parent):
            with suppress(OSError):
                temporary.unlink()
    try:
        content = read_file(records) or b""
        others = [read_file(file) or b"" for file in waiting_files(directory) if file != records]
    except UnreadableFile:
        return 0
    waiting = parse_waiting(content)
    kept = _kept(directory.project, waiting.records, cutoff)
    if len(kept) == len(waiting.records):
        return 0
    recent = {key for key, raw in waiting.entries.items() if not _is_old(raw, cutoff)}
    named = (*others, *(record.data for record in kept), *map(str.encode, recent))
    entries = referenced_entries(named, waiting.entries)
    left = b"".join(b'{"%s":%s}\n' % (key.encode(), bytes(raw)) for key, raw in entries.items())
    before: object = object()
    for record in kept:
        if record.head != before:
            left += canonical_json({HEAD: record.head}) + b"\n"
            before = record.head
        left += record.data + b"\n"
    replace_file(write_temporary(records.parent, left, like=records), records)
    return len(waiting.records) - len(kept)


def _kept(project: Path, records: Sequence[WaitingRecord], cutoff: datetime) -> list[WaitingRecord]:
    """Return the records that go on waiting: recent ones, edits that stand, and what they need."""
    edits = {
        record.id
        for record in records
        if record.members.is_annotation
        and (_is_recent(record, cutoff) or _stands(project, record.members))
    }
    needed = [
        record
        for record in records
        if record.id in edits
        or (
            not record.members.is_annotation
            and (_is_recent(record, cutoff) or _ends(record) & edits)
        )
    ]
    ids, sessions = {record.id for record in needed}, _sessions(records, needed)
    return [
        record
        for record in records
        if record.id in ids
        or (
            not record.members.is_annotation
            and (
                {record.members.session_id, record.members.child_session_id} & sessions
                or _ends(record) <= sessions
            )
        )
    ]


def _ends(edge: WaitingRecord) -> set[str | None]:
    return {edge.members.source_ref, edge.members.target_ref}


def _sessions(records: Sequence[WaitingRecord], kept: Sequence[WaitingRecord]) -> set[str | None]:
    """Return the sessions of some records, with those that delegated to them."""
    parents: dict[str | None, list[str | None]] = {}
    for record in records:
        child = record.members.child_session_id or record.members.session_id
        parents.setdefault(child, []).append(record.members.parent_session_id)
    sessions: set[str | None] = set()
    pending = [record.members.session_id for record in kept]
    while pending:
        session = pending.pop()
        if session is not None and session not in sessions:
            sessions.add(session)
            pending += parents.get(session, ())
    return sessions


def _is_recent(record: WaitingRecord, cutoff: datetime) -> bool:
    return not _is_older(record.members, cutoff)


def _is_old(entry: msgspec.Raw, cutoff: datetime) -> bool:
    created = text(object_or_none(bytes(entry)) or {}, "created_at")
    moment = parse_timestamp(created or "")
    return moment is not None and moment < cutoff


def _is_older(members: WaitingMembers, cutoff: datetime) -> bool:
    moment = parse_timestamp(members.timestamp or "")
    return moment is not None and moment < cutoff


def _stands(project: Path, members: WaitingMembers) -> bool:
    """Whether a distinctive line of an edit is in its file on disk."""
    if not members.file_path or not can_be_in_project(members.file_path):
        return False
    file = project / normal_path(members.file_path)
    if not is_inside(file, project):
        return False
    try:
        hashed = HashedText(Text.from_bytes(read_file(file) or b"").lines)
    except UnreadableFile:
        return True
    hashes = set(split_hashes(members.line_hashes)) or set(
        map(line_hash, (members.anchor_context or "").split("\n"))
    )
    return any(hashed.hashes[number] in hashes for number in hashed.distinctive)
