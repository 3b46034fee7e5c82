"""Read the records and entries that wait for a commit (R29), with the members that decide on it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.model.canonical_json import FastDecoder, object_or_none
from vibes_lsp.model.members import Members
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import read_file
from vibes_lsp.store.journal import parse_waiting_entries
from vibes_lsp.store.waiting import HEAD, waiting_files, waiting_place

NOT_READ: Final = "is tracked by git, so it is not read; remove it from git"
"""Of a file of waiting records: who made a commit may have written it."""
_HASH: Final = re.compile(rb"[0-9a-f]{64}")
_VALUE: Final = re.compile(rb': ?"([^"\\]{1,200})"')
_NAMES: Final = ((b'"annotation_id"', True), (b'"edit"', False))


class EdgeReason(msgspec.Struct, frozen=True, gc=False):
    """The metadata of an edge."""

    reason: str | None = None


class WaitingMembers(msgspec.Struct, frozen=True, gc=False):
    """What decides when a record enters the log; absent members are None.

    A line without an id is an entry, or names the commit of HEAD in `head`.
    """

    annotation_id: str = ""
    head: str | None = None
    type: str | None = None
    timestamp: str | None = None
    session_id: str | None = None
    parent_session_id: str | None = None
    child_session_id: str | None = None
    event: str | None = None
    file_path: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    action: str | None = None
    line_hashes: str | None = None
    file_content_hash: str | None = None
    anchor_context: str | None = None
    anchor_hash: str | None = None
    edge_type: str | None = None
    source_ref: str | None = None
    source_type: str | None = None
    target_ref: str | None = None
    target_type: str | None = None
    metadata: EdgeReason | None = None

    @property
    def is_annotation(self) -> bool:
        """Whether it is about lines or a function."""
        return self.type in {"line", "function"}


_MEMBERS: Final = FastDecoder(WaitingMembers)
_HEAD_START: Final = b'{"%s":' % HEAD.encode()


class WaitingRecord(msgspec.Struct, frozen=True, gc=False):
    """A record that waits.

    Attributes:
        data: Its line, without the newline, as it will be in the log.
        members: What decides on it.
        head: The commit that it was made on; None before the first one.
        is_own: Whether it was made in this work tree, or in one that was removed.
    """

    data: bytes
    members: WaitingMembers
    head: str | None
    is_own: bool = True

    @property
    def id(self) -> str:
        """Its id."""
        return self.members.annotation_id


@dataclass(frozen=True, slots=True)
class Waiting:
    """All that waits for commits of a trail.

    Attributes:
        records: The records in the order of receipt, this work tree's first; each id once.
        entries: The entries as stored, by key.
        unreadable: The files that could not be read, and why.
        broken: The lines that are neither a record nor an entry.
    """

    records: tuple[WaitingRecord, ...] = ()
    entries: Mapping[str, msgspec.Raw] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


def read_waiting(
    directory: AuditDir, *, others: bool = False, committed: Path | None = None
) -> Waiting:
    """Return what waits.

    Args:
        directory: The trail.
        others: Whether to read what waits in other work trees of the repository too.
        committed: A file that is not read: who made a commit may have written it.
    """
    place, own = waiting_place(directory), waiting_files(directory)
    records: dict[str, WaitingRecord] = {}
    entries: dict[str, msgspec.Raw] = {}
    unreadable: list[str] = []
    broken: list[str] = []
    for path in (*own, *(place.other_records() if others and place else ())):
        if path == committed:
            unreadable.append(f"{path} {NOT_READ}")
            continue
        try:
            content = read_file(path) or b""
        except UnreadableFile as error:
            unreadable.append(error.message)
            continue
        is_own = path in own or (place is not None and place.is_abandoned(path))
        for parsed in _read_lines(content, is_own=is_own):
            if not isinstance(parsed, WaitingRecord):
                broken.append(f"line {parsed} of {path} is no record")
            elif object_or_none(parsed.data) is None:  # in what the fast decoder skips
                broken.append(f"record {parsed.id} in {path} is damaged")
            else:
                records.setdefault(parsed.id, parsed)
        entries |= parse_waiting_entries(content)
    return Waiting(tuple(records.values()), entries, tuple(unreadable), tuple(broken))


def parse_waiting(content: bytes) -> Waiting:
    """Return what waits in one file."""
    lines = _read_lines(content, is_own=True)
    records = tuple(line for line in lines if isinstance(line, WaitingRecord))
    return Waiting(records, parse_waiting_entries(content))


def names_in_log(log: bytes) -> Iterator[tuple[str, int, bool]]:
    """Yield the ids of records that the lines of a log have, and then those of edits.

    Args:
        log: The log.

    Yields:
        The id, where in the log it is, and whether it is the record's own.
    """
    for member, is_own in _NAMES:  # a third of the time of one pattern
        at = log.find(member)
        while at >= 0:
            value = _VALUE.match(log, at + len(member))
            if value is not None and log[at - 1 : at] != b"\\":
                yield value[1].decode("utf-8", "replace"), at, is_own
            at = log.find(member, at + len(member))


def written_hunks(directory: AuditDir, edits: Collection[str]) -> Iterator[Members]:
    """Yield the hunks of edits that were written before, in commits that this branch has or not.

    Args:
        directory: The trail.
        edits: The ids of edits.
    """
    place = waiting_place(directory)
    for path in () if place is None or not edits else place.all_written():
        with suppress(UnreadableFile):
            content = read_file(path) or b""
            starts = {
                content.rfind(b"\n", 0, at) + 1: None
                for name, at, _ in names_in_log(content)
                if name in edits
            }
            for start in sorted(starts):
                record = object_or_none(content[start : content.find(b"\n", start)])
                if record is not None:
                    yield record


def referenced_entries(
    records: Iterable[bytes], entries: Mapping[str, msgspec.Raw]
) -> dict[str, msgspec.Raw]:
    """Return those entries that the lines of records name, and those that these name."""
    referenced: dict[str, msgspec.Raw] = {}
    pending = [name.decode() for line in records for name in _HASH.findall(line)]
    while pending:
        name = pending.pop()
        if name in entries and name not in referenced:
            referenced[name] = entries[name]
            pending += [reference.decode() for reference in _HASH.findall(bytes(entries[name]))]
    return referenced


def _read_lines(content: bytes, *, is_own: bool) -> Iterator[WaitingRecord | int]:
    """Yield the records of a file that waits, and the 1-based numbers of its broken lines."""
    lines = content.split(b"\n")[:-1]
    head: str | None = None
    decoded: Iterable[WaitingMembers | None] = _MEMBERS.decode_all(lines) or map(
        _MEMBERS.decode, lines
    )
    for number, (line, members) in enumerate(zip(lines, decoded, strict=True), start=1):
        if members is None:
            if line.strip() and object_or_none(line) is None:
                yield number
        elif members.annotation_id:
            yield WaitingRecord(line, members, head, is_own)
        elif line.startswith(_HEAD_START):
            head = members.head
