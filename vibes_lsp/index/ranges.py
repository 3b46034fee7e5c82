"""The range of lines that an annotation is about, with its anchors, as its records have them (R7, R14)."""

from __future__ import annotations

from collections.abc import Sequence

from vibes_lsp.anchors.located import Recorded
from vibes_lsp.anchors.making import Anchors
from vibes_lsp.index.records import LogRecord
from vibes_lsp.model.members import integer
from vibes_lsp.model.vocabulary import RecordType


def recorded_lines(record: LogRecord) -> tuple[int, int] | None:
    """Return the range that a record gives; None when it gives none that makes sense."""
    start, end = integer(record.members, "line_start"), integer(record.members, "line_end")
    if record.type != RecordType.LINE or start is None or end is None or not 1 <= start <= end:
        return None
    return start, end


def recorded_range(members: Sequence[LogRecord], current: LogRecord) -> Recorded | None:
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
        return Recorded(lines[0], lines[1], anchors)
    written = recorded_lines(next(member for member in members if member.text("anchor_hash") is not None))
    end = lines[1] if written is None else lines[0] + written[1] - written[0]
    return Recorded(lines[0], end, anchors)


def _first(members: Sequence[LogRecord], name: str) -> str | None:
    """Return an anchor as the oldest member has it: anchors describe what the AI wrote, whatever came later (R14).

    The context of blank lines is empty or a line break; it means something beside a hash.
    """
    for member in members:
        value = member.text(name)
        if value is not None:
            return value
    return None
