"""SQL over `audit.db`, for reading alone: whoever writes the SQL may be anyone, and so may be whoever wrote the trail.

Only SELECT gets past the authorizer: no other file can be attached, no setting changed, no extension loaded. Bounded are the time,
the rows, the bytes of a value and those of the whole answer.
"""

from __future__ import annotations

import math
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from vibes_lsp.database.build import build, fill, source_of
from vibes_lsp.errors import BadQuery, RefusedWrite, UnreadableFile
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import file_signature

TIMEOUT: Final = 30.0
"""Seconds that a query may take."""
MAX_ROWS: Final = 10_000
MAX_VALUE: Final = 17 << 20
"""Bytes of one value, and of a row: a little more than the longest reasoning text that is read."""
MAX_ANSWER: Final = 64 << 20
"""Bytes of all rows: an answer that grows beyond it ends there."""
_GRACE: Final = 1.0
"""Seconds beyond its time that SQLite gets to notice it; within one function it never does."""
_STEP: Final = 10_000
"""Instructions of SQLite's between two looks at the clock."""
_READING: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_PRAGMAS: Final = frozenset({"table_info", "table_list"})
"""Those that tell of the tables, and change nothing."""
_FUNCTIONS: Final = frozenset({"load_extension", "fts3_tokenizer", "sqlite_log"})


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query found.

    Attributes:
        columns: Their names, as the query has them.
        rows: Values as JSON has them; a blob is its digits in hexadecimal.
        truncated: Whether there were more rows than were asked for, or than fit into the bounds.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    truncated: bool

    def as_json(self) -> Members:
        """Return `{columns, rows, truncated}`."""
        return {
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "truncated": self.truncated,
        }


def query(
    directory: AuditDir,
    sql: str,
    *,
    limit: int = MAX_ROWS,
    timeout: float = TIMEOUT,
    clock: Callable[[], float] = time.monotonic,
) -> QueryResult:
    """Run one SELECT over a trail. The database is made anew when the trail has changed; in memory, where it cannot be kept.

    Args:
        directory: The trail.
        sql: One statement.
        limit: Most rows to return.
        timeout: Most seconds that it may take.
        clock: Seconds that pass.

    Raises:
        BadQuery: It is no SELECT, SQLite does not understand it, or it takes too long.
        UnreadableFile: The log cannot be read.
    """
    connection = _opened(directory)
    _confine(connection)
    deadline = clock() + timeout
    asked = _Asked(connection, sql, limit, lambda: clock() > deadline)
    thread = threading.Thread(target=asked.run, name="query", daemon=True)
    thread.start()
    thread.join(timeout + _GRACE)
    if thread.is_alive():
        connection.interrupt()
        thread.join(_GRACE)
    if thread.is_alive():  # it ends with the program, and takes the connection along
        raise _too_long(timeout)
    connection.close()
    if isinstance(asked.outcome, QueryResult):
        return asked.outcome
    if isinstance(asked.outcome, sqlite3.Error | sqlite3.Warning | ValueError):
        raise _explained(asked.outcome, timeout) from None
    raise asked.outcome


class _Asked:
    """A query in a thread of its own, which alone can be left when one function of SQLite's does not come back.

    Attributes:
        outcome: What it found, or why it did not.
    """

    def __init__(
        self, connection: sqlite3.Connection, sql: str, limit: int, is_late: Callable[[], bool]
    ) -> None:
        self._connection, self._sql, self._limit, self._is_late = connection, sql, limit, is_late
        self.outcome: QueryResult | Exception = sqlite3.OperationalError("interrupted")

    def run(self) -> None:
        """Run it."""
        try:
            self._connection.set_progress_handler(self._is_late, _STEP)
            self.outcome = self._answer()
        except Exception as error:  # noqa: BLE001  # raised by whoever waits
            self.outcome = error

    def _answer(self) -> QueryResult:
        rows: list[tuple[JsonValue, ...]] = []
        size = 0
        cursor = self._connection.execute(self._sql)
        columns = tuple(column[0] for column in cursor.description or ())
        for row in cursor:
            if self._is_late():
                raise sqlite3.OperationalError("interrupted")
            size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
            if len(rows) == self._limit or size > MAX_ANSWER:
                return QueryResult(columns, tuple(rows), truncated=True)
            rows.append(tuple(map(_json, row)))
        return QueryResult(columns, tuple(rows), truncated=False)


def _opened(directory: AuditDir) -> sqlite3.Connection:
    """Open the database of the trail as it is now."""
    try:
        if not _is_fresh(directory):
            build(directory)
        return _open_file(directory)
    except (RefusedWrite, sqlite3.Error):
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        fill(connection, directory)
        return connection


def _is_fresh(directory: AuditDir) -> bool:
    """Whether the database was made here, of the trail as it is."""
    try:
        if directory.database.is_symlink() or file_signature(directory.database) is None:
            return False
        with closing(_open_file(directory)) as connection:
            _confine(connection)
            found = connection.execute("SELECT source FROM made_of").fetchone()
    except (sqlite3.Error, UnreadableFile):
        return False
    return found is not None and found[0] == source_of(directory)


def _open_file(directory: AuditDir) -> sqlite3.Connection:
    """Open the file as one that nobody changes: no journal beside it is looked at."""
    return sqlite3.connect(
        f"{directory.database.absolute().as_uri()}?mode=ro&immutable=1",
        uri=True,
        check_same_thread=False,
    )


def _confine(connection: sqlite3.Connection) -> None:
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.executescript("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")
    connection.set_authorizer(_authorize)


def _authorize(
    action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None
) -> int:
    allowed = (
        action in _READING
        or (action == sqlite3.SQLITE_FUNCTION and second not in _FUNCTIONS)
        or (action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS)
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _explained(error: Exception, timeout: float) -> BadQuery:
    match str(error):
        case "interrupted":
            return _too_long(timeout)
        case "not authorized":
            return BadQuery(
                "only SELECT is possible", hint="the database is derived and never changed"
            )
        case message:
            return BadQuery(
                f"SQL: {message}",
                hint='`vibes query "SELECT sql FROM sqlite_master"` lists tables and columns',
            )


def _too_long(timeout: float) -> BadQuery:
    return BadQuery(f"the query takes longer than {timeout:g} seconds", hint="narrow it down")


def _json(value: object) -> JsonValue:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int) else None
