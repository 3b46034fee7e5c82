"""Queries of the index of a trail: what an answer reads, in one transaction."""

from __future__ import annotations

import logging
import sqlite3
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.store.log_follower import LogFollower
from vibes_lsp.trail.index_writer import SOURCE_BITS, TRAIL_DATABASE, IdKeys, row_list

_logger = logging.getLogger(__name__)

Rows: TypeAlias = list[tuple[Any, ...]]


class IndexReader:
    """The database of the index of one trail, as of the last refresh.

    Attributes:
        lasts: Whether the database is in the cache, where other programs find it.
        is_open: Whether it can be read; else the next refresh opens one.
    """

    lasts: bool
    is_open: bool
    _paths: tuple[Path, ...]
    _connection: sqlite3.Connection
    _keys: IdKeys
    _finalize: weakref.finalize[Any, Any]
    _followers: list[LogFollower]
    _database_epoch: int
    _reading_began: Callable[[], None] | None

    @property
    def file(self) -> LogFollower:
        """The follower of the log."""
        return self._followers[0]

    def follower(self, row: int) -> LogFollower:
        """Return the follower of the file that a row is of."""
        return self._followers[row >> SOURCE_BITS]

    def key(self, identifier: str) -> int:
        """Return the key of an id: different ids have different ones."""
        return self._keys.key(identifier)

    def rows(self, query: str, *values: object) -> Rows:
        """Return the rows of a query, as of the last refresh.

        Raises:
            OutdatedIndex: The database is damaged; it is made again at the next refresh.
        """
        try:
            self._begin_reading()
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self.damaged(error) from error

    def stream(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one: of a large log they take much memory at once.

        Raises:
            OutdatedIndex: The database is damaged; it is made again at the next refresh.
        """
        try:
            self._begin_reading()
            yield from self._connection.execute(query, values)
        except sqlite3.Error as error:
            raise self.damaged(error) from error

    def numbers(self, query: str, *values: object) -> list[int]:
        """Return the only column of a query."""
        return [number for (number,) in self.rows(query, *values)]

    def number(self, query: str, *values: object) -> int:
        """Return the only value of a query; 0 for none."""
        rows = self.rows(query, *values)
        return int(rows[0][0] or 0) if rows else 0

    def end_answer(self) -> None:
        """End the read transaction: while one is open, the write-ahead log only grows.

        What is asked before the next refresh begins another one.
        """
        if self._finalize.alive:
            self._end_transaction()

    def _begin_reading(self) -> None:
        """Begin a read transaction unless there is one.

        Raises:
            OutdatedIndex: Another program replaced lines since the last refresh.
        """
        if not self.lasts or self._connection.in_transaction:
            return
        self._connection.execute("BEGIN")
        [epoch] = self._connection.execute("SELECT epoch FROM trail").fetchone()
        if epoch != self._database_epoch:
            self._end_transaction()
            raise OutdatedIndex(f"{self._paths[0].name} was rewritten", hint="run this again")
        if self._reading_began is not None:
            self._reading_began()

    def damaged(self, error: Exception) -> OutdatedIndex:
        """Give up the database; return the error that says so."""
        _logger.info("the index of %s is made again: %s", self._paths[0], error)
        was_removed = ""
        if self.lasts and self._finalize.alive and is_damage(error):
            self._finalize()
            TRAIL_DATABASE.remove(self._paths[0])
            was_removed = " and was removed"
        self.is_open = False
        return OutdatedIndex(
            f"the index of {self._paths[0].name} is damaged{was_removed}", hint="run this again"
        )

    def _end_transaction(self, how: str = "COMMIT") -> None:
        if self._connection.in_transaction:
            self._connection.execute(how)

    def line_count(self, number: int = 0) -> int:
        """Return the number of lines of a file that are indexed, by default of the log."""
        first, behind = number << SOURCE_BITS, (number + 1) << SOURCE_BITS
        last = self.number("SELECT max(row) FROM record WHERE row > ? AND row < ?", first, behind)
        return max(0, last - first)

    def places(self, rows: Sequence[int]) -> list[tuple[int, int]]:
        """Return byte offset and length of some lines, without their newlines.

        Raises:
            OutdatedIndex: They cannot be: the database is damaged, or the file became shorter.
        """
        places = {
            row: (start, size)
            for row, start, size in self.rows(
                "SELECT row, start, size FROM record WHERE row IN (SELECT value FROM json_each(?))",
                row_list(rows),
            )
        }
        if not all(map(_is_place, map(places.get, rows))):
            raise self.damaged(sqlite3.DatabaseError("a line has no place"))
        for follower in set(map(self.follower, rows)):
            end = max(sum(places[row]) for row in rows if self.follower(row) is follower)
            if end > follower.size and not follower.reaches(end):
                raise self.damaged(sqlite3.DatabaseError("a line is behind the end"))
        return [places[row] for row in rows]


def _is_place(place: tuple[object, object] | None) -> bool:
    """Whether a row of the database can be byte offset and length of a line."""
    return place is not None and all(isinstance(part, int) and part >= 0 for part in place)


def is_damage(error: Exception) -> bool:
    """Whether an error is of the database itself, not of a lock, a full disk or an interrupt."""
    if isinstance(error, sqlite3.OperationalError):
        return str(error).startswith(("no such table", "no such column"))
    return isinstance(error, sqlite3.DatabaseError | TypeError)
