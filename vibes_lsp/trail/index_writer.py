"""The tables of the index of a trail, and how the lines of its files get there.

Rows say where a record is, and by what it is found: its id as a keyed hash, and the members that
`model.record_schema` marks, as numbers. The records themselves stay in their files.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vibes_lsp.model.paths import normal_path
from vibes_lsp.patience import TRAIL_INDEX
from vibes_lsp.store.bounded_lines import MAX_LINE
from vibes_lsp.store.cache_database import CacheDatabase
from vibes_lsp.store.file_stamps import FileStamp
from vibes_lsp.store.log_batches import DeliveredPart, LineBatch
from vibes_lsp.trail.rows import (
    EDGE_TYPES,
    REASONS,
    ROWS,
    BlankRow,
    BrokenLine,
    BrokenRow,
    LogLineKind,
    Row,
    computed_id,
    read_rows,
)

if TYPE_CHECKING:
    import sqlite3

SOURCE_BITS: Final = 40
"""Bits of a row for the line; the upper ones are the number of its file, 0 for the log."""
_FORMAT: Final = 3
"""The version of the tables, of their rows and of the hash of ids."""
_NAMED: Final = ("file_path", "session_id", "environment_hash", "action", "assurance_level")
"""Members of annotations that the table `name` has, in the order of their columns."""
_HASHED: Final = ("prompt_hash", "decision_hash", "edit")
"""Members of annotations of which the hash of an id is kept."""
_TABLES: Final = (
    "CREATE TABLE trail (secret BLOB, version INTEGER, epoch INTEGER)",
    "INSERT INTO trail VALUES (randomblob(16), 0, 0)",
    """CREATE TABLE source (
        number INTEGER PRIMARY KEY, path BLOB, end, lines, blocks BLOB, unterminated,
        seen TEXT, settled
    )""",
    "CREATE TABLE record (row INTEGER PRIMARY KEY, kind, start, size, key, prefix)",
    """CREATE TABLE annotation (
        row INTEGER PRIMARY KEY, path, session, environment, action, level, prompt, decision, edit
    )""",
    "CREATE TABLE edge (row INTEGER PRIMARY KEY, type, reason, source, target)",
    "CREATE TABLE session (row INTEGER PRIMARY KEY, name)",
    "CREATE TABLE broken (row INTEGER PRIMARY KEY, reason)",
    "CREATE TABLE name (number INTEGER PRIMARY KEY, text BLOB UNIQUE, normal BLOB)",
)
_ROW_TABLES: Final = ("record", "annotation", "edge", "session", "broken")
RARE_KIND: Final = "kind > 2 AND kind <> 4"
"""Records that are no annotation and no edge, of which an index by kind has the rows."""
_INDEXES: Final = (
    "CREATE INDEX IF NOT EXISTS record_key ON record (key)",
    f"CREATE INDEX IF NOT EXISTS record_kind ON record (kind) WHERE {RARE_KIND}",
    "CREATE INDEX IF NOT EXISTS annotation_path ON annotation (path)",
    "CREATE INDEX IF NOT EXISTS annotation_session ON annotation (session)",
    "CREATE INDEX IF NOT EXISTS annotation_prompt ON annotation (prompt) WHERE prompt NOTNULL",
    """CREATE INDEX IF NOT EXISTS annotation_decision ON annotation (decision)
        WHERE decision NOTNULL""",
    "CREATE INDEX IF NOT EXISTS annotation_edit ON annotation (edit) WHERE edit NOTNULL",
    "CREATE INDEX IF NOT EXISTS edge_source ON edge (source)",
    "CREATE INDEX IF NOT EXISTS edge_target ON edge (target)",
    "CREATE INDEX IF NOT EXISTS session_name ON session (name)",
    "CREATE INDEX IF NOT EXISTS name_normal ON name (normal) WHERE normal NOTNULL",
)
"""Made after the first load, which takes a third less than with them."""
_KINDS: Final[dict[type[Row], LogLineKind]] = {
    BlankRow: LogLineKind.BLANK,
    **{row: LogLineKind[kind.name] for kind, row in ROWS.items()},
    Row: LogLineKind.OTHER,
    BrokenRow: LogLineKind.BROKEN,
}
_GET_ID: Final = attrgetter("annotation_id")
_GET_NAMED: Final = attrgetter(*_NAMED)
_GET_HASHED: Final = attrgetter(*_HASHED)
_EDGE_CODES: Final[dict[str | None, int]] = {name: code for code, name in enumerate(EDGE_TYPES)}
_REASON_CODES: Final[dict[str | None, int]] = {name: code for code, name in enumerate(REASONS)}
_MAX_KNOWN: Final = 200_000
"""Names and keys that are kept in memory while lines are added."""
_KEY: Final = 8
"""Bytes of a hash of an id."""
PREFIX: Final = 4
"""Bytes of an id by which it is found from its beginning."""

TRAIL_DATABASE: Final = CacheDatabase("trail", f"trail-{_FORMAT}", _TABLES, TRAIL_INDEX)


IndexedPart: TypeAlias = tuple[DeliveredPart, FileStamp | None, bool]
"""How far a file is indexed, the stamp that it had, and whether that shows every later change."""


def encode_name(name: str) -> bytes:
    """Return the bytes of a string that may have lone surrogates."""
    return name.encode("utf-8", "surrogatepass")


def decode_name(encoded: bytes) -> str:
    """Return the string of `encode_name`."""
    try:
        return encoded.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # the database is damaged
        return encoded.decode("utf-8", "replace")


def id_prefix(identifier: str) -> int:
    """Return the first bytes of an id, as a number: SQLite takes these in half the time."""
    return int.from_bytes(encode_name(identifier[:PREFIX])[:PREFIX], "big")


class IdKeys:
    """64-bit hashes of ids by a secret of the index: no author of a trail can choose equal ones.

    Those of the last ids are kept. An empty id has none.

    Args:
        connection: The database.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._known: dict[str, int] = {}
        [self._secret] = connection.execute("SELECT secret FROM trail").fetchone()

    def key(self, identifier: str) -> int:
        """Return the key of an id."""
        salted = self._secret + identifier.encode("utf-8", "surrogatepass")
        return int.from_bytes(sha256(salted).digest()[:_KEY], "big", signed=True)

    def keys(self, identifiers: Iterable[str | None]) -> list[int | None]:
        """Return the keys of some ids."""
        known, keys = self._known, list[int | None]()
        if len(known) >= _MAX_KNOWN:
            known.clear()
        for identifier in identifiers:
            key = known.get(identifier) if identifier else None
            if key is None and identifier:
                key = known[identifier] = self.key(identifier)
            keys.append(key)
        return keys


class _Names(dict[str | None, int]):
    """Numbers of strings, those of the last ones kept; a missing one is the empty string.

    Args:
        connection: The database.
        are_paths: Whether they are found by their normal form too.
    """

    def __init__(self, connection: sqlite3.Connection, *, are_paths: bool = False) -> None:
        super().__init__()
        self._connection, self._are_paths = connection, are_paths

    def __missing__(self, name: str | None) -> int:
        if len(self) >= _MAX_KNOWN:
            self.clear()
        execute, encoded = self._connection.execute, encode_name(name or "")
        execute("INSERT OR IGNORE INTO name (text) VALUES (?)", (encoded,))
        [number] = execute("SELECT number FROM name WHERE text = ?", (encoded,)).fetchone()
        if self._are_paths and name:
            normal = encode_name(normal_path(name))
            execute("UPDATE name SET normal = ? WHERE number = ?", (normal, number))
        self[name] = number
        return int(number)


class IndexWriter:
    """Adds lines to the index and takes them back, in a transaction of the caller.

    Args:
        connection: The database.
        keys: The keys of ids in it.

    Attributes:
        connection: The database.
    """

    def __init__(self, connection: sqlite3.Connection, keys: IdKeys) -> None:
        self.connection = connection
        self._keys = keys
        self._names = _Names(connection)
        self._paths = _Names(connection, are_paths=True)

    def cut(self, source: int, line: int) -> None:
        """Take back the lines of a file after one."""
        first, behind = (source << SOURCE_BITS) + line, (source + 1) << SOURCE_BITS
        for table in _ROW_TABLES:
            self.connection.execute(
                f"DELETE FROM {table} WHERE row > ? AND row < ?",  # noqa: S608  # our own names
                (first, behind),
            )

    def add(self, source: int, batch: LineBatch, start: int) -> int:
        """Add a batch of lines; a broken one hides no other (R12).

        Args:
            source: The number of the file.
            batch: The lines.
            start: The byte offset of the first one.

        Returns:
            The byte offset after them.
        """
        base = (source << SOURCE_BITS) + batch.first
        broken: list[BrokenLine] = []
        if batch.oversized is None:
            rows, sizes = read_rows(batch.lines, base, broken), list(map(len, batch.lines))
        else:
            rows, sizes = [BrokenRow()], [batch.oversized + 1]
            broken.append(BrokenLine(base, f"longer than {MAX_LINE:,} bytes"))
        numbers, kinds = (
            range(base, base + len(rows)),
            list(map(_KINDS.__getitem__, map(type, rows))),
        )
        ids = list(map(_GET_ID, rows))
        if not all(ids):
            for index, identifier in enumerate(ids):
                if not identifier:
                    ids[index] = computed_id(batch.lines[index], rows[index])
        *starts, end = accumulate(sizes, initial=start)
        lengths = [size - 1 for size in sizes]
        if batch.oversized is None and not batch.lines[-1].endswith(b"\n"):
            lengths[-1] += 1
        keys, prefixes = self._keys.keys(ids), map(id_prefix, ids)
        self._insert("record", 6, zip(numbers, kinds, starts, lengths, keys, prefixes, strict=True))
        by_kind: dict[LogLineKind, list[tuple[int, Row]]] = {kind: [] for kind in LogLineKind}
        for number, kind, row in zip(numbers, kinds, rows, strict=True):
            by_kind[kind].append((number, row))
        self._add_annotations([*by_kind[LogLineKind.LINE], *by_kind[LogLineKind.FUNCTION]])
        self._add_edges(by_kind[LogLineKind.EDGE])
        sessions: list[tuple[int, Any]] = by_kind[LogLineKind.SESSION]
        self._insert(
            "session", 2, ((row, self._names[session.session_id]) for row, session in sessions)
        )
        self._insert(
            "broken",
            2,
            ((broken_line.line, encode_name(broken_line.reason)) for broken_line in broken),
        )
        return end

    def _add_annotations(self, rows: Sequence[tuple[int, Row]]) -> None:
        if not rows:
            return
        numbers, annotations = zip(*rows, strict=True)
        paths, *named = zip(*map(_GET_NAMED, annotations), strict=True)
        hashed = zip(*map(_GET_HASHED, annotations), strict=True)
        columns = (
            map(self._paths.__getitem__, paths),
            *(map(self._names.__getitem__, values) for values in named),
            *map(self._keys.keys, hashed),
        )
        self._insert("annotation", 9, zip(numbers, *columns, strict=True))

    def _add_edges(self, rows: Sequence[tuple[int, Any]]) -> None:
        sources = self._keys.keys(row.source_ref or row.source_id for _, row in rows)
        targets = self._keys.keys(row.target_ref or row.target_id for _, row in rows)
        self._insert(
            "edge",
            5,
            (
                (
                    number,
                    _EDGE_CODES.get(row.edge_type),
                    None if row.metadata is None else _REASON_CODES.get(row.metadata.reason),
                    source,
                    target,
                )
                for (number, row), source, target in zip(rows, sources, targets, strict=True)
            ),
        )

    def _insert(self, table: str, columns: int, rows: Iterable[tuple[Any, ...]]) -> None:
        marks = ", ".join("?" * columns)
        self.connection.executemany(
            f"INSERT INTO {table} VALUES ({marks})",  # noqa: S608  # our own names
            rows,
        )

    def make_indexes(self) -> None:
        """Make the indexes, unless they are there."""
        for statement in _INDEXES:
            self.connection.execute(statement)

    def save_state(self, source: int, path: bytes, delivered: IndexedPart) -> None:
        """Save how far a file is indexed.

        Args:
            source: The number of the file.
            path: The file.
            delivered: See `LogFollower.delivered`.
        """
        part, seen, settled = delivered
        blocks = part.blocks.tobytes()
        stamp = "" if seen is None else " ".join(map(str, seen))  # parts may have 64 bits
        self.connection.execute(
            "INSERT OR REPLACE INTO source VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (source, path, part.end, part.lines, blocks, part.unterminated, stamp, settled),
        )


def read_state(connection: sqlite3.Connection, source: int, path: bytes) -> IndexedPart | None:
    """Return how far a file is indexed; None if it is not, or another file has its number.

    Raises:
        ValueError: The database is damaged.
    """
    row = connection.execute(
        "SELECT end, lines, blocks, unterminated, seen, settled FROM source"
        " WHERE number = ? AND path = ?",
        (source, path),
    ).fetchone()
    if row is None:
        return None
    end, lines, blocks, unterminated, stamp, settled = row
    seen = FileStamp(*map(int, stamp.split())) if stamp else None
    part = DeliveredPart(end, lines, array("I", blocks), bool(unterminated))
    if not part.has_all_blocks:
        raise ValueError("there are more or fewer blocks")
    return part, seen, bool(settled)


def row_list(rows: Iterable[int]) -> str:
    """Return rows as a query takes them, for `json_each(?)`."""
    return f"[{','.join(map(str, rows))}]"
