"""Decoded records of the log: annotations with their range, edges and sessions (R5, R7, R14)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import msgspec

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.location import AnchoredRange
from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, integer, mapping, text
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import NodeType, RecordType, SessionEvent

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class LogRecord(msgspec.Struct, frozen=True, gc=False):
    """One record of the log.

    Attributes:
        line: Its 1-based line.
        id: Its `annotation_id` as stored, else the one computed from its content (R3).
        members: Exactly what is on disk.
        is_waiting: Whether it waits for a commit (R29); then the line is not one of the log.
    """

    line: int
    id: str
    members: Members
    is_waiting: bool = False

    @property
    def log_line(self) -> int | None:
        """Its line in the log; None while it waits."""
        return None if self.is_waiting else self.line

    @property
    def type(self) -> str:
        """The record's type; empty if it has none."""
        return self.text("type") or ""

    @property
    def is_annotation(self) -> bool:
        """Whether this is a line or function record."""
        return self.type in (RecordType.LINE, RecordType.FUNCTION)

    def text(self, name: str) -> str | None:
        """Return a member that is a string, else None."""
        value = self.members.get(name)
        return value if isinstance(value, str) else None

    @property
    def moment(self) -> datetime:
        """The record's timestamp; year 1 if it cannot be parsed."""
        return moment_of(self.text("timestamp"))

    @property
    def rank(self) -> tuple[datetime, int]:
        """The order of events: by time, then by line (R7)."""
        return moment_of(self.text("timestamp")), self.line


class Edge(msgspec.Struct, frozen=True, gc=False):
    """A relation "source [type] target"; on disk, its ends have either of two names (R5)."""

    record: LogRecord
    type: str
    source: str
    source_type: str
    target: str
    target_type: str

    @property
    def metadata(self) -> Members:
        """The edge's `metadata`; empty if it has none."""
        return mapping(self.record.members, "metadata")

    @property
    def reason(self) -> str | None:
        """The `reason` of a supersedes edge, if it gives one (R7)."""
        return text(self.metadata, "reason")


@dataclass(frozen=True, slots=True)
class LoggedSession:
    """A session as recorded (RFC 7.5).

    Attributes:
        id: Its `session_id`.
        starts: Its start records in log order; normally one.
        ends: Its end records; none while it is open.
    """

    id: str
    starts: tuple[LogRecord, ...]
    ends: tuple[LogRecord, ...]

    @property
    def start(self) -> LogRecord | None:
        """The first start; None if only an end was recorded."""
        return self.starts[0] if self.starts else None

    @property
    def is_open(self) -> bool:
        """Whether the session was started and not ended."""
        return bool(self.starts) and not self.ends

    def text(self, name: str) -> str | None:
        """Return a member that is a string, of the start records or else of the end records."""
        values = (record.text(name) for record in (*self.starts, *self.ends))
        return next((value for value in values if value is not None), None)


def moment_of(timestamp: str | None) -> datetime:
    """Return the time of a record's timestamp; year 1 if it cannot be parsed."""
    return parse_timestamp(timestamp or "") or _NEVER


def read_edge(record: LogRecord) -> Edge:
    """Return the edge of an edge record; an end without a type is an annotation (R5)."""
    return Edge(
        record,
        record.text("edge_type") or "",
        record.text("source_ref") or record.text("source_id") or "",
        record.text("source_type") or NodeType.ANNOTATION,
        record.text("target_ref") or record.text("target_id") or "",
        record.text("target_type") or NodeType.ANNOTATION,
    )


def recorded_lines(record: LogRecord) -> tuple[int, int] | None:
    """Return the recorded lines, first and last; None if there is no valid range."""
    start, end = integer(record.members, "line_start"), integer(record.members, "line_end")
    if record.type != RecordType.LINE or start is None or end is None or not 1 <= start <= end:
        return None
    return start, end


def recorded_range(members: Sequence[LogRecord], current: LogRecord) -> AnchoredRange | None:
    """Return the range of a lineage; None if the current record has no valid range.

    It starts where the current record says, has the anchors of the oldest record, and is as long as
    the text that its hash was computed from, even if a later record has more or fewer lines.
    """
    lines = recorded_lines(current)
    if lines is None:
        return None
    context, digest = _first(members, "anchor_context"), _first(members, "anchor_hash") or None
    anchors = Anchors(
        context if context is not None and (context.strip() or digest) else None,
        digest,
        current.text("file_content_hash") or _first(members, "file_content_hash") or None,
    )
    if digest is None or (len(members) == 1 and members[0] is current):  # as most are
        return AnchoredRange(lines[0], lines[1], anchors)
    written = recorded_lines(
        next(member for member in members if member.text("anchor_hash") is not None)
    )
    end = lines[1] if written is None else lines[0] + written[1] - written[0]
    return AnchoredRange(lines[0], end, anchors)


def _first(members: Sequence[LogRecord], name: str) -> str | None:
    """Return an anchor of the oldest member that has it: it describes what the AI wrote (R14).

    An empty string counts: it is the context of blank lines.
    """
    for member in members:
        value = member.text(name)
        if value is not None:
            return value
    return None


def logged_session(identifier: str, records: Iterable[LogRecord]) -> LoggedSession:
    """Return a session of these records."""
    all_records = list(records)
    starts, ends = (
        tuple(record for record in all_records if record.text("event") == event)
        for event in (SessionEvent.START, SessionEvent.END)
    )
    return LoggedSession(identifier, starts, ends)


def decoded_record(
    line: int, raw_line: bytes, *, is_waiting: bool = False
) -> LogRecord | MalformedJson:
    """Return the record on a line of a log; the error of a line that the parser rejects."""
    try:
        members = parse_object(raw_line)
    except MalformedJson as error:
        return error
    identifier = text(members, "annotation_id") or annotation_id(members)
    return LogRecord(line, identifier, members, is_waiting)
