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
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Final

from vibes_lsp.errors import InvalidObject, MalformedJson, UnreadableFile
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.model.canonical_json import parse_object
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


def append_event(
    knowledge: KnowledgeBase,
    event: str,
    *,
    actor: str,
    moment: datetime,
    object_ids: Sequence[str] = (),
    reversible: bool = True,
    details: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Append an event; the caller holds the lock.

    Args:
        knowledge: The knowledge base.
        event: Its name, such as `claim.create`.
        actor: Who did it.
        moment: When.
        object_ids: The objects concerned.
        reversible: Whether it can be undone.
        details: What belongs to this event only.

    Returns:
        The event.

    Raises:
        RefusedWrite: The log cannot be written.
        UnreadableFile: It cannot be read.
    """
    previous, ends_line = _last_hash(knowledge)
    content: dict[str, Any] = {
        "id": uuid.uuid4().hex,
        "event": event,
        "actor": actor,
        "created_at": moment.isoformat().replace("+00:00", "Z"),
        "object_ids": list(object_ids),
        "dry_run": False,
        "reversible": reversible,
        "data": dict(details or {}),
        "kb_id": _identity(knowledge),
        "prev_hash": previous,
    }
    content["hash"] = event_hash(content)
    line = f"{'' if ends_line else chr(10)}{_canonical(content)}\n".encode()
    try:
        descriptor = open_for_writing(knowledge.audit_log, os.O_CREAT | os.O_APPEND)
        try:
            while line:
                line = line[os.write(descriptor, line) :]
            flush_to_disk(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise write_error(knowledge.audit_log, error) from error
    return content


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
    found: list[dict[str, Any]] = []
    for line in _lines_backwards(knowledge):
        if len(found) >= count:
            break
        event = _parse(line)
        if event is not None:
            found.append(event)
    return found[::-1]


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
                yield number, _parse(line)


def _open(knowledge: KnowledgeBase) -> BinaryIO | None:
    path = knowledge.audit_log
    if path.is_symlink():
        raise UnreadableFile(f"{path.name} is a link", hint="expected a file of the project")
    return open_file(path) if path.exists() else None


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        return parse_object(line)
    except MalformedJson:
        return None


def _last_hash(knowledge: KnowledgeBase) -> tuple[str, bool]:
    """Return the hash that the next event continues, and whether the log ends with a line end."""
    ends_line: bool | None = None
    for line in _lines_backwards(knowledge):
        ends_line = line.endswith(b"\n") if ends_line is None else ends_line
        event = _parse(line)
        if event is not None and isinstance(event.get("hash"), str):
            return event["hash"], ends_line
    return _FIRST_HASH, ends_line is not False


def _lines_backwards(knowledge: KnowledgeBase) -> Iterator[bytes]:
    """Yield the lines from the last to the first; a line that is too long ends it."""
    file = _open(knowledge)
    if file is None:
        return
    with file:
        at = file.seek(0, os.SEEK_END)
        rest = b""
        while at > 0 and len(rest) <= _MAX_LINE:
            start = max(0, at - _BLOCK)
            file.seek(start)
            rest = file.read(at - start) + rest
            at = start
            lines = rest.splitlines(keepends=True)
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
    found = identity.get("id") if isinstance(identity, dict) else None
    return found if isinstance(found, str) else None
