"""The log as arrays: for each line its offset, kind, id key and the members to find it by."""

from __future__ import annotations

import binascii
import re
import sys
from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import accumulate, compress, repeat
from operator import attrgetter
from typing import Any, Final

import msgspec

from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import CONFLICT_MARKERS, FastDecoder, parse_object
from vibes_lsp.model.hashing import annotation_id, sha256
from vibes_lsp.model.members import Members, mapping, text
from vibes_lsp.model.vocabulary import EdgeType, SupersedesReason
from vibes_lsp.store.log_follower import MAX_LINE, LineBatch

KEY_DIGITS: Final = 8
"""Hexadecimal digits of an id in the upper half of its key."""
KEY_HASH_BITS: Final = 32
"""Bits in the lower half of a key."""
_REST: Final = (1 << KEY_HASH_BITS) - 1
_FULL: Final = 64
_DIGITS: Final = re.compile(rf"[0-9A-Fa-f]{{{KEY_DIGITS}}}\Z").match


def id_key(identifier: str) -> int:
    """Return the 64-bit key of an id, valid in this process only.

    The upper half is the first digits of the id, so that a prefix is a range of keys; of an id that
    is no digest, the digits of its digest. The lower half hashes the whole id: a trail may contain
    any ids, and a counter in the last digits must not give all of them one key.
    """
    digits = (
        identifier[:KEY_DIGITS]
        if len(identifier) == _FULL and _DIGITS(identifier[:KEY_DIGITS])
        else _digest(identifier)[:KEY_DIGITS]
    )
    return int(digits, 16) << KEY_HASH_BITS | hash(identifier) & _REST


def append_id_keys(column: array[int], identifiers: list[str]) -> None:
    """Append the keys of many ids; converting all digits at once makes the scan fast."""
    digests = identifiers
    if set(map(len, identifiers)) != {_FULL}:
        digests = [each if len(each) == _FULL else _digest(each) for each in identifiers]
    try:
        first = array("I", binascii.unhexlify("".join(digests)))[:: _FULL // KEY_DIGITS]
    except ValueError:  # as long as a digest, but not hexadecimal
        column.extend(map(id_key, identifiers))
        return
    is_little = sys.byteorder == "little"
    if is_little:
        first.byteswap()
    halves = array("I", array("q", map(hash, identifiers)).tobytes())
    halves[is_little::2] = first
    column.frombytes(halves.tobytes())


def _digest(identifier: str) -> str:
    return sha256(identifier.encode("utf-8", "surrogatepass"))


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
UNKNOWN: Final = 255
"""Code of an unknown edge type or reason."""
_GET_ID: Final = attrgetter("annotation_id")
_GET_PATH: Final = attrgetter("file_path")
_GET_SESSION: Final = attrgetter("session_id")
_GET_PROMPT: Final = attrgetter("prompt_hash")
_GET_DECISION: Final = attrgetter("decision_hash")
_GET_EDGE_TYPE: Final = attrgetter("edge_type")
_EDGE_CODES: Final[dict[str | None, int]] = {name: code for code, name in enumerate(EDGE_TYPES)}
_REASON_CODES: Final[dict[str | None, int]] = {name: code for code, name in enumerate(REASONS)}


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that is not a record, and why it was skipped (R12)."""

    line: int
    reason: str


class _Reason(msgspec.Struct, gc=False):
    reason: str | None = None


class _Annotation(msgspec.Struct, gc=False):
    annotation_id: str | None = None
    file_path: str | None = None
    session_id: str | None = None
    prompt_hash: str | None = None
    decision_hash: str | None = None


class _Line(_Annotation, gc=False, tag_field="type", tag="line"):
    pass


class _Function(_Annotation, gc=False, tag_field="type", tag="function"):
    pass


class _Edge(msgspec.Struct, gc=False, tag_field="type", tag="edge"):
    edge_type: str | None = None
    source_ref: str | None = None
    target_ref: str | None = None
    source_id: str | None = None
    target_id: str | None = None
    annotation_id: str | None = None
    metadata: _Reason | None = None


class _Session(msgspec.Struct, gc=False, tag_field="type", tag="session"):
    session_id: str | None = None
    annotation_id: str | None = None


class _Delegation(msgspec.Struct, gc=False, tag_field="type", tag="delegation"):
    annotation_id: str | None = None


class _Other(msgspec.Struct, gc=False):
    annotation_id: str | None = None


class _Blank(_Other, gc=False):
    pass


class _Broken(_Other, gc=False):
    pass


_DECODER: Final[FastDecoder[Any]] = FastDecoder(_Line | _Function | _Edge | _Session | _Delegation)

_KINDS: Final[dict[type, int]] = {
    _Blank: LogLineKind.BLANK,
    _Line: LogLineKind.LINE,
    _Function: LogLineKind.FUNCTION,
    _Session: LogLineKind.SESSION,
    _Edge: LogLineKind.EDGE,
    _Delegation: LogLineKind.DELEGATION,
    _Other: LogLineKind.OTHER,
    _Broken: LogLineKind.BROKEN,
}


def _mask(*kinds: LogLineKind) -> bytes:
    """Return a table for `bytes.translate` that marks lines of some kinds with 1."""
    return bytes(code in kinds for code in range(256))


_IS_ANNOTATION: Final = _mask(*ANNOTATION_KINDS)
_IS_EDGE: Final = _mask(LogLineKind.EDGE)
_IS_SESSION: Final = _mask(LogLineKind.SESSION)
_IS_DELEGATION: Final = _mask(LogLineKind.DELEGATION)


@dataclass
class NamedEntries:
    """Which annotations name entries of one type.

    Attributes:
        lines: The lines of annotations that name one.
        hashes: Parallel to it, Python's hashes of the entries' ids.
    """

    lines: array[int] = field(default_factory=lambda: array("I"))
    hashes: array[int] = field(default_factory=lambda: array("q"))

    def extend(self, lines: Iterable[int], named: Sequence[str | None]) -> None:
        """Append the entry that each of some lines names."""
        if any(named):
            self.lines.extend(compress(lines, named))
            self.hashes.extend(map(hash, filter(None, named)))

    def last_lines(self, identifier: str, limit: int) -> list[int]:
        """Return the last lines that name an entry, in order, and perhaps another one."""
        wanted, at = hash(identifier), 0
        found: deque[int] = deque(maxlen=limit)
        with suppress(ValueError):  # there are no more
            while True:
                at = self.hashes.index(wanted, at) + 1
                found.append(self.lines[at - 1])
        return list(found)


@dataclass
class LogColumns:
    """All lines read so far, numbered from 1.

    Attributes:
        ends: For each line, the number of bytes up to its end, newlines not counted.
        kinds: For each line, its `LogLineKind`.
        keys: For each line, the key of its record's id.
        annotations: Line numbers by `file_path`, as recorded.
        sessions: Line numbers of session records by `session_id`.
        session_files: The files that each session's annotations name, as recorded.
        delegations: Line numbers of delegations.
        prompts: The prompts that annotations name.
        decisions: The decisions that annotations name.
        edge_lines: For each edge, its line; the following columns are parallel to it.
        edge_types: Indexes into `EDGE_TYPES`, or `UNKNOWN`.
        edge_reasons: Indexes into `REASONS`, or `UNKNOWN`.
        edge_sources: Id keys.
        edge_targets: Id keys.
        broken: Lines that are not records.
    """

    ends: array[int] = field(default_factory=lambda: array("Q"))
    kinds: bytearray = field(default_factory=bytearray)
    keys: array[int] = field(default_factory=lambda: array("Q"))
    annotations: dict[str, array[int]] = field(default_factory=dict)
    sessions: dict[str, list[int]] = field(default_factory=dict)
    session_files: dict[str, set[str]] = field(default_factory=dict)
    delegations: list[int] = field(default_factory=list)
    prompts: NamedEntries = field(default_factory=NamedEntries)
    decisions: NamedEntries = field(default_factory=NamedEntries)
    edge_lines: array[int] = field(default_factory=lambda: array("I"))
    edge_types: bytearray = field(default_factory=bytearray)
    edge_reasons: bytearray = field(default_factory=bytearray)
    edge_sources: array[int] = field(default_factory=lambda: array("Q"))
    edge_targets: array[int] = field(default_factory=lambda: array("Q"))
    broken: list[BrokenLine] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.kinds)

    def byte_range(self, line: int) -> tuple[int, int]:
        """Return the byte offset and length of a line, without its newline."""
        before = self.ends[line - 2] if line > 1 else 0
        return before + line - 1, self.ends[line - 1] - before

    def append(self, batch: LineBatch) -> None:
        """Append a batch of lines; a broken line goes to `broken` and hides no other (R12)."""
        last = self.ends[-1] if self.ends else 0
        if batch.oversized is not None:
            self.ends.append(last + batch.oversized)
            self._extend([self._broken(batch.first, f"longer than {MAX_LINE:,} bytes")], batch)
            return
        self.ends.fromlist(list(accumulate(map(len, batch.lines), initial=last))[1:])
        rows = _DECODER.decode_all(batch.lines)
        if rows is None:
            rows = [
                self._decode(line, number) for number, line in enumerate(batch.lines, batch.first)
            ]
        self._extend(rows, batch)

    def _extend(self, rows: list[Any], batch: LineBatch) -> None:
        """Append decoded rows. The hot path: one C-level pass for each column, no loop."""
        kinds = bytes(map(_KINDS.__getitem__, map(type, rows)))
        self.kinds += kinds
        identifiers = list(map(_GET_ID, rows))
        if None in identifiers:
            for index, identifier in enumerate(identifiers):
                if identifier is None:
                    identifiers[index] = self._computed_id(batch.lines[index], kinds[index])
        append_id_keys(self.keys, identifiers)
        numbers = range(batch.first, batch.first + len(rows))
        edges = kinds.translate(_IS_EDGE)
        if 1 in edges:
            self.edge_lines.extend(compress(numbers, edges))
            self._add_edges(list(compress(rows, edges)))
        placed = kinds.translate(_IS_ANNOTATION)
        self._add_annotations(list(compress(numbers, placed)), list(compress(rows, placed)))
        for number in compress(numbers, kinds.translate(_IS_SESSION)):
            self.sessions.setdefault(rows[number - batch.first].session_id or "", []).append(number)
        self.delegations.extend(compress(numbers, kinds.translate(_IS_DELEGATION)))

    def _add_annotations(self, numbers: list[int], rows: list[Any]) -> None:
        self.prompts.extend(numbers, list(map(_GET_PROMPT, rows)))
        self.decisions.extend(numbers, list(map(_GET_DECISION, rows)))
        annotations, session_files = self.annotations, self.session_files
        for number, path, session in zip(
            numbers, map(_GET_PATH, rows), map(_GET_SESSION, rows), strict=True
        ):
            lines = annotations.get(path)
            if lines is None:
                lines = annotations.setdefault(path or "", array("I"))
            lines.append(number)
            if session and path:
                session_files.setdefault(session, set()).add(path)

    def _add_edges(self, edges: list[Any]) -> None:
        self.edge_types += bytes(map(_EDGE_CODES.get, map(_GET_EDGE_TYPE, edges), repeat(UNKNOWN)))
        self.edge_reasons += bytes(
            [_REASON_CODES.get(edge.metadata and edge.metadata.reason, UNKNOWN) for edge in edges]
        )
        append_id_keys(
            self.edge_sources, [edge.source_ref or edge.source_id or "" for edge in edges]
        )
        append_id_keys(
            self.edge_targets, [edge.target_ref or edge.target_id or "" for edge in edges]
        )

    def _computed_id(self, line: bytes, kind: int) -> str:
        """Return the id computed from the content of a record that has none (R3)."""
        if kind in (LogLineKind.BLANK, LogLineKind.BROKEN):
            return ""
        try:
            return annotation_id(parse_object(line))
        except MalformedJson:
            return ""

    def _decode(self, line: bytes, number: int) -> Any:
        """Decode one line of a batch that could not be decoded at once."""
        row = _DECODER.decode(line)
        if row is not None:
            return row
        stripped = line.strip().removeprefix(b"\xef\xbb\xbf")
        if not stripped:
            return _Blank()
        if stripped.startswith(_CONFLICT_BYTES):
            return self._broken(number, "merge-conflict marker")
        try:
            return _lenient_row(parse_object(stripped))
        except MalformedJson as error:
            column = f" (column {error.column})" if error.column > 1 else ""
            return self._broken(number, f"{error.reason}{column}")

    def _broken(self, number: int, reason: str) -> _Broken:
        self.broken.append(BrokenLine(number, reason))
        return _Broken()


_CONFLICT_BYTES: Final = tuple(marker.encode() for marker in CONFLICT_MARKERS)


def _lenient_row(record: Members) -> Any:
    """Return the row of a record, ignoring members of a wrong type."""
    identifier = text(record, "annotation_id")
    match record.get("type"):
        case "line" | "function" as kind:
            row = _Line if kind == "line" else _Function
            names = ("file_path", "session_id", "prompt_hash", "decision_hash")
            return row(identifier, *(text(record, name) for name in names))
        case "session":
            return _Session(text(record, "session_id"), identifier)
        case "delegation":
            return _Delegation(identifier)
        case "edge":
            return _Edge(
                text(record, "edge_type"),
                text(record, "source_ref"),
                text(record, "target_ref"),
                text(record, "source_id"),
                text(record, "target_id"),
                identifier,
                _Reason(text(mapping(record, "metadata"), "reason")),
            )
        case _:
            return _Other(identifier)
