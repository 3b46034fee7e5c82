"""Records decoded on demand, the edges between them, and the range that a record names (R7, R14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import msgspec

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.located import AnchoredRange
from vibes_lsp.model.members import Members, integer, mapping, text
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import EdgeType, NodeType, RecordType

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class LogRecord(msgspec.Struct, frozen=True, gc=False):
    """One record of the log.

    Attributes:
        line: Its 1-based line.
        id: Its `annotation_id` as stored, else the one its content has (R3).
        members: Exactly what is on disk.
    """

    line: int
    id: str
    members: Members

    @property
    def type(self) -> str:
        """The record's type, empty when it has none."""
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
        """The record's instant; one that cannot be read comes before all others."""
        return parse_timestamp(self.text("timestamp") or "") or _NEVER

    @property
    def rank(self) -> tuple[datetime, int]:
        """Place in the order of events: time, then place in the log (R7)."""
        return self.moment, self.line


class Edge(msgspec.Struct, frozen=True, gc=False):
    """A relation as it reads, "source [type] target", whichever names its ends have on disk (R5)."""

    record: LogRecord
    type: str
    source: str
    source_type: str
    target: str
    target_type: str

    @property
    def metadata(self) -> Members:
        """The edge's `metadata`, empty when it has none."""
        return mapping(self.record.members, "metadata")

    @property
    def reason(self) -> str | None:
        """Why a supersedes edge was written, where it says so (R7)."""
        return text(self.metadata, "reason")


@dataclass(frozen=True, slots=True)
class LoggedSession:
    """One session.

    Attributes:
        id: Its `session_id`.
        starts: Its start records in the order of the log; a sound log has one.
        ends: Its end records; none while it is open.
    """

    id: str
    starts: tuple[LogRecord, ...]
    ends: tuple[LogRecord, ...]

    @property
    def start(self) -> LogRecord | None:
        """The first start; None when only an end was recorded."""
        return self.starts[0] if self.starts else None

    @property
    def is_open(self) -> bool:
        """Whether the session was started and never ended."""
        return bool(self.starts) and not self.ends

    def text(self, name: str) -> str | None:
        """Return a member of the session as its start, else its end, gives it."""
        values = (record.text(name) for record in (*self.starts, *self.ends))
        return next((value for value in values if value is not None), None)


def read_edge(record: LogRecord) -> Edge:
    """Return the edge that a record states; a missing type of an end means annotation (R5)."""
    return Edge(
        record,
        record.text("edge_type") or "",
        record.text("source_ref") or record.text("source_id") or "",
        record.text("source_type") or NodeType.ANNOTATION,
        record.text("target_ref") or record.text("target_id") or "",
        record.text("target_type") or NodeType.ANNOTATION,
    )


def is_supersedes(edge: Edge) -> bool:
    """Whether the edge joins or replaces annotations."""
    return edge.type == EdgeType.SUPERSEDES


def recorded_lines(record: LogRecord) -> tuple[int, int] | None:
    """Return the range that a record gives; None when it gives none that makes sense."""
    start, end = integer(record.members, "line_start"), integer(record.members, "line_end")
    if record.type != RecordType.LINE or start is None or end is None or not 1 <= start <= end:
        return None
    return start, end


def recorded_range(members: Sequence[LogRecord], current: LogRecord) -> AnchoredRange | None:
    """Return the range of a lineage: where the current record has it, anchors of the oldest; None when it has none that makes sense.

    It is as long as what its hash was made of, should a later record have given it more lines or fewer.
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
    """Return an anchor as the oldest member has it: anchors describe what the AI wrote, whatever came later (R14).

    The context of blank lines is empty or a line break; it means something beside a hash.
    """
    for member in members:
        value = member.text(name)
        if value is not None:
            return value
    return None
