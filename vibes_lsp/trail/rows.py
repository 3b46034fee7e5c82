"""Lines of the log as rows: their kind and the members that the index has columns of.

Which these are is declared in `model.record_schema`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Union, cast

import msgspec

from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import (
    CONFLICT_MARKERS,
    FastDecoder,
    object_or_none,
    parse_object,
)
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, mapping, text
from vibes_lsp.model.record_schema import RECORD_SCHEMAS
from vibes_lsp.model.vocabulary import EdgeType, RecordType, SupersedesReason
from vibes_lsp.store.journal import is_entry_line
from vibes_lsp.store.log_batches import LineBatch


class LogLineKind(IntEnum):
    """What a line of the log contains."""

    BLANK = 0
    LINE = 1
    FUNCTION = 2
    SESSION = 3
    EDGE = 4
    DELEGATION = 5
    OTHER = 6
    BROKEN = 7


ANNOTATION_KINDS: Final = frozenset({LogLineKind.LINE, LogLineKind.FUNCTION})
EDGE_TYPES: Final = tuple(EdgeType)
REASONS: Final = tuple(SupersedesReason)


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


class EdgeMetadata(msgspec.Struct, gc=False):
    """What the index has of the metadata of an edge."""

    reason: str | None = None


INDEXED: Final = {
    kind: tuple(member for member in schema.members if member.is_indexed)
    for kind, schema in RECORD_SCHEMAS.items()
}
"""The members by which the index finds and counts records of each type."""


def _row(kind: RecordType) -> type[Row]:
    """Return the row of a type of record."""
    names = [member.name for member in INDEXED[kind]]
    names += [member.older_name for member in INDEXED[kind] if member.older_name is not None]
    fields: list[tuple[str, Any, Any]] = [(name, str | None, None) for name in names]
    if kind == RecordType.EDGE:
        fields.append(("metadata", EdgeMetadata | None, None))
    row: Any = msgspec.defstruct(
        f"{kind.capitalize()}Row",
        fields,
        bases=(Row,),
        namespace={"__doc__": RECORD_SCHEMAS[kind].description},
        gc=False,
        tag_field="type",
        tag=kind.value,
    )
    return cast("type[Row]", row)


ROWS: Final = {kind: _row(kind) for kind in RecordType}
_DECODER: Final[FastDecoder[Any]] = FastDecoder(Union[tuple(ROWS.values())])  # noqa: UP007
_CONFLICT_BYTES: Final = tuple(marker.encode() for marker in CONFLICT_MARKERS)


class Brief(msgspec.Struct, gc=False):
    """The id and the time of a record; of a hunk its edit, of an edge its ends."""

    annotation_id: str | None = None
    edit: str | None = None
    timestamp: str | None = None
    source_ref: str | None = None
    target_ref: str | None = None


BRIEF: Final[FastDecoder[Brief]] = FastDecoder(Brief)


def without_known(
    batch: LineBatch, is_known: Callable[[str], bool], is_written: Callable[[str], bool]
) -> LineBatch:
    """Return waiting lines, of which entries and known records are blank; broken lines stay.

    So are an edit of which the log has a hunk, and its edges, which the log has for each hunk.

    Args:
        batch: The lines.
        is_known: Whether the lines before have a record, by its id.
        is_written: Whether they have no record with an id, and one that names it as its edit.
    """
    if batch.oversized is not None:
        return batch
    lines: list[bytes] = []
    new: set[str] = set()
    for line in batch.lines:
        brief = None if is_entry_line(line) else BRIEF.decode(line)
        if brief is None:
            is_hidden = is_entry_line(line) or object_or_none(line) is not None
        else:
            name, names = brief.annotation_id, (brief.source_ref, brief.target_ref)
            is_hidden = (
                not name
                or name in new
                or is_known(name)
                or any(is_written(identifier) for identifier in (name, *names) if identifier)
            )
            new.add(name or "")
        content = line.rstrip(b"\n")
        lines.append(b" " * len(content) + line[len(content) :] if is_hidden else line)
    return LineBatch(batch.first, lines)


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
    identifier, kind = text(record, "annotation_id"), text(record, "type")
    if kind not in ROWS:
        return Row(identifier)
    row = ROWS[RecordType(kind)]
    members: list[Any] = [
        EdgeMetadata(text(mapping(record, name), "reason"))
        if name == "metadata"
        else text(record, name)
        for name in row.__struct_fields__[1:]
    ]
    return row(identifier, *members)
