"""Read-only SQL over `audit.db`. Neither the SQL nor the trail is trusted.

The authorizer allows only SELECT: no other file can be attached, no setting changed, no extension
loaded. Processor time, rows, bytes of a value and bytes of the result are limited.
"""

from __future__ import annotations

import math
import sqlite3
import threading
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from time import process_time, thread_time
from typing import Final

from vibes_lsp.database.build import build_database, fill_tables, source_signature
from vibes_lsp.errors import BadQuery, RefusedWrite, UnreadableFile
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import regular_file_stamp

TIMEOUT: Final = 30.0
"""Seconds of processor time that a query may take."""
MAX_ROWS: Final = 10_000
MAX_VALUE: Final = 17 << 20
"""Bytes of a value and of a row: a little more than the longest reasoning text that is read."""
MAX_RESULT: Final = 64 << 20
"""Bytes of all rows; a larger result is truncated."""
_GRACE: Final = 1.0
"""Further seconds in which SQLite notices a timeout; it does not within one SQL function."""
_LOOK: Final = 0.1
"""Seconds between two looks at the processor time of a query that runs."""
_CLOCK_INTERVAL: Final = 10_000
"""SQLite instructions between two checks of the clock."""
_READ_ACTIONS: Final = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
)
_ALLOWED_PRAGMAS: Final = frozenset({"table_info", "table_list"})
"""Pragmas that describe the tables and change nothing."""
_DAMAGES: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR})
_PRIMARY_CODE: Final = 0xFF
"""The part of an SQLite error code that says what it is; the rest are details."""
_DENIED_FUNCTIONS: Final = frozenset({"load_extension", "fts3_tokenizer", "sqlite_log"})


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The result of a query.

    Attributes:
        columns: Their names in the query.
        rows: JSON values; a blob is hexadecimal.
        truncated: Whether there were more rows than the limits allow.
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


def run_query(
    directory: AuditDir,
    sql: str,
    *,
    limit: int = MAX_ROWS,
    timeout: float = TIMEOUT,
) -> QueryResult:
    """Run one SELECT over a trail.

    The database is rebuilt if the trail has changed; in memory, if it cannot be written.

    Args:
        directory: The audit directory.
        sql: One statement.
        limit: Maximum number of rows.
        timeout: Maximum processor time in seconds.

    Raises:
        BadQuery: It is not a SELECT, SQLite rejects it, or it takes too long.
        UnreadableFile: The log cannot be read.
    """
    run = partial(_run, sql=sql, limit=limit, timeout=timeout)
    outcome = run(_open(directory))
    if _is_damaged(outcome):
        outcome = run(_open(directory, is_rebuilt=True))
    if isinstance(outcome, QueryResult):
        return outcome
    if isinstance(outcome, sqlite3.Error | sqlite3.Warning | ValueError):
        raise _readable_error(outcome, timeout) from None
    raise outcome


def _run(
    connection: sqlite3.Connection, sql: str, limit: int, timeout: float
) -> QueryResult | Exception:
    """Return the result of a query, or its error; close the connection.

    Raises:
        BadQuery: It takes too long.
    """
    _restrict(connection)
    running = _RunningQuery(connection, sql, limit, timeout)
    thread = threading.Thread(target=running.run, name="query", daemon=True)
    thread.start()
    end = process_time() + timeout + _GRACE
    while thread.is_alive() and process_time() < end:
        thread.join(_LOOK)
    if thread.is_alive():  # it ends with the program, together with the connection
        connection.interrupt()
        raise _timeout_error(timeout)
    connection.close()
    return running.outcome


def _is_damaged(outcome: object) -> bool:
    """Whether pages of the database are not as SQLite wrote them."""
    code = getattr(outcome, "sqlite_errorcode", None)
    return isinstance(code, int) and (code & _PRIMARY_CODE) in _DAMAGES


class _RunningQuery:
    """A query for a thread of its own, because an SQL function that hangs cannot be interrupted.

    Attributes:
        outcome: The result, or the error.
    """

    def __init__(
        self, connection: sqlite3.Connection, sql: str, limit: int, timeout: float
    ) -> None:
        self._connection, self._sql, self._limit, self._timeout = connection, sql, limit, timeout
        self._end = 0.0
        self.outcome: QueryResult | Exception = sqlite3.OperationalError("interrupted")

    def run(self) -> None:
        """Run the query and set `outcome`."""
        self._end = thread_time() + self._timeout
        try:
            self._connection.set_progress_handler(self._is_late, _CLOCK_INTERVAL)
            self.outcome = self._fetch()
        except Exception as error:  # noqa: BLE001  # raised by the waiting thread
            self.outcome = error

    def _is_late(self) -> bool:
        return thread_time() > self._end

    def _fetch(self) -> QueryResult:
        rows: list[tuple[JsonValue, ...]] = []
        size = 0
        cursor = self._connection.execute(self._sql)
        columns = tuple(column[0] for column in cursor.description or ())
        for row in cursor:
            if self._is_late():
                raise sqlite3.OperationalError("interrupted")
            size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
            if len(rows) == self._limit or size > MAX_RESULT:
                return QueryResult(columns, tuple(rows), truncated=True)
            rows.append(tuple(map(_json, row)))
        return QueryResult(columns, tuple(rows), truncated=False)


def _open(directory: AuditDir, *, is_rebuilt: bool = False) -> sqlite3.Connection:
    """Open an up-to-date database of the trail, on request one that was just built."""
    try:
        if is_rebuilt or not _is_up_to_date(directory):
            build_database(directory)
        return _open_file(directory)
    except (RefusedWrite, sqlite3.Error):
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        fill_tables(connection, directory)
        return connection


def _is_up_to_date(directory: AuditDir) -> bool:
    """Whether it was built on this machine from the files of the trail, and not changed since."""
    try:
        stamp = regular_file_stamp(directory.database)
        if directory.database.is_symlink() or stamp is None:
            return False
        with closing(_open_file(directory)) as connection:
            _restrict(connection)
            built_from = connection.execute("SELECT source, modified_ns FROM made_of").fetchone()
    except (sqlite3.Error, UnreadableFile):
        return False
    return bool(built_from == (source_signature(directory), stamp.modified_ns))


def _open_file(directory: AuditDir) -> sqlite3.Connection:
    """Open the file as immutable, so that SQLite reads no journal of it."""
    return sqlite3.connect(
        f"{directory.database.absolute().as_uri()}?mode=ro&immutable=1",
        uri=True,
        check_same_thread=False,
    )


def _restrict(connection: sqlite3.Connection) -> None:
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.text_factory = lambda encoded: encoded.decode("utf-8", "replace")
    connection.executescript("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")
    connection.set_authorizer(_authorize)


def _authorize(
    action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None
) -> int:
    allowed = (
        action in _READ_ACTIONS
        or (action == sqlite3.SQLITE_FUNCTION and second not in _DENIED_FUNCTIONS)
        or (action == sqlite3.SQLITE_PRAGMA and first in _ALLOWED_PRAGMAS)
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _readable_error(error: Exception, timeout: float) -> BadQuery:
    match str(error):
        case "interrupted":
            return _timeout_error(timeout)
        case "not authorized":
            return BadQuery("only SELECT is allowed", hint="audit.db is derived and read-only")
        case message:
            return BadQuery(
                f"SQL: {message.removesuffix('.')}",
                hint='`vibes query "SELECT sql FROM sqlite_master"` lists the tables',
            )


def _timeout_error(timeout: float) -> BadQuery:
    return BadQuery(
        f"the query takes longer than {timeout:g} seconds of processor time",
        hint="add a WHERE clause or a LIMIT",
    )


def _json(value: object) -> JsonValue:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int) else None
