"""Lines of the log as rows: their kind and the few members that the index has columns of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import CONFLICT_MARKERS, FastDecoder, parse_object
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, mapping, text


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that is not a record, and why it was skipped (R12)."""

    line: int
    reason: str


class Row(msgspec.Struct, gc=False):
    """A line; without one of the types below it is a record of another type."""

    annotation_id: str | None = None


class BlankRow(Row, gc=False):
    """A line without text."""


class BrokenRow(Row, gc=False):
    """A line that is not a record."""


class AnnotationRow(Row, gc=False):
    """A line or function record."""

    file_path: str | None = None
    session_id: str | None = None
    prompt_hash: str | None = None
    decision_hash: str | None = None
    environment_hash: str | None = None
    action: str | None = None
    assurance_level: str | None = None


class LineRow(AnnotationRow, gc=False, tag_field="type", tag="line"):
    """A line record."""


class FunctionRow(AnnotationRow, gc=False, tag_field="type", tag="function"):
    """A function record."""


class EdgeMetadata(msgspec.Struct, gc=False):
    """What the index has of the metadata of an edge."""

    reason: str | None = None


class EdgeRow(Row, gc=False, tag_field="type", tag="edge"):
    """An edge."""

    edge_type: str | None = None
    source_ref: str | None = None
    target_ref: str | None = None
    source_id: str | None = None
    target_id: str | None = None
    metadata: EdgeMetadata | None = None


class SessionRow(Row, gc=False, tag_field="type", tag="session"):
    """A session record."""

    session_id: str | None = None


class DelegationRow(Row, gc=False, tag_field="type", tag="delegation"):
    """A delegation."""


_DECODER: Final[FastDecoder[Any]] = FastDecoder(
    LineRow | FunctionRow | EdgeRow | SessionRow | DelegationRow
)
_CONFLICT_BYTES: Final = tuple(marker.encode() for marker in CONFLICT_MARKERS)


def read_rows(lines: Sequence[bytes], first: int, broken: list[BrokenLine]) -> list[Row]:
    """Decode consecutive lines; a broken one goes to `broken` and hides no other (R12).

    Args:
        lines: The lines.
        first: The number of the first one.
        broken: Where broken lines are added.
    """
    rows = _DECODER.decode_all(lines)
    if rows is None or not _are_utf8(lines):
        return [_read_row(line, number, broken) for number, line in enumerate(lines, first)]
    return rows


def computed_id(line: bytes, row: Row) -> str:
    """Return the id computed from the content of a record that has none (R3)."""
    if isinstance(row, BlankRow | BrokenRow):
        return ""
    try:
        return annotation_id(parse_object(line))
    except MalformedJson:
        return ""


def _read_row(line: bytes, number: int, broken: list[BrokenLine]) -> Row:
    """Decode one line of some that could not be decoded at once."""
    row: Row | None = _DECODER.decode(line) if _are_utf8([line]) else None
    if row is not None:
        return row
    if not line.removeprefix(b"\xef\xbb\xbf").strip():
        return BlankRow()
    if line.strip().startswith(_CONFLICT_BYTES):
        broken.append(BrokenLine(number, "merge-conflict marker"))
        return BrokenRow()
    try:
        return _lenient_row(parse_object(line.rstrip(b"\r\n")))
    except MalformedJson as error:
        column = f" (column {error.column})" if error.column > 1 else ""
        broken.append(BrokenLine(number, f"{error.reason}{column}"))
        return BrokenRow()


def _are_utf8(lines: Sequence[bytes]) -> bool:
    """Whether lines are UTF-8; the fast decoder does not look into members that it skips."""
    if all(map(bytes.isascii, lines)):
        return True
    try:
        for line in lines:
            if not line.isascii():
                line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _lenient_row(record: Members) -> Row:
    """Return the row of a record, ignoring members of a wrong type."""
    identifier = text(record, "annotation_id")
    match record.get("type"):
        case "line" | "function" as kind:
            row = LineRow if kind == "line" else FunctionRow
            names = AnnotationRow.__struct_fields__[1:]
            return row(identifier, *(text(record, name) for name in names))
        case "session":
            return SessionRow(identifier, text(record, "session_id"))
        case "delegation":
            return DelegationRow(identifier)
        case "edge":
            return EdgeRow(
                identifier,
                text(record, "edge_type"),
                text(record, "source_ref"),
                text(record, "target_ref"),
                text(record, "source_id"),
                text(record, "target_id"),
                EdgeMetadata(text(mapping(record, "metadata"), "reason")),
            )
        case _:
            return Row(identifier)
