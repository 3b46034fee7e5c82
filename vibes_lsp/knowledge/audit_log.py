"""The audit log: one event per line, each with a hash that covers the one before (vouch 7).

The chain is that of the reference implementation since 1.0, which reports a log without it.
Callers that append hold the lock of the knowledge base.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from typing import Any, BinaryIO, Final

from vibes_lsp.errors import InvalidObject, UnreadableFile
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.model.canonical_json import object_or_none
from vibes_lsp.model.members import text
from vibes_lsp.store.files import flush_to_disk, open_file, open_for_writing, write_error

_FIRST_HASH: Final = "0" * 64
_MAX_LINE: Final = 1 << 20
_BLOCK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class ChainFault:
    """The first event of the log whose hash is not what it must be.

    Attributes:
        line: Its line, from 1.
        reason: What is wrong.
    """

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """Something that changes a knowledge base.

    Attributes:
        name: What it is, such as `claim.create`.
        actor: Who did it.
        moment: When.
        object_ids: The objects concerned.
        details: What belongs to this event only.
    """

    name: str
    actor: str
    moment: datetime
    object_ids: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


def event_lines(knowledge: KnowledgeBase, events: Sequence[AuditEvent]) -> tuple[int, bytes]:
    """Return the size of the log, and the lines that append events to it.

    Raises:
        InvalidObject: An event is too long.
        UnreadableFile: The log cannot be read.
    """
    size, previous, ends_line = _end_of(knowledge)
    identity, lines = _identity(knowledge), []
    for event in events:
        content: dict[str, Any] = {
            "id": uuid.uuid4().hex,
            "event": event.name,
            "actor": event.actor,
            "created_at": event.moment.isoformat().replace("+00:00", "Z"),
            "object_ids": list(event.object_ids),
            "dry_run": False,
            "reversible": True,
            "data": dict(event.details),
            "kb_id": identity,
        }
        lines.append(_chained(content, previous))
        if len(lines[-1]) > _MAX_LINE:
            raise InvalidObject(f"{event.name}: the event is longer than {_MAX_LINE:,} bytes")
        previous = content["hash"]
    return size, b"\n" * (not ends_line and bool(lines)) + b"".join(lines)


def append_lines(knowledge: KnowledgeBase, lines: bytes) -> None:
    """Append lines that `event_lines` made; the caller has held the lock since.

    Raises:
        RefusedWrite: The log cannot be written.
    """
    try:
        descriptor = open_for_writing(knowledge.audit_log, os.O_CREAT | os.O_APPEND)
        try:
            while lines:
                lines = lines[os.write(descriptor, lines) :]
            flush_to_disk(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise write_error(knowledge.audit_log, error) from error


def repair_tail(knowledge: KnowledgeBase, size: int, lines: bytes) -> None:
    """Append those of some lines that a program which was killed did not; the caller has the lock.

    Args:
        knowledge: The knowledge base.
        size: The size of the log before.
        lines: What it was to append.

    Raises:
        RefusedWrite: The log cannot be written.
        UnreadableFile: It cannot be read.
    """
    staged = [event for event in map(object_or_none, lines.splitlines()) if event is not None]
    if not staged:
        return
    tail = _bytes_from(knowledge, size)
    is_continued = _end_of(knowledge, size)[1] == staged[0]["prev_hash"]
    if tail is not None and is_continued and lines.startswith(tail):
        append_lines(knowledge, lines[len(tail) :])
        return
    # Since the crash the log was replaced or continued: chain what is missing from its end.
    missing = {event["id"]: event for event in staged}
    for event in read_events(knowledge):
        missing.pop(event.get("id"), None)
    for event in missing.values():
        _, previous, ends_line = _end_of(knowledge)
        append_lines(knowledge, b"\n" * (not ends_line) + _chained(event, previous))


def _bytes_from(knowledge: KnowledgeBase, start: int) -> bytes | None:
    """Return the log from a byte on; None if it is shorter."""
    file = _open(knowledge)
    if file is None:
        return b"" if start == 0 else None
    with file:
        if file.seek(0, os.SEEK_END) < start:
            return None
        file.seek(start)
        return file.read()


def _chained(content: dict[str, Any], previous: str) -> bytes:
    """Set the hashes of an event; return its line."""
    content["prev_hash"] = previous
    content["hash"] = event_hash(content)
    return f"{_canonical(content)}\n".encode()


def event_hash(event: Mapping[str, Any]) -> str:
    """Return the hash of an event: of the one before, and of itself without its hash."""
    content = {name: value for name, value in event.items() if name != "hash"}
    return hashlib.sha256(f"{event['prev_hash']}{_canonical(content)}".encode()).hexdigest()


def read_events(knowledge: KnowledgeBase) -> Iterator[dict[str, Any]]:
    """Yield the events in order; lines that are no event are left out.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    for _, event in _numbered(knowledge):
        if event is not None:
            yield event


def last_events(knowledge: KnowledgeBase, count: int) -> list[dict[str, Any]]:
    """Return the last events, the oldest first; reads the end of the log only.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    events: list[dict[str, Any]] = []
    for line in _lines_backwards(knowledge):
        if len(events) >= count:
            break
        event = object_or_none(line)
        if event is not None:
            events.append(event)
    return events[::-1]


def check_chain(knowledge: KnowledgeBase) -> tuple[ChainFault | None, int]:
    """Check the hashes of all events.

    Returns:
        The first event that breaks the chain, None if there is none; and the number of events
        without a hash, which versions of the reference implementation before 1.0 write.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    previous, without_hash = _FIRST_HASH, 0
    for number, event in _numbered(knowledge):
        if event is None:
            return ChainFault(number, "no JSON object"), without_hash
        if "hash" not in event and "prev_hash" not in event:
            without_hash += 1
            continue
        if event.get("prev_hash") != previous:
            return ChainFault(number, "the hash of the event before differs"), without_hash
        if event_hash(event) != event.get("hash"):
            return ChainFault(number, "the event was changed"), without_hash
        previous = event["hash"]
    return None, without_hash


def _numbered(knowledge: KnowledgeBase) -> Iterator[tuple[int, dict[str, Any] | None]]:
    file = _open(knowledge)
    if file is None:
        return
    with file:
        number = 0
        while line := file.readline(_MAX_LINE):
            number += 1
            if line.strip():
                yield number, object_or_none(line)


def _open(knowledge: KnowledgeBase) -> BinaryIO | None:
    path = knowledge.audit_log
    if path.is_symlink():
        raise UnreadableFile(f"{path.name} is a link", hint="expected a file of the project")
    return open_file(path) if path.exists() else None


def _end_of(knowledge: KnowledgeBase, size: int | None = None) -> tuple[int, str, bool]:
    """Return the log's size, the hash that the next event continues, and whether a line ended.

    Args:
        knowledge: The knowledge base.
        size: Where the log ends; None for all of it.
    """
    path = knowledge.audit_log
    if size is None:
        size = path.stat().st_size if path.exists() else 0
    ends_line: bool | None = None
    for line in _lines_backwards(knowledge, size):
        ends_line = line.endswith(b"\n") if ends_line is None else ends_line
        event = object_or_none(line)
        if event is not None and (last_hash := text(event, "hash")) is not None:
            return size, last_hash, ends_line
    return size, _FIRST_HASH, ends_line is not False


def _lines_backwards(knowledge: KnowledgeBase, size: int | None = None) -> Iterator[bytes]:
    """Yield the lines from the last to the first; a line that is too long ends it.

    Args:
        knowledge: The knowledge base.
        size: Where the log ends; None for all of it.
    """
    file = _open(knowledge)
    if file is None:
        return
    with file:
        at = file.seek(0, os.SEEK_END)
        at = at if size is None else min(at, size)
        rest = b""
        while at > 0 and len(rest) <= _MAX_LINE:
            start = max(0, at - _BLOCK)
            file.seek(start)
            rest = file.read(at - start) + rest
            at = start
            lines = BytesIO(rest).readlines()  # a lone \r ends no event
            rest = lines[0] if at > 0 else b""
            yield from (line for line in reversed(lines[1 if at > 0 else 0 :]) if line.strip())


def _canonical(event: Mapping[str, Any]) -> str:
    return json.dumps(event, separators=(",", ":"), sort_keys=True)


def _identity(knowledge: KnowledgeBase) -> str | None:
    """Return the id of the knowledge base that the reference implementation has given it."""
    try:
        identity = knowledge.config_members().get("kb")
    except (InvalidObject, UnreadableFile):
        return None
    identifier = identity.get("id") if isinstance(identity, dict) else None
    return identifier if isinstance(identifier, str) else None
