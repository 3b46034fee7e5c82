"""Drop waiting records that no commit needed for 30 days (R29)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from vibes_lsp.anchors.line_hashes import line_hash, split_hashes
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.model.canonical_json import canonical_json
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
from vibes_lsp.store.locks import FileLock
from vibes_lsp.store.waiting import HEAD, RETENTION_DAYS, waiting_place
from vibes_lsp.store.waiting_lines import (
    WaitingMembers,
    WaitingRecord,
    first_record,
    parse_waiting,
    referenced_entries,
)


def drop_expired(directory: AuditDir, now: datetime) -> int:
    """Drop what waits in this work tree for more than 30 days; return how many records.

    An edit of which a line still stands in its file goes on waiting.

    Raises:
        RefusedWrite: The file cannot be locked or written; it is unchanged.
    """
    place = waiting_place(directory)
    if place is None or not place.records.is_file():
        return 0
    cutoff = now - timedelta(days=RETENTION_DAYS)
    with FileLock(place.lock).acquire():
        for left in temporary_files(place.records.parent):
            with suppress(OSError):
                left.unlink()
        try:
            content = read_file(place.records) or b""
        except UnreadableFile:
            return 0
        oldest = first_record(content)
        if oldest is None or not _is_older(oldest.members, cutoff):
            return 0
        waiting = parse_waiting(content)
        kept = _kept(directory.project, waiting.records, cutoff)
        if len(kept) == len(waiting.records):
            return 0
        entries = referenced_entries((record.data for record in kept), waiting.entries)
        text = b"".join(b'{"%s":%s}\n' % (key.encode(), bytes(raw)) for key, raw in entries.items())
        before: object = object()
        for record in kept:
            if record.head != before:
                text += canonical_json({HEAD: record.head}) + b"\n"
                before = record.head
            text += record.data + b"\n"
        replace_file(write_temporary(place.records.parent, text, like=place.records), place.records)
    return len(waiting.records) - len(kept)


def _kept(project: Path, records: Sequence[WaitingRecord], cutoff: datetime) -> list[WaitingRecord]:
    """Return the records that go on waiting: recent ones, edits that stand, and what they need."""
    edits = {
        record.id
        for record in records
        if record.members.is_annotation
        and (not _is_older(record.members, cutoff) or _stands(project, record.members))
    }
    sessions = {record.members.session_id for record in records if record.id in edits}
    return [
        record
        for record in records
        if record.id in edits
        or (
            not record.members.is_annotation
            and (
                not _is_older(record.members, cutoff)
                or {record.members.source_ref, record.members.target_ref} & edits
                or record.members.session_id in (sessions - {None})
            )
        )
    ]


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
        text = HashedText(Text.from_bytes(read_file(file) or b"").lines)
    except UnreadableFile:
        return True
    hashes = set(split_hashes(members.line_hashes)) or set(
        map(line_hash, (members.anchor_context or "").split("\n"))
    )
    return any(text.hashes[number] in hashes for number in text.distinctive)
