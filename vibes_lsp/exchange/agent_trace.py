"""Read agent-trace records (version 0.1.0), tolerant of what their writers get wrong. Pure.

The reference hook writes the version `1.0`, which the format's own schema rejects, and the commit
before the edit as the revision. Other writers leave members out. What can be understood is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from vibes_lsp.errors import MalformedJson
from vibes_lsp.exchange.import_plan import ImportSource, Refusal
from vibes_lsp.model.canonical_json import canonical_json, object_or_none, parse_json, parse_object
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.members import JsonValue, Members, integer, mapping, objects, text
from vibes_lsp.model.timestamps import parse_timestamp

FORMAT: Final = "agent-trace"
VERSION: Final = "0.1.0"
OWN_METADATA: Final = "vibes"
"""The member of `metadata` in which this program exports what the format has no place for."""

_SUPPORTED: Final = re.compile(r"[01](?:\.\d{1,9}){0,2}")
_REFERENCE_HOOK: Final = "1.0"
"""The version that only the reference hook writes; its revision is the commit before the edit."""
_SHA256: Final = re.compile(r"(?:sha-?256:)?([0-9a-f]{64})", re.IGNORECASE)
_MAX_ID: Final = 200

NOT_A_RECORD: Final = "this is not a JSON object"
OTHER_VERSION: Final = "the version is not 0.1"
NO_TIME: Final = "the record has no valid timestamp"
NO_FILES: Final = "the record has no files"
NO_LINES: Final = "the range has no valid lines"


@dataclass(frozen=True, slots=True)
class TraceRange:
    """A range of lines in a record.

    Attributes:
        path: The file, as written.
        start: First line, 1-based.
        end: Last line, inclusive.
        contributor: `ai`, `human`, `mixed` or `unknown`.
        model_id: The model, as written.
        content_hash: The hash of the lines, as written.
        url: The conversation.
        related: Other resources, as written.
    """

    path: str
    start: int
    end: int
    contributor: str
    model_id: str | None = None
    content_hash: str | None = None
    url: str | None = None
    related: JsonValue = None

    @property
    def sha256(self) -> str | None:
        """The content hash if it is a whole SHA-256; other algorithms are not specified."""
        return None if self.content_hash is None else sha256_of(self.content_hash)


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace record.

    Attributes:
        source: Where it is, and its id; one without an id gets the hash of its content.
        timestamp: When it was recorded, as written.
        moment: The same.
        vcs: The version control system with the revision, as written.
        revision: The git commit; None if there is none.
        is_before_edit: Whether the writer is known to give the commit before the edit.
        tool: Name and version of the tool, as written.
        ranges: Its ranges, in order.
        broken: How many ranges cannot be read, by path.
        metadata: As written.
    """

    source: ImportSource
    timestamp: str
    moment: datetime
    vcs: Members
    revision: str | None
    is_before_edit: bool
    tool: Members
    ranges: tuple[TraceRange, ...]
    broken: tuple[str, ...]
    metadata: Members

    @property
    def own_metadata(self) -> Members:
        """What this program exported with the record."""
        return mapping(self.metadata, OWN_METADATA)


def read_traces(content: bytes, name: str) -> Iterator[Trace | Refusal]:
    """Yield the records of a file: one a line, or one JSON document with a record or an array.

    Args:
        content: Its content.
        name: Its name, for the places of the records.
    """
    numbered = [
        (number, line) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()
    ]
    if not numbered:
        return
    if object_or_none(numbered[0][1]) is None:
        try:
            document = parse_json(content)
        except MalformedJson:
            document = None
        records = document if isinstance(document, list) else [document]
        if document is not None:
            for number, record in enumerate(records, 1):
                yield _read_trace(record, f"{name}#{number}")
            return
    for number, line in numbered:
        place = f"{name}:{number}"
        try:
            yield _read_trace(parse_object(line), place)
        except MalformedJson:
            yield Refusal(ImportSource(FORMAT, place, place), NOT_A_RECORD)


def _read_trace(record: JsonValue, place: str) -> Trace | Refusal:
    if not isinstance(record, dict):
        return Refusal(ImportSource(FORMAT, place, place), NOT_A_RECORD)
    identifier = text(record, "id") or f"sha256:{sha256(canonical_json(record))}"
    source = ImportSource(FORMAT, identifier[:_MAX_ID], place)
    version = text(record, "version")
    if version is not None and not _SUPPORTED.fullmatch(version):
        return Refusal(source, OTHER_VERSION)
    timestamp = text(record, "timestamp") or ""
    moment = parse_timestamp(timestamp)
    if moment is None:
        return Refusal(source, NO_TIME)
    files = record.get("files")
    if not isinstance(files, list):
        return Refusal(source, NO_FILES)
    vcs = mapping(record, "vcs")
    is_git = text(vcs, "type") in {"git", None}
    ranges: list[TraceRange] = []
    broken: list[str] = []
    for file in objects(files):
        path = text(file, "path") or ""
        for trace_range in _ranges(file, path):
            if trace_range is None:
                broken.append(path)
            else:
                ranges.append(trace_range)
    return Trace(
        source,
        timestamp,
        moment,
        vcs,
        text(vcs, "revision") if is_git else None,
        version == _REFERENCE_HOOK,
        mapping(record, "tool"),
        tuple(ranges),
        tuple(broken),
        mapping(record, "metadata"),
    )


def sha256_of(content_hash: str) -> str | None:
    """Return the digest of a content hash; None if it is not a whole SHA-256."""
    match = _SHA256.fullmatch(content_hash)
    return None if match is None else match[1].lower()


def _ranges(file: Members, path: str) -> Iterator[TraceRange | None]:
    """Yield the ranges of a file; None for one that cannot be read."""
    for conversation in objects(file.get("conversations")):
        common = mapping(conversation, "contributor")
        for members in objects(conversation.get("ranges")):
            start, end = integer(members, "start_line"), integer(members, "end_line")
            if not path or start is None or end is None or not 1 <= start <= end:
                yield None
                continue
            own = mapping(members, "contributor")
            contributor = text(own or common, "type") or "unknown"
            model = text(own, "model_id") or text(common, "model_id")
            yield TraceRange(
                path,
                start,
                end,
                contributor,
                model if contributor == "ai" else None,
                text(members, "content_hash"),
                text(conversation, "url"),
                conversation.get("related"),
            )
