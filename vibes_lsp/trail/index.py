"""The index of a trail: one SQLite database that follows its files.

It is in the user's cache, so that programs share it, or in memory. A read transaction is what an
answer sees: it does not change while another program extends the index, and ends with the answer.
Only what a file's change concerns is read again; what was cut off or replaced goes from the first
line that differs.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.store.file_stamps import file_stamp
from vibes_lsp.store.log_follower import LogFollower
from vibes_lsp.trail.index_writer import (
    SOURCE_BITS,
    TRAIL_DATABASE,
    IdKeys,
    IndexWriter,
    read_blocks,
    read_state,
    row_list,
)

_logger = logging.getLogger(__name__)

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of bytes of the log that were read."""
_LONG_WAL: Final = 4 << 20
"""Bytes of the write-ahead log above which a refresh empties it, if no other program reads it."""
Rows: TypeAlias = list[tuple[Any, ...]]


class TrailIndex:
    """The database of the index of one trail, and the followers of its files.

    Args:
        log: The annotation log, which may not exist.
        waiting: Other files of records, one a line. They follow the log's in this order.
        uses_saved: Whether the index is shared with other programs through the user's cache. Who
            decides or publishes reads the log itself, into memory.
        reading_began: Called when an answer begins to read a shared database. Who calls
            `end_answer` later uses it; a program that ends soon need not.

    Attributes:
        epoch: Another number as soon as lines that were read before may be others.
        lasts: Whether the database is in the cache.
    """

    def __init__(
        self,
        log: Path,
        waiting: Sequence[Path] = (),
        *,
        uses_saved: bool = False,
        reading_began: Callable[[], None] | None = None,
    ) -> None:
        self._paths: Final = (log, *waiting)
        self._uses_saved = uses_saved
        self._may_return = True
        self._reading_began = reading_began
        self._epochs_before = 0
        self._open(in_memory=True)

    def _open(self, *, in_memory: bool) -> None:
        """Open the database; the next refresh reads how far it is."""
        if in_memory:
            self._connection, self.lasts = TRAIL_DATABASE.in_memory(), False
        else:
            self._connection, self.lasts = TRAIL_DATABASE.open(self._paths[0])
        try:
            self._keys = IdKeys(self._connection)
        except (sqlite3.Error, TypeError) as error:  # its tables are not ours
            _logger.info("the index of %s is made again: %s", self._paths[0], error)
            self._connection.close()
            if self.lasts and _is_damage(error):
                TRAIL_DATABASE.remove(self._paths[0])
            self._connection, self.lasts = TRAIL_DATABASE.in_memory(), False
            self._keys = IdKeys(self._connection)
        self._finalize = weakref.finalize(self, self._connection.close)
        [(_, _, path)] = self._connection.execute("PRAGMA database_list")
        self._write_ahead_log = f"{path}-wal"
        self._followers = [
            LogFollower(path, self._line_end(number)) for number, path in enumerate(self._paths)
        ]
        self._version, self._database_epoch = -1, -1
        self.is_open = not in_memory or not self._uses_saved

    def _reopen(self, *, in_memory: bool) -> None:
        self._epochs_before = self.epoch + 1
        self._finalize()
        self._open(in_memory=in_memory)

    @property
    def epoch(self) -> int:
        """Another number as soon as lines that were read before may be others."""
        return self._epochs_before + max(self._database_epoch, 0)

    def close(self) -> None:
        """Close the database; a refresh opens it again."""
        self._finalize()
        self.is_open = False

    @property
    def log(self) -> LogFollower:
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
            raise self._damaged(error) from error

    def stream(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one: of a large log they take much memory at once.

        Raises:
            OutdatedIndex: The database is damaged; it is made again at the next refresh.
        """
        try:
            self._begin_reading()
            yield from self._connection.execute(query, values)
        except sqlite3.Error as error:
            raise self._damaged(error) from error

    def numbers(self, query: str, *values: object) -> list[int]:
        """Return the only column of a query."""
        return [number for (number,) in self.rows(query, *values)]

    def number(self, query: str, *values: object) -> int:
        """Return the only value of a query; 0 for none."""
        found = self.rows(query, *values)
        return int(found[0][0] or 0) if found else 0

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

    def _damaged(self, error: Exception) -> OutdatedIndex:
        _logger.info("the index of %s is made again: %s", self._paths[0], error)
        was_removed = ""
        if self.lasts and self._finalize.alive and _is_damage(error):
            self._finalize()
            TRAIL_DATABASE.remove(self._paths[0])
            was_removed = " and was removed"
        self.is_open = False
        return OutdatedIndex(
            f"the index of {self._paths[0].name} is damaged{was_removed}", hint="run this again"
        )

    def refresh(
        self,
        *,
        thorough: bool = False,
        progress: Progress | None = None,
        at_most: int | None = None,
    ) -> bool:
        """Read what changed in the files, and return whether anything did.

        Args:
            thorough: Compare all of a large file, even if it seems to have only grown.
            progress: Called while a large log is read.
            at_most: Bytes of the log that may be read.

        Raises:
            MuchToRead: These are more. What the index has is outdated.
            UnreadableFile: The log cannot be read.
        """
        if not self.is_open:
            self._reopen(in_memory=not self._uses_saved)
        elif not thorough and self._is_current() and not self._has_long_wal():
            return False
        elif self._uses_saved and not self.lasts and self._may_return:
            self._return_to_cache()
        try:
            return self._refresh(thorough=thorough, progress=progress, at_most=at_most)
        except (sqlite3.Error, OutdatedIndex) as error:
            if isinstance(error, OutdatedIndex) or _is_damage(error):
                self._damaged(error)
                self._reopen(in_memory=not self._uses_saved)
                return self._refresh(thorough=thorough, progress=progress, at_most=at_most) or True
            # Another program has it, or the disk is full.
            _logger.info("the index of %s is in memory: %s", self._paths[0], error)
            self._reopen(in_memory=True)
            self.is_open, self._may_return = True, _is_lock(error)
        return self._refresh(thorough=thorough, progress=progress, at_most=at_most) or True

    def _return_to_cache(self) -> None:
        """Use the shared database again if no other program writes to it at the moment."""
        connection = TRAIL_DATABASE.open_shared(self._paths[0])
        if connection is None:
            return
        try:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            return
        finally:
            connection.close()
        self._reopen(in_memory=False)

    def _refresh(self, *, thorough: bool, progress: Progress | None, at_most: int | None) -> bool:
        self._end_transaction()
        if self._has_long_wal():
            with self._without_waiting():
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        changed = self._read_state()
        if not thorough and self._is_current():
            return changed  # another program has read what is new
        if at_most is not None:
            self.log.check_bound(at_most)
        if self._may_be_unchanged():
            version, self._version = self._version, -1  # the followers may be ahead of the database
            if self._is_unchanged(thorough=thorough, at_most=at_most):
                self._version = version
                return self._save_stamps() or changed
            thorough = True  # once more, from what the database has
        self._end_transaction()
        with self._writing():
            changed = self._follow_database() or changed
            for number, follower in enumerate(self._followers):
                changed = self._follow(number, follower, thorough, progress, at_most) or changed
        return self._read_state() or changed

    def _read_state(self) -> bool:
        """Begin the read transaction of an answer; return as `_follow_database`."""
        self._connection.execute("BEGIN")
        changed = self._follow_database()
        if self.lasts and self._reading_began is not None:
            self._reading_began()
        return changed

    def _is_current(self) -> bool:
        return all(follower.is_current() for follower in self._followers)

    def _may_be_unchanged(self) -> bool:
        """Whether no file seems to have a whole line that is not indexed: nothing is written."""
        return not any(follower.seems_to_have_lines() for follower in self._followers)

    def _is_unchanged(self, *, thorough: bool, at_most: int | None) -> bool:
        for follower in self._followers:
            update = follower.poll(thorough=thorough, at_most=at_most)
            if update is not None:
                has_lines = next(update.batches, None) is not None
                if update.reset or has_lines:  # the file is closed with the iterator
                    return False
        return True

    def _save_stamps(self) -> bool:
        """Save new stamps of unchanged files, unless another program writes; return as `refresh`.

        Without them, each later program would compare the whole files.
        """
        if not self.lasts or not any(map(self._has_new_stamp, range(len(self._paths)))):
            return False
        self._end_transaction()
        with self._without_waiting(), self._writing():
            [version] = self._connection.execute("SELECT version FROM trail").fetchone()
            for number, follower in enumerate(self._followers):
                if version == self._version and self._has_new_stamp(number):
                    writer = IndexWriter(self._connection, self._keys)
                    delivered = follower.delivered()
                    writer.save_state(number, self._name(number), delivered, follower.size)
        return self._read_state()

    def _has_new_stamp(self, number: int) -> bool:
        state = read_state(self._connection, number, self._name(number))
        _, seen, settled = self._followers[number].delivered()
        return state is not None and (state.seen, state.settled) != (seen, settled)

    def _has_long_wal(self) -> bool:
        stamp = file_stamp(self._write_ahead_log) if self.lasts else None
        return stamp is not None and stamp.size > _LONG_WAL

    @contextmanager
    def _without_waiting(self) -> Iterator[None]:
        """Do without what another program's lock forbids at the moment."""
        [limit] = self._connection.execute("PRAGMA busy_timeout").fetchone()
        self._connection.execute("PRAGMA busy_timeout = 0")
        try:
            with suppress(sqlite3.OperationalError):
                yield
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {int(limit)}")

    def _follow_database(self) -> bool:
        """Continue after what the database has; return whether another program changed it."""
        [version, epoch] = self._connection.execute("SELECT version, epoch FROM trail").fetchone()
        if version == self._version:
            return False
        self._version, self._database_epoch = version, epoch
        for number, follower in enumerate(self._followers):
            state = read_state(self._connection, number, self._name(number))
            if state is None:
                follower.restart()
            else:
                follower.resume(
                    state.part,
                    partial(read_blocks, self._connection, number),
                    state.seen,
                    settled=state.settled,
                )
        return True

    def _follow(
        self,
        number: int,
        follower: LogFollower,
        thorough: bool,  # noqa: FBT001
        progress: Progress | None,
        at_most: int | None,
    ) -> bool:
        """Bring the rows of one file up to date; return whether anything changed."""
        before = follower.size
        update = follower.poll(thorough=thorough, at_most=at_most)
        if update is None:
            return False
        writer, unchanged = IndexWriter(self._connection, self._keys), before
        if update.reset:
            unchanged = follower.size
            writer.cut(number, update.kept)
            self._database_epoch += 1
        start, has_new = follower.size, update.reset
        for batch in update.batches:
            start = writer.add(number, batch, start)
            has_new = True  # nothing comes while a record is being written
            if progress is not None:
                progress(follower.size)
        if not has_new:
            return False
        writer.make_indexes()
        writer.save_state(number, self._name(number), follower.delivered(), unchanged)
        self._version += 1
        self._connection.execute(
            "UPDATE trail SET version = ?, epoch = ?", (self._version, self._database_epoch)
        )
        return True

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write in one transaction; after a failure the database is as before."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self._end_transaction("ROLLBACK")
            self._version = -1  # the followers may be ahead of the database
            raise

    def _end_transaction(self, how: str = "COMMIT") -> None:
        if self._connection.in_transaction:
            self._connection.execute(how)

    def _name(self, number: int) -> bytes:
        return os.fsencode(os.path.realpath(self._paths[number]))

    def _line_end(self, number: int) -> Callable[[int], tuple[int, int]]:
        """Return what finds the last line of a file that ends at or before an offset."""
        first = number << SOURCE_BITS

        def line_end(offset: int) -> tuple[int, int]:
            low, high = first, first + self.line_count(number)
            while low < high:  # rows are in the order of their places
                middle = (low + high + 1) // 2
                if self._place(middle)[1] <= offset:
                    low = middle
                else:
                    high = middle - 1
            return (self._place(low)[1] if low > first else 0), low - first

        return line_end

    def _place(self, row: int) -> tuple[int, int]:
        """Return where a line begins, and where it ends with its newline."""
        [(start, size)] = self._connection.execute(
            "SELECT start, size FROM record WHERE row = ?", (row,)
        ).fetchall()
        return start, start + size + 1

    def line_count(self, number: int = 0) -> int:
        """Return the number of lines of a file that are indexed, by default of the log."""
        first, behind = number << SOURCE_BITS, (number + 1) << SOURCE_BITS
        last = self.number("SELECT max(row) FROM record WHERE row > ? AND row < ?", first, behind)
        return max(0, last - first)

    def empty(self) -> None:
        """Have no records until a refresh can read the log."""
        self._reopen(in_memory=True)
        self.is_open = False

    def places(self, rows: Sequence[int]) -> list[tuple[int, int]]:
        """Return byte offset and length of some lines, without their newlines.

        Raises:
            OutdatedIndex: They cannot be: the database is damaged, or the file became shorter.
        """
        found = {
            row: (start, size)
            for row, start, size in self.rows(
                "SELECT row, start, size FROM record WHERE row IN (SELECT value FROM json_each(?))",
                row_list(rows),
            )
        }
        if not all(map(_is_place, map(found.get, rows))):
            raise self._damaged(sqlite3.DatabaseError("a line has no place"))
        for follower in set(map(self.follower, rows)):
            end = max(sum(found[row]) for row in rows if self.follower(row) is follower)
            if end > follower.size and not follower.reaches(end):
                raise self._damaged(sqlite3.DatabaseError("a line is behind the end"))
        return [found[row] for row in rows]


def _is_place(place: tuple[object, object] | None) -> bool:
    """Whether a row of the database can be byte offset and length of a line."""
    return place is not None and all(isinstance(part, int) and part >= 0 for part in place)


def _is_damage(error: Exception) -> bool:
    """Whether an error is of the database itself, not of a lock, a full disk or an interrupt."""
    if isinstance(error, sqlite3.OperationalError):
        return str(error).startswith(("no such table", "no such column"))
    return isinstance(error, sqlite3.DatabaseError | TypeError)


def _is_lock(error: sqlite3.Error) -> bool:
    """Whether an error is that another program has the database."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
