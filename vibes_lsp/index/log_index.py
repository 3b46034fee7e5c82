"""An index of the annotation log: finds records by id, prefix, kind or time, and their edges.

It keeps offsets and keys, and decodes records from the file on demand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from vibes_lsp.errors import MalformedJson, MuchToRead, OutdatedIndex, UnreadableFile
from vibes_lsp.index import saved_log
from vibes_lsp.index.id_keys import id_key, key_ranges
from vibes_lsp.index.log_columns import ANNOTATION_KINDS, EDGE_TYPES, LogColumns, LogLineKind
from vibes_lsp.index.records import Edge, LoggedSession, LogRecord, read_edge
from vibes_lsp.index.superseding import resolve_superseding
from vibes_lsp.model.canonical_json import FastDecoder, parse_objects
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType, SessionEvent
from vibes_lsp.store.log_follower import LogFollower

_NO_RECORD: Final = frozenset({LogLineKind.BLANK, LogLineKind.BROKEN})
_is_dated: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII).match
Places: TypeAlias = Mapping[int, tuple[int, int]]
"""Byte offset and length of lines."""
_BATCH: Final = 1024
"""Lines that are read at once."""
_FIRST_BATCH: Final = 16
Progress: TypeAlias = Callable[[int], None]
"""Called with the number of bytes of the log that were read."""

_MAX_CACHED: Final = 8_192
"""Decoded records that are cached: enough for some open files with their edges."""


class _Identified(msgspec.Struct, gc=False):
    """The id of a record."""

    annotation_id: str | None = None


_IDENTIFIED: Final[FastDecoder[_Identified]] = FastDecoder(_Identified)


class _Stamped(msgspec.Struct, gc=False):
    """The time of a record."""

    timestamp: str | None = None


_STAMPED: Final[FastDecoder[_Stamped]] = FastDecoder(_Stamped)


class LogIndex:
    """An index of one annotation log.

    Args:
        path: The log, which may not exist.
        uses_saved: Whether to begin with the index that was saved, if it is of this log. Its pages
            and the lines of the log are verified where they are read; reading raises
            `OutdatedIndex` if they changed, and works after the next refresh.

    Attributes:
        columns: What was found on each line.
        undecodable: Lines that look like a record and cannot be decoded, with the reason.
        generation: Grows with every change of the content.
        problem: Why the log could not be read at the last refresh; then it counts as empty.
    """

    def __init__(self, path: Path, *, uses_saved: bool = False) -> None:
        self.path = path
        self._uses_saved = uses_saved
        self._was_opened = False
        self._must_save = False  # a file that looks new is compared wholly by each process
        self.problem: UnreadableFile | None = None
        self.generation = 0
        self._restart()

    def _reset(self, columns: LogColumns | None = None) -> None:
        self.columns = LogColumns() if columns is None else columns
        self.undecodable: dict[int, str] = {}
        self._cache: dict[int, LogRecord] = {}

    def refresh(
        self,
        *,
        thorough: bool = False,
        progress: Progress | None = None,
        at_most: int | None = None,
    ) -> bool:
        """Read what changed on disk, and return whether anything did.

        Args:
            thorough: Verify all of a large log, even if it seems to have only grown.
            progress: Called while a large log is read.
            at_most: Bytes of the log that may be read.

        Raises:
            MuchToRead: These are more. What the index has is outdated.
        """
        had_lines = len(self.columns) > 0
        was_opened = self._open_saved()
        self.generation += was_opened
        try:
            update = self._follower.poll(thorough=thorough, at_most=at_most)
            changed = self.problem is not None
            if update is not None:
                if update.reset:
                    changed = True
                    self._reset()
                for batch in update.batches:
                    self.columns.append(batch)
                    changed = True  # nothing comes while a record is being written
                    if progress is not None:
                        progress(self._follower.size)
            self.problem = None
        except MuchToRead:
            self._was_opened = False  # an index may be saved before the next refresh
            raise
        except OutdatedIndex:  # it is damaged: begin without it
            self.refresh(thorough=thorough, progress=progress, at_most=at_most)
            return True
        except UnreadableFile as error:  # a part of the log would give wrong answers
            changed = had_lines or was_opened or str(self.problem) != str(error)
            self.problem = error
            self._restart()
        self.generation += changed
        return changed or was_opened

    def _restart(self) -> None:
        """Read the log from the start at the next refresh."""
        self._follower = LogFollower(self.path)
        self._reset()

    def _open_saved(self) -> bool:
        """Begin with the saved index, once; return whether the columns are others now."""
        saved = self.columns.saved
        if saved is not None and saved.is_damaged:
            self._restart()
            return True
        if not self._uses_saved or self._was_opened:
            return False
        self._was_opened = True
        found = saved_log.open_saved(self.path, self._follower)
        if found is None:
            return False
        columns, is_recognised = found
        self._must_save = not is_recognised
        self._reset(columns)
        return True

    def save(self) -> bool:
        """Save the index, once so much was read that it pays; return whether it was saved."""
        is_worth_it = saved_log.is_worth_saving(self.columns, self._follower.size)
        if not self._uses_saved or not (is_worth_it or self._must_save):
            return False
        if not self._follower.is_wholly_verified:
            self.refresh(thorough=True)
        parts = self.path, self.columns, self._follower, self.resolve_superseding
        try:
            is_saved = self.problem is None and saved_log.save(*parts)
        except UnreadableFile:
            return False
        if is_saved:
            self._must_save = False
            self.use_saved()
        return is_saved

    def resolve_superseding(self) -> None:
        """Complete the columns of `index.superseding` up to the end of the log.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        resolve_superseding(self.columns, self.raw_lines)

    def use_saved(self) -> bool:
        """Go on with the saved index if it has the same lines, and free the memory of these.

        Returns:
            Whether it does; everything that was said of the log stays valid then.
        """
        fresh = LogIndex(self.path, uses_saved=True)
        fresh.refresh()
        if fresh.columns.saved is None or not fresh._follower.is_level_with(self._follower):
            return False
        vars(self.columns).update(vars(fresh.columns))
        self._follower, self._was_opened = fresh._follower, True
        return True

    @property
    def epoch(self) -> object:
        """Another object as soon as lines that were read before may be others."""
        return self.columns

    @property
    def has_saved(self) -> bool:
        """Whether the saved index is used."""
        return self.columns.saved is not None

    def pack_names(self) -> None:
        """Keep the recorded paths in a fifth of the memory, until one is looked for or added."""
        self.columns.paths.pack()

    @property
    def unterminated(self) -> bool:
        """Whether the last record lacks its newline (RFC 7.10)."""
        return self._follower.unterminated

    @property
    def size(self) -> int:
        """The bytes that were read."""
        return self._follower.size

    def checksum(self, end: int) -> bytes | None:
        """Return a checksum of the first bytes of the log, all compared; None if it has fewer.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        if not self._follower.is_wholly_verified:
            self.refresh(thorough=True)
        return self._follower.checksum(end)

    def incomplete_tail(self) -> bytes:
        """Return the beginning of a record whose end was never written, usually nothing."""
        return self._follower.unfinished_line()

    def raw(self, line: int) -> bytes:
        """Return the bytes of a line without its newline."""
        return self.raw_lines([line])[0].rstrip(b"\r\n")

    def raw_lines(self, lines: Iterable[int], places: Places | None = None) -> list[bytes]:
        """Return the bytes of some lines without their newlines."""
        if not places:
            return self._follower.read(self.columns.byte_ranges(lines))
        byte_range = self.columns.byte_range
        return self._follower.read([places.get(line) or byte_range(line) for line in lines])

    def record(self, line: int) -> LogRecord | None:
        """Return the record on a line; None for a line without one."""
        return next(self.records([line]), None)

    def records(self, lines: Iterable[int], places: Places | None = None) -> Iterator[LogRecord]:
        """Return the records on some lines in the order given, without lines that have none.

        The last records are cached, unless many are asked for at once, as for a report.

        Args:
            lines: The lines.
            places: Where those are of which it is known.
        """
        wanted = list(lines)
        if len(wanted) > _MAX_CACHED // 4:
            return self._decode_records(wanted, places)
        cache = self._cache
        missing = [line for line in wanted if line not in cache]
        decoded = self._decode_records(missing, places) if missing else ()
        found = {record.line: record for record in decoded}
        known = [one for line in wanted if (one := cache.get(line) or found.get(line)) is not None]
        if self.unterminated:
            found.pop(len(self.columns), None)  # its line may still grow
        cache.update(found)
        for line in list(islice(cache, max(0, len(cache) - _MAX_CACHED))):
            del cache[line]
        return iter(known)

    def drop_records(self, lines: Iterable[int]) -> None:
        """Cache the records on these lines no longer."""
        for line in lines:
            self._cache.pop(line, None)

    def _decode_records(
        self, lines: Iterable[int], places: Places | None = None
    ) -> Iterator[LogRecord]:
        for line, record in self.decode(lines, places):
            if isinstance(record, LogRecord):
                yield record
            else:
                self.undecodable[line] = record.reason

    def decode(
        self, lines: Iterable[int], places: Places | None = None
    ) -> Iterator[tuple[int, LogRecord | MalformedJson]]:
        """Decode some lines in the order given; a line without a record gives the error."""
        pending = iter(lines)
        while batch := list(islice(pending, _BATCH)):
            parsed = parse_objects(self.raw_lines(batch, places))
            yield from zip(batch, map(_record, batch, parsed), strict=True)

    def ids(self, lines: Iterable[int]) -> Iterator[str]:
        """Yield the ids of the records on some lines, without those that the decoder rejects."""
        pending = iter(lines)
        while batch := list(islice(pending, _BATCH)):
            for line, data in zip(batch, self.raw_lines(batch), strict=True):
                known = _IDENTIFIED.decode(data)
                if known is not None and known.annotation_id:
                    yield known.annotation_id
                elif isinstance(record := _decode(line, data), LogRecord):
                    yield record.id

    def records_of(self, *kinds: LogLineKind) -> Iterator[LogRecord]:
        """Decode all records of some kinds in log order."""
        return self._decode_records(
            line for line, kind in enumerate(self.columns.kinds, 1) if kind in kinds
        )

    def newest_first(self, lines: Iterable[int]) -> Iterator[LogRecord]:
        """Decode the records on some lines, given newest first: a few at once, then more."""
        pending, count = iter(lines), _FIRST_BATCH
        while batch := list(islice(pending, count)):
            yield from self._decode_records(batch)
            count = min(2 * count, _BATCH)

    def lines_of(self, *kinds: LogLineKind) -> Iterator[int]:
        """Yield the lines of some kinds, newest first."""
        wanted, columns = frozenset(kinds), self.columns
        for line in range(len(columns), 0, -1):
            if columns.kinds[line - 1] in wanted:
                yield line

    def lines_about(self, path: str, *kinds: LogLineKind) -> list[int]:
        """Return the lines of a file's annotations of some kinds, by default all, in log order.

        Args:
            path: The file; any spelling of its path.
            kinds: The kinds of records.
        """
        columns, wanted = self.columns, frozenset(kinds) or ANNOTATION_KINDS
        numbers = columns.paths.variants(normal_path(path))
        lines = (line for number in numbers for line in columns.annotations.of_number(number))
        return sorted(line for line in lines if columns.kinds[line - 1] in wanted)

    def end_of(self, line: int) -> int:
        """Return the byte offset after a line's newline."""
        return sum(self.columns.byte_range(line)) + 1

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
        day = (moment - timedelta(days=1)).date().isoformat()
        pending = (
            line for line, kind in enumerate(self.columns.kinds, 1) if kind in ANNOTATION_KINDS
        )
        while batch := list(islice(pending, _BATCH)):
            for line, data in zip(batch, self.raw_lines(batch), strict=True):
                known = _STAMPED.decode(data)
                stamp = None if known is None else known.timestamp
                is_older = stamp is not None and _is_dated(stamp) and stamp < day
                record = None if is_older else _decode(line, data)
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
        records = {record.id: record for record in self.records(lines)}
        return _session(identifier, records.values())

    def sessions(self) -> list[LoggedSession]:
        """Return all sessions with a `session_id`, in the order of their first record."""
        found: dict[str, dict[str, LogRecord]] = {}
        for record in self._decode_records(self.columns.session_lines):
            identifier = record.text("session_id")
            if identifier:
                found.setdefault(identifier, {})[record.id] = record
        return [_session(identifier, records.values()) for identifier, records in found.items()]

    def with_id(self, identifier: str) -> Iterator[LogRecord]:
        """Yield all records with this whole id, annotations first."""
        if not identifier:  # no record has it, but blank and broken lines have its key
            return
        kinds = self.columns.kinds
        lines = self.columns.lines_with_key(id_key(identifier))
        annotations = [line for line in lines if kinds[line - 1] in ANNOTATION_KINDS]
        others = [
            line
            for line in (lines if len(annotations) < len(lines) else ())
            if kinds[line - 1] not in ANNOTATION_KINDS | _NO_RECORD
        ]
        for some in (annotations, others):
            for record in self.records(some):
                if record.id == identifier:
                    yield record

    def with_prefix(self, prefix: str) -> list[LogRecord]:
        """Return the records whose id starts with `prefix`, one for each id, in log order."""
        indexes = self.columns.keys.in_ranges(key_ranges(prefix))
        found: dict[str, LogRecord] = {}
        for record in self.records(index + 1 for index in indexes):
            if record.id.startswith(prefix):
                found.setdefault(record.id, record)
        return list(found.values())

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
        columns = self.columns
        if edge_type is not None and not columns.has_edges_of(EDGE_TYPES.index(edge_type)):
            return []
        numbers: set[int] = set()
        if source is not None:
            out = columns.edges_by_source.newest_first(id_key(source))
            numbers.update(islice(out, limit))
        if target is not None:
            into = columns.edges_by_target.newest_first(id_key(target))
            numbers.update(islice(into, limit))
        chosen = sorted(numbers)
        if edge_type is not None:  # most annotations have edges, but few of each type: decode less
            code = EDGE_TYPES.index(edge_type)
            chosen = [number for number in chosen if columns.edge_types[number] == code]
        if not chosen:
            return []
        found = map(read_edge, self.records([columns.edge_lines[number] for number in chosen]))
        return [edge for edge in found if edge.source == source or edge.target == target]

    def is_edge_end(self, key: int, edge_type: EdgeType) -> bool:
        """Whether an edge of a type has an end with this id key."""
        columns, code = self.columns, EDGE_TYPES.index(edge_type)
        return columns.has_edges_of(code) and any(
            columns.edge_types[number] == code
            for links in (columns.edges_by_source, columns.edges_by_target)
            for number in links.newest_first(key)
        )

    def lines_of_edges(self, edge_type: EdgeType) -> list[int]:
        """Return the lines of all edges of a type."""
        columns, code = self.columns, EDGE_TYPES.index(edge_type)
        return [
            line
            for line, each in zip(columns.edge_lines, columns.edge_types, strict=True)
            if each == code
        ]


def _session(identifier: str, records: Iterable[LogRecord]) -> LoggedSession:
    all_records = list(records)
    starts, ends = (
        tuple(record for record in all_records if record.text("event") == event)
        for event in (SessionEvent.START, SessionEvent.END)
    )
    return LoggedSession(identifier, starts, ends)


def _decode(line: int, data: bytes) -> LogRecord | MalformedJson:
    [members] = parse_objects([data])
    return _record(line, members)


def _record(line: int, members: Members | MalformedJson) -> LogRecord | MalformedJson:
    if isinstance(members, MalformedJson):
        return members
    return LogRecord(line, text(members, "annotation_id") or annotation_id(members), members)
