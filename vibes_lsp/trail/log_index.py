"""Finds the records of a log by id, prefix, kind or time, and their edges.

`trail.index` has where they are; they are decoded from the file on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Final

from typing_extensions import override

from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType
from vibes_lsp.trail.index import Progress, TrailIndex
from vibes_lsp.trail.index_writer import (
    PREFIX,
    RARE_KIND,
    SOURCE_BITS,
    encode_name,
    id_prefix,
    row_list,
)
from vibes_lsp.trail.records import (
    Edge,
    LoggedSession,
    LogRecord,
    decoded_record,
    logged_session,
    read_edge,
)
from vibes_lsp.trail.rows import ANNOTATION_KINDS, EDGE_TYPES, LogLineKind

RARE_KINDS: Final = frozenset({LogLineKind.SESSION, LogLineKind.DELEGATION, LogLineKind.OTHER})
_BATCH: Final = 1024
"""Lines that are read at once."""


class LogIndex(TrailIndex):
    """The records of one annotation log, and after them those that wait for a commit.

    Reading raises `OutdatedIndex` if lines were replaced, and works after the next refresh.

    Attributes:
        undecodable: Lines that look like a record and cannot be decoded, with the reason.
        generation: Grows with every change of the content.
        problem: Why the log could not be read at the last refresh; then it counts as empty.
    """

    problem: UnreadableFile | None = None
    generation = 0

    @override
    def _open(self, *, in_memory: bool) -> None:
        super()._open(in_memory=in_memory)
        self.undecodable: dict[int, str] = {}

    @override
    def refresh(self, *, progress: Progress | None = None) -> bool:
        had_lines = self.file.size > 0
        try:
            changed = super().refresh(progress=progress) or self.problem is not None
            self.problem = None
        except UnreadableFile as error:  # a part of the log would give wrong answers
            changed = had_lines or str(self.problem) != str(error)
            self.problem = error
            self.empty()
        if changed:
            self.undecodable = {}
        self.generation += changed
        return changed

    @staticmethod
    def is_waiting(line: int) -> bool:
        """Whether a line is of the records that wait for a commit, not of the log."""
        return line >> SOURCE_BITS > 0

    def waiting_lines(self) -> list[int]:
        """Return the lines of the records that wait for a commit."""
        return self.numbers(
            "SELECT row FROM record WHERE row >= ? AND key NOTNULL ORDER BY row", 1 << SOURCE_BITS
        )

    def kind(self, line: int) -> LogLineKind:
        """Return what a line contains; nothing if there is no such line."""
        return LogLineKind(self.number("SELECT kind FROM record WHERE row = ?", line))

    def candidates(self, identifier: str, *kinds: LogLineKind) -> list[int]:
        """Return the lines of the records of some kinds that may have an id, in log order."""
        return self.numbers(
            f"SELECT row FROM record WHERE key = ? AND kind IN {_listed(kinds)}"  # noqa: S608
            " ORDER BY row",
            self.key(identifier),
        )

    def sources_among(self, lines: Iterable[int], edge_type: EdgeType) -> set[int]:
        """Return those of some lines whose records an edge of a type begins at."""
        return set(
            self.numbers(
                "SELECT row FROM record WHERE row IN (SELECT value FROM json_each(?))"
                " AND EXISTS (SELECT 1 FROM edge WHERE source = key AND type = ?)",
                row_list(lines),
                EDGE_TYPES.index(edge_type),
            )
        )

    @property
    def unterminated(self) -> bool:
        """Whether the last record lacks its newline (RFC 7.10)."""
        return self.file.unterminated

    def incomplete_tail(self) -> bytes:
        """Return the beginning of a record whose end was never written, usually nothing."""
        return self.file.unfinished_line()

    def raw(self, line: int) -> bytes:
        """Return the bytes of a line without its newline."""
        return self.raw_lines([line])[0].rstrip(b"\r\n")

    def raw_lines(self, lines: Iterable[int]) -> list[bytes]:
        """Return the bytes of some lines without their newlines."""
        contents: list[bytes] = []
        for _, rows in groupby(lines, key=self.follower):
            wanted = list(rows)
            contents += self.follower(wanted[0]).read(self.places(wanted))
        return contents

    def record(self, line: int) -> LogRecord | None:
        """Return the record on a line; None for a line without one."""
        return next(self.records([line]), None)

    def records(self, lines: Iterable[int]) -> Iterator[LogRecord]:
        """Decode the records on some lines in the order given, without lines that have none."""
        for line, record in self.decode(lines):
            if isinstance(record, LogRecord):
                yield record
            else:
                self.undecodable[line] = record.reason

    def decode(self, lines: Iterable[int]) -> Iterator[tuple[int, LogRecord | MalformedJson]]:
        """Decode some lines in the order given; a line without a record gives the error."""
        pending = iter(lines)
        while batch := list(islice(pending, _BATCH)):
            for line, raw_line in zip(batch, self.raw_lines(batch), strict=True):
                yield line, decoded_record(line, raw_line, is_waiting=self.is_waiting(line))

    def records_of(self, *kinds: LogLineKind) -> Iterator[LogRecord]:
        """Decode all records of some kinds in log order."""
        return self.records(self.lines_of(*kinds))

    def lines_of(self, *kinds: LogLineKind, newest_first: bool = False) -> Iterator[int]:
        """Yield the lines of some kinds."""
        rare, order = RARE_KINDS.issuperset(kinds), "DESC" if newest_first else "ASC"
        for (row,) in self.stream(
            f"SELECT row FROM record WHERE kind IN {_listed(kinds)}"  # noqa: S608
            f"{f' AND {RARE_KIND}' if rare else ''} ORDER BY row {order}"
        ):
            yield row

    def lines_about(self, path: str, *kinds: LogLineKind) -> list[int]:
        """Return the lines of a file's annotations of some kinds, by default all, in log order.

        Args:
            path: The file; any spelling of its path.
            kinds: The kinds of records.
        """
        return self.numbers(
            "SELECT row FROM annotation JOIN record USING (row)"
            " WHERE path IN (SELECT number FROM name WHERE normal = ?)"
            " AND kind IN (SELECT value FROM json_each(?)) ORDER BY row",
            encode_name(normal_path(path)),
            row_list(map(int, kinds or ANNOTATION_KINDS)),
        )

    def end_of(self, line: int) -> int:
        """Return the byte offset after a line's newline."""
        return sum(self.places([line])[0]) + 1

    def annotations_naming(self, entry: str, limit: int) -> list[LogRecord]:
        """Return the annotations that name a prompt or a decision, in log order.

        Args:
            entry: Its hash.
            limit: How many are returned at most; the last ones are.
        """
        for column, member in (("prompt", "prompt_hash"), ("decision", "decision_hash")):
            rows = self.numbers(
                f"SELECT row FROM annotation WHERE {column} = ?"  # noqa: S608  # our own names
                " ORDER BY row DESC LIMIT ?",
                self.key(entry),
                limit,
            )
            named = [record for record in self.records(rows[::-1]) if record.text(member) == entry]
            if named:
                return named
        return []

    def by_id(self, identifier: str) -> LogRecord | None:
        """Return the first record with this whole id; equal ids mean equal records (R3).

        The id of an edit stands for the first of its hunks (R32).
        """
        return next(self.with_id(identifier), None) or next(iter(self.hunks_of(identifier)), None)

    def hunks_of(self, edit: str) -> list[LogRecord]:
        """Return the records that name an edit as theirs, in log order (R32).

        A record that only says so, and is of another time, tool or work, is left out (R7).
        """
        if not edit:
            return []
        rows = self.numbers(
            "SELECT row FROM annotation WHERE edit = ? ORDER BY row", self.key(edit)
        )
        hunks = [record for record in self.records(rows) if record.text("edit") == edit]
        return [record for record in hunks if _are_siblings(hunks[0], record)]

    def session(self, identifier: str) -> LoggedSession | None:
        """Return a session by its whole id; None if the log has none."""
        lines = self.numbers(
            "SELECT row FROM session WHERE name ="
            " (SELECT number FROM name WHERE text = ?) ORDER BY row",
            encode_name(identifier),
        )
        if not lines:
            return None
        records = {record.id: record for record in self.records(lines)}
        return logged_session(identifier, records.values())

    def sessions(self) -> list[LoggedSession]:
        """Return all sessions with a `session_id`, in the order of their first record."""
        by_session: dict[str, dict[str, LogRecord]] = {}
        rows = self.numbers("SELECT row FROM session ORDER BY row")
        for record in self.records(rows):
            identifier = record.text("session_id")
            if identifier:
                by_session.setdefault(identifier, {})[record.id] = record
        return [
            logged_session(identifier, records.values())
            for identifier, records in by_session.items()
        ]

    def with_id(self, identifier: str) -> Iterator[LogRecord]:
        """Yield all records with this whole id, annotations first."""
        if not identifier:  # no record has it, but blank and broken lines have its key
            return
        rows = self.rows(
            "SELECT row, kind FROM record WHERE key = ? ORDER BY row", self.key(identifier)
        )
        annotations = [row for row, kind in rows if kind in ANNOTATION_KINDS]
        other_rows = [row for row, kind in rows if kind not in ANNOTATION_KINDS]
        for lines in (annotations, other_rows):
            for record in self.records(lines):
                if record.id == identifier:
                    yield record

    def with_prefix(self, prefix: str) -> list[LogRecord]:
        """Return the records whose id starts with `prefix`, one for each id, in log order."""
        is_long = len(encode_name(prefix)) >= PREFIX
        rows = self.numbers(
            "SELECT row FROM record WHERE key NOTNULL AND (prefix = ? OR NOT ?) ORDER BY row",
            id_prefix(prefix),
            is_long,
        )
        by_id: dict[str, LogRecord] = {}
        for record in self.records(rows):
            if record.id.startswith(prefix):
                by_id.setdefault(record.id, record)
        return list(by_id.values()) or self._edits_with_prefix(prefix)

    def _edits_with_prefix(self, prefix: str) -> list[LogRecord]:
        """Return the first hunks of the edits whose id starts with a prefix; of no record it is."""
        firsts = self.numbers("SELECT min(row) FROM annotation WHERE edit NOTNULL GROUP BY edit")
        return [
            record
            for record in self.records(sorted(firsts))
            if (record.text("edit") or "").startswith(prefix)
        ]

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
        rows: set[int] = set()
        code = "" if edge_type is None else f" AND type = {EDGE_TYPES.index(edge_type)}"
        for end, identifier in (("source", source), ("target", target)):
            if identifier is not None:
                rows.update(
                    self.numbers(
                        f"SELECT row FROM edge WHERE {end} = ?{code}"  # noqa: S608
                        " ORDER BY row DESC LIMIT ?",
                        self.key(identifier),
                        -1 if limit is None else limit,
                    )
                )
        edges = map(read_edge, self.records(sorted(rows)))
        return [edge for edge in edges if edge.source == source or edge.target == target]

    def lines_of_edges(self, edge_type: EdgeType) -> list[int]:
        """Return the lines of all edges of a type."""
        return self.numbers(
            "SELECT row FROM edge WHERE type = ? ORDER BY row", EDGE_TYPES.index(edge_type)
        )


def _are_siblings(first: LogRecord, second: LogRecord) -> bool:
    """Whether two records that name the same edit may be hunks of it (R7)."""
    same = ("environment_hash", "timestamp")
    return all(first.text(name) == second.text(name) for name in same) and any(
        first.text(name) == second.text(name) for name in ("session_id", "file_path")
    )


def _listed(kinds: Iterable[LogLineKind]) -> str:
    """Return kinds as SQL has a list."""
    return f"({', '.join(str(int(kind)) for kind in sorted(kinds))})"
