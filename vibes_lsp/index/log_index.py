"""An index of the annotation log: finds records by id, prefix, kind or time, and their edges.

It keeps offsets and keys, and decodes records from the file on demand.
"""

from __future__ import annotations

import re
import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final

from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.index.log_columns import (
    ANNOTATION_KINDS,
    EDGE_TYPES,
    KEY_DIGITS,
    KEY_HASH_BITS,
    LogColumns,
    LogLineKind,
    id_key,
)
from vibes_lsp.index.records import Edge, LoggedSession, LogRecord, read_edge
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import text
from vibes_lsp.model.vocabulary import EdgeType, SessionEvent
from vibes_lsp.store.log_follower import LogFollower, read_lines

_OTHER_KINDS: Final = frozenset(
    {LogLineKind.SESSION, LogLineKind.EDGE, LogLineKind.DELEGATION, LogLineKind.OTHER}
)
_TIMESTAMP: Final = re.compile(rb'"timestamp": ?"(\d{4}-\d\d-\d\d)')
_BATCH: Final = 1024
"""Lines that are read at once."""
Progress = Callable[[int], None]
"""Called with the number of bytes of the log that were read."""

_MAX_CACHED: Final = 8_192
"""Decoded records that are cached: enough for some open files with their edges."""


class LogIndex:
    """An index of one annotation log.

    Args:
        path: The log, which may not exist.
        now_ns: The clock to compare file times with.

    Attributes:
        columns: What was found on each line.
        undecodable: Lines that the scan took for a record and that cannot be decoded, with the
            reason.
        generation: Grows with every change of the content.
        problem: Why the log could not be read at the last refresh. `columns` and cached records
            still work; other records raise `UnreadableFile`.
    """

    def __init__(self, path: Path, *, now_ns: Callable[[], int] = time.time_ns) -> None:
        self.path = path
        self._follower = LogFollower(path, now_ns=now_ns)
        self.problem: UnreadableFile | None = None
        self.generation = 0
        self._reset()

    def _reset(self) -> None:
        self.columns = LogColumns()
        self.undecodable: dict[int, str] = {}
        self._cache: dict[int, LogRecord] = {}
        self._annotations = _KeyTable(annotations=True)
        self._others = _KeyTable(annotations=False)
        self._ends: dict[EdgeType, tuple[int, set[int]]] = {}
        self._first_out: dict[int, int] = {}
        self._first_in: dict[int, int] = {}
        self._next_out = array("I")
        self._next_in = array("I")

    def refresh(self, *, thorough: bool = False, progress: Progress | None = None) -> bool:
        """Read what changed on disk, and return whether anything did.

        Args:
            thorough: Verify all of a large log, even if it seems to have only grown.
            progress: Called while a large log is read.
        """
        try:
            update = self._follower.poll(thorough=thorough)
        except UnreadableFile as error:
            changed = self.problem is None or self.problem.message != error.message
            self.problem = error
            return changed
        changed = self.problem is not None
        self.problem = None
        if update is not None:
            if update.reset:
                changed = True
                self._reset()
            for batch in update.batches:  # none while a record is being written
                changed = True
                self.columns.append(batch)
                if progress is not None:
                    progress(self._follower.size)
        self.generation += changed
        return changed

    @property
    def unterminated(self) -> bool:
        """Whether the last record lacks its newline (RFC 7.10)."""
        return self._follower.unterminated

    def incomplete_tail(self) -> bytes:
        """Return the beginning of a record whose end was never written, usually nothing."""
        return self._follower.unfinished_line()

    def raw(self, line: int) -> bytes:
        """Return the bytes of a line without its newline."""
        return read_lines(self.path, [self.columns.byte_range(line)])[0].rstrip(b"\r\n")

    def record(self, line: int) -> LogRecord | None:
        """Return the record on a line; None for a line without one."""
        return next(self.records([line]), None)

    def records(self, lines: Iterable[int]) -> Iterator[LogRecord]:
        """Return the records on some lines in the order given, without lines that have none.

        The last records are cached, unless many are asked for at once, as for a report.
        """
        wanted = list(lines)
        if len(wanted) > _MAX_CACHED // 4:
            return self._decode_records(wanted)
        cache = self._cache
        missing = [line for line in wanted if line not in cache]
        found = {record.line: record for record in self._decode_records(missing)} if missing else {}
        known = [cache.get(line) or found.get(line) for line in wanted]
        if self.unterminated:
            found.pop(len(self.columns), None)  # its line may still grow
        cache.update(found)
        for line in list(islice(cache, max(0, len(cache) - _MAX_CACHED))):
            del cache[line]
        return (record for record in known if record is not None)

    def _decode_records(self, lines: Iterable[int]) -> Iterator[LogRecord]:
        for line, record in self.decode(lines):
            if isinstance(record, LogRecord):
                yield record
            else:
                self.undecodable[line] = record.reason

    def decode(self, lines: Iterable[int]) -> Iterator[tuple[int, LogRecord | MalformedJson]]:
        """Decode some lines in the order given; a line without a record gives the error."""
        pending = iter(lines)
        while batch := list(islice(pending, _BATCH)):
            data = read_lines(self.path, list(map(self.columns.byte_range, batch)))
            yield from zip(batch, map(_decode, batch, data), strict=True)

    def records_of(self, *kinds: LogLineKind) -> Iterator[LogRecord]:
        """Decode all records of some kinds in log order."""
        return self._decode_records(
            line for line, kind in enumerate(self.columns.kinds, 1) if kind in kinds
        )

    def annotations_naming(self, entry: str, limit: int) -> list[LogRecord]:
        """Return the annotations that name a prompt or a decision, in log order.

        Args:
            entry: Its hash.
            limit: How many are returned at most; the last ones are.
        """
        columns = self.columns
        found = self.records(columns.prompts.last_lines(entry, limit))
        named = [each for each in found if each.text("prompt_hash") == entry]
        if not named:
            found = self.records(columns.decisions.last_lines(entry, limit))
            named = [each for each in found if each.text("decision_hash") == entry]
        return named

    def annotations_since(self, moment: datetime) -> Iterator[LogRecord]:
        """Decode all annotations since a time, and perhaps some older ones, in log order."""
        # A day earlier, because timestamps may have any UTC offset.
        day = (moment - timedelta(days=1)).date().isoformat().encode()
        pending = (
            line for line, kind in enumerate(self.columns.kinds, 1) if kind in ANNOTATION_KINDS
        )
        while batch := list(islice(pending, _BATCH)):
            for line, data in zip(
                batch, read_lines(self.path, list(map(self.columns.byte_range, batch))), strict=True
            ):
                stamped = _TIMESTAMP.search(data)
                record = _decode(line, data) if stamped is None or stamped[1] >= day else None
                if isinstance(record, LogRecord):
                    yield record

    def by_id(self, identifier: str) -> LogRecord | None:
        """Return the first record with this whole id; equal ids mean equal records (R3)."""
        return next(self.with_id(identifier), None)

    def session(self, identifier: str) -> LoggedSession | None:
        """Return a session by its whole id; None if the log has none."""
        lines = self.columns.sessions.get(identifier)
        if not lines:
            return None
        records = list({record.id: record for record in self.records(lines)}.values())
        starts, ends = (
            tuple(record for record in records if record.text("event") == event)
            for event in (SessionEvent.START, SessionEvent.END)
        )
        return LoggedSession(identifier, starts, ends)

    def sessions(self) -> list[LoggedSession]:
        """Return all sessions with a `session_id`, in the order of their first record."""
        found = (self.session(identifier) for identifier in self.columns.sessions if identifier)
        return [session for session in found if session is not None]

    def with_id(self, identifier: str) -> Iterator[LogRecord]:
        """Yield all records with this whole id, annotations first."""
        key = id_key(identifier)
        for table in (self._annotations, self._others):
            for record in self.records(table.lines(key, self.columns)):
                if record.id == identifier:
                    yield record

    def with_prefix(self, prefix: str) -> list[LogRecord]:
        """Return the records whose id starts with `prefix`, one for each id, in log order."""
        digits = prefix[:KEY_DIGITS].lower()
        try:
            low, high = (int(digits.ljust(KEY_DIGITS, filling), 16) for filling in "0f")
            lines = [
                line
                for line, key in enumerate(self.columns.keys, 1)
                if low <= key >> KEY_HASH_BITS <= high
            ]
        except ValueError:
            lines = []
        found = {
            record.id: record
            for record in reversed(list(self.records(lines)))
            if record.id.startswith(prefix)
        }
        if not found:  # keys show the prefix of digests only
            found = {
                record.id: record
                for record in self._records_containing(prefix)
                if record.id.startswith(prefix)
            }
        return sorted(found.values(), key=lambda record: record.line)

    def _records_containing(self, content: str) -> Iterator[LogRecord]:
        """Yield the records whose line contains a text. Reads the whole log, decodes little."""
        wanted = content.encode("utf-8", "surrogatepass")
        pending = iter(range(1, len(self.columns) + 1))
        while batch := list(islice(pending, _BATCH)):
            for line, data in zip(
                batch, read_lines(self.path, list(map(self.columns.byte_range, batch))), strict=True
            ):
                record = _decode(line, data) if wanted in data else None
                if isinstance(record, LogRecord):
                    yield record

    def edges(
        self,
        *,
        source: str | None = None,
        target: str | None = None,
        edge_type: EdgeType | None = None,
        limit: int | None = None,
    ) -> list[Edge]:
        """Return the edges from `source` or to `target`, of one type or of all, in log order.

        Args:
            source: The id of their source.
            target: The id of their target.
            edge_type: Their type.
            limit: How many of each direction are read at most; the newest are.
        """
        self._extend_edges()
        numbers: list[int] = []
        if source is not None:
            out = _chain(self._first_out.get(id_key(source), 0), self._next_out)
            numbers += islice(out, limit)
        if target is not None:
            into = _chain(self._first_in.get(id_key(target), 0), self._next_in)
            numbers += islice(into, limit)
        if edge_type is not None:  # most annotations have edges, but few of each type: decode less
            code = EDGE_TYPES.index(edge_type)
            numbers = [number for number in numbers if self.columns.edge_types[number - 1] == code]
        lines = sorted({self.columns.edge_lines[number - 1] for number in numbers})
        found = map(read_edge, self.records(lines))
        return [edge for edge in found if edge.source == source or edge.target == target]

    def edge_ends(self, edge_type: EdgeType) -> AbstractSet[int]:
        """Return the id keys of all sources and targets of edges of one type."""
        columns = self.columns
        count, found = self._ends.get(edge_type, (0, set()))
        if count == len(columns.edge_types):
            return found
        code = EDGE_TYPES.index(edge_type)
        at = columns.edge_types.find(code, count)
        while at >= 0:
            found |= {columns.edge_sources[at], columns.edge_targets[at]}
            at = columns.edge_types.find(code, at + 1)
        self._ends[edge_type] = len(columns.edge_types), found
        return found

    def _extend_edges(self) -> None:
        """Link the edges of each source and target, newest first; edge n is `edge_lines[n - 1]`."""
        sources, targets = self.columns.edge_sources, self.columns.edge_targets
        for number in range(len(self._next_out) + 1, len(sources) + 1):
            source, target = sources[number - 1], targets[number - 1]
            self._next_out.append(self._first_out.get(source, 0))
            self._next_in.append(self._first_in.get(target, 0))
            self._first_out[source] = self._first_in[target] = number


class _KeyTable:
    """The lines of each id key, of annotations or of all other records; built on first use."""

    def __init__(self, *, annotations: bool) -> None:
        self._kinds = ANNOTATION_KINDS if annotations else _OTHER_KINDS
        self._first: dict[int, int] = {}
        self._collisions: dict[int, list[int]] = {}
        self._until = 0

    def lines(self, key: int, columns: LogColumns) -> list[int]:
        """Return the lines whose record has this key, in log order."""
        for line in range(self._until + 1, len(columns) + 1):
            if (
                columns.kinds[line - 1] in self._kinds
                and self._first.setdefault(columns.keys[line - 1], line) != line
            ):
                self._collisions.setdefault(columns.keys[line - 1], []).append(line)
        self._until = len(columns)
        first = self._first.get(key)
        return [] if first is None else [first, *self._collisions.get(key, ())]


def _chain(number: int, following: array[int]) -> Iterator[int]:
    while number:
        yield number
        number = following[number - 1]


def _decode(line: int, data: bytes) -> LogRecord | MalformedJson:
    try:
        members = parse_object(data)
    except MalformedJson as error:
        return error
    return LogRecord(line, text(members, "annotation_id") or annotation_id(members), members)
