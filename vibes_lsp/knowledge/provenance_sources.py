"""Sources that are made from an audit trail: what was said in a session, or one of its entries.

The bytes are the records and entries exactly as the trail has them, one JSON object a line, so that
the hashes in the trail prove them. What they say is an AI's word; `metadata` marks them as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from vibes_lsp.errors import UnknownId
from vibes_lsp.knowledge.objects import SourceType
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.record_schema import CONTEXT_MEMBERS
from vibes_lsp.trail.lookup import look_up
from vibes_lsp.trail.records import LogRecord, read_edge
from vibes_lsp.trail.rows import LogLineKind
from vibes_lsp.trail.trail import Trail

PROVENANCE_MEMBER: Final = "vibes"
"""The member of a source's `metadata` that says what of a trail it is."""
_MAX_NAMED: Final = 1000
"""Most annotations that `metadata` names."""
_RECORDS: Final = (
    LogLineKind.SESSION,
    LogLineKind.LINE,
    LogLineKind.FUNCTION,
    LogLineKind.EDGE,
    LogLineKind.DELEGATION,
)


@dataclass(frozen=True, slots=True)
class TrailSource:
    """A source made from a trail.

    Attributes:
        content: Its bytes.
        locator: What it is, such as `vibes:session/ID`.
        type: The type of the source.
        title: What people call it.
        metadata: What it is and which annotations belong to it.
    """

    content: bytes
    locator: str
    type: SourceType
    title: str
    metadata: Members


def trail_source(trail: Trail, identifier: str) -> TrailSource:
    """Return a source for a session, a context entry or an annotation.

    Args:
        trail: The trail.
        identifier: The id, or the beginning of it.

    Raises:
        UnknownId: Nothing has this id, or it is a record of another kind.
        AmbiguousId: Several have it.
    """
    target = look_up(trail, identifier)
    if target.kind == "session":
        records = list(_records_of_session(trail, target.id))
        return _source(trail, "session", target.id, "transcript", records)
    if target.kind == "record" and target.record is not None and target.record.is_annotation:
        return _source(trail, "annotation", target.id, "transcript", [target.record])
    if target.kind == "entry" and target.entry is not None:
        kind = str(target.entry.get("type") or "entry")
        naming = trail.log.annotations_naming(target.id, _MAX_NAMED)
        return TrailSource(
            _line({"kind": "entry", "id": target.id, "entry": target.entry}),
            f"vibes:{kind}/{target.id}",
            "message",
            f"{kind} {target.id[:8]} of the audit trail",
            _metadata(kind, target.id, [annotation.id for annotation in naming]),
        )
    raise UnknownId(
        f"{target.id[:8]} is not a session, context entry or annotation",
        hint="`vibes stats --by session` and `vibes log` list them",
    )


def _source(
    trail: Trail, kind: str, identifier: str, source_type: SourceType, records: list[LogRecord]
) -> TrailSource:
    lines = [
        _line({"kind": "record", "id": record.id, "record": record.members}) for record in records
    ]
    lines += [
        _line({"kind": "entry", "id": key, "entry": trail.manifest.entry(key)})
        for key in _entries_of(trail, records)
    ]
    return TrailSource(
        b"".join(lines),
        f"vibes:{kind}/{identifier}",
        source_type,
        f"{kind} {identifier[:8]} of the audit trail",
        _metadata(kind, identifier, [record.id for record in records if record.is_annotation]),
    )


def _records_of_session(trail: Trail, session: str) -> Iterator[LogRecord]:
    """Yield a session's records in log order, with the edges that lead to or from it."""
    for record in trail.log.records_of(*_RECORDS):
        if record.text("session_id") == session:
            yield record
        elif record.type == "edge":
            edge = read_edge(record)
            if session in {edge.source, edge.target}:
                yield record


def _entries_of(trail: Trail, records: Iterable[LogRecord]) -> list[str]:
    """Return the keys of the entries that records name, in order, each once."""
    named: dict[str, None] = {}
    for record in records:
        edge = read_edge(record) if record.type == "edge" else None
        keys = (
            [record.text(member) for member in CONTEXT_MEMBERS]
            if edge is None
            else [edge.source, edge.target]
        )
        named.update(dict.fromkeys(key for key in keys if key))
    return [key for key in named if trail.manifest.entry(key) is not None]


def _metadata(kind: str, identifier: str, annotations: list[str]) -> Members:
    named: list[JsonValue] = list(annotations[:_MAX_NAMED])
    about: Members = {"kind": kind, "id": identifier, "annotation_ids": named}
    return {PROVENANCE_MEMBER: about}


def _line(value: Members) -> bytes:
    return canonical_json(value) + b"\n"
