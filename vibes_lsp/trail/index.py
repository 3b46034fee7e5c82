"""The index of a trail: one SQLite database that follows its files.

It is in the user's cache, so that programs share it, or in memory. Only what a file's change
concerns is read again; what was cut off or replaced goes from the first line that differs. A query
sees the rows as they are now; if lines were replaced since the last refresh, it says so.
Records that wait for a commit follow those of the log. When the log changed they are read again, so
that one which the log has counts once.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from vibes_lsp.errors import OutdatedIndex, UnreadableFile
from vibes_lsp.store.log_follower import LogFollower, LogUpdate
from vibes_lsp.trail.index_writer import (
    SOURCE_BITS,
    TRAIL_DATABASE,
    IdKeys,
    IndexWriter,
    read_state,
    row_list,
)
from vibes_lsp.trail.rows import without_known

_logger = logging.getLogger(__name__)

Rows: TypeAlias = list[tuple[Any, ...]]
Progress: TypeAlias = Callable[[int], None]
"""Called with the number of bytes of the log that were read."""
_EPOCH: Final = "SELECT version, epoch FROM trail"
_DATABASE_ERRORS: Final = sqlite3.Error, TypeError, ValueError
"""What a database raises, and the reading of values that are not of our types."""


class TrailIndex:
    """The database of the index of one trail, and the followers of its files.

    Args:
        log: The annotation log, which may not exist.
        waiting: Returns the files of records that wait for a commit (R29), in their order; None to
            read only the log.
        uses_saved: Whether the index is shared with other programs through the user's cache. Who
            decides or publishes reads the log itself, into memory.

    Attributes:
        lasts: Whether the database is in the cache, where other programs find it.
        is_open: Whether it can be read; else the next refresh opens one.
    """

    def __init__(
        self,
        log: Path,
        waiting: Callable[[], Iterable[Path]] | None = None,
        *,
        uses_saved: bool = False,
    ) -> None:
        self._list_waiting = waiting
        self._paths = (log, *(() if waiting is None else waiting()))
        self._uses_saved = uses_saved
        self._epochs_before = 0
        self._has_changed = False
        self._open(in_memory=True)

    def _open(self, *, in_memory: bool) -> None:
        """Open the database; the next refresh reads how far it is."""
        if in_memory:
            self._connection, self.lasts = TRAIL_DATABASE.in_memory(), False
        else:
            self._connection, self.lasts = TRAIL_DATABASE.open(self._paths[0])
        self._finalize = weakref.finalize(self, self._connection.close)
        self._keys = IdKeys(self._connection)
        self._followers = list(map(self._new_follower, range(len(self._paths))))
        self._version, self._database_epoch = -1, -1
        self._has_others = False
        self.is_open = not in_memory or not self._uses_saved

    def _reopen(self, *, in_memory: bool) -> None:
        self._epochs_before = self.epoch + 1
        self._has_changed = True
        self._finalize()
        self._open(in_memory=in_memory)

    def _new_follower(self, number: int) -> LogFollower:
        return LogFollower(self._paths[number], self._line_end(number))

    @property
    def file(self) -> LogFollower:
        """The follower of the log."""
        return self._followers[0]

    def follower(self, row: int) -> LogFollower:
        """Return the follower of the file that a row is of.

        Raises:
            OutdatedIndex: There is no such file: the database is damaged.
        """
        try:
            return self._followers[row >> SOURCE_BITS]
        except (TypeError, IndexError) as error:
            raise self.damaged(sqlite3.DatabaseError("a row is of no file")) from error

    @property
    def epoch(self) -> int:
        """Another number as soon as lines that were read before may be others."""
        return self._epochs_before + max(self._database_epoch, 0)

    def close(self) -> None:
        """Close the database; a refresh opens it again."""
        self._finalize()
        self.is_open = False

    def empty(self) -> None:
        """Have no records until a refresh can read the log."""
        self._reopen(in_memory=True)
        self.is_open = False

    # Questions

    def key(self, identifier: str) -> int:
        """Return the key of an id: different ids have different ones."""
        return self._keys.key(identifier)

    def rows(self, query: str, *values: object) -> Rows:
        """Return the rows of a query.

        Raises:
            OutdatedIndex: Another program replaced lines since the last refresh, or the database is
                damaged; it is made again at the next refresh.
        """
        return list(self.stream(query, *values))

    def stream(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one: of a large log they take much memory at once.

        Raises:
            OutdatedIndex: As for `rows`.
        """
        try:
            cursor = self._connection.execute(query, values)
            [_, epoch] = self._connection.execute(_EPOCH).fetchone()
            if epoch != self._database_epoch and self._database_epoch >= 0:
                self._version = -1
                raise OutdatedIndex(f"{self._paths[0].name} was rewritten", hint="run this again")
            yield from cursor
        except sqlite3.Error as error:
            raise self.damaged(error) from error

    def numbers(self, query: str, *values: object) -> list[int]:
        """Return the only column of a query."""
        return [number for (number,) in self.rows(query, *values)]

    def number(self, query: str, *values: object) -> int:
        """Return the only value of a query; 0 for none."""
        rows = self.rows(query, *values)
        return int(rows[0][0] or 0) if rows else 0

    def line_count(self, number: int = 0) -> int:
        """Return the number of lines of a file that are indexed, by default of the log."""
        first, behind = number << SOURCE_BITS, (number + 1) << SOURCE_BITS
        last = self.number("SELECT max(row) FROM record WHERE row > ? AND row < ?", first, behind)
        return max(0, last - first)

    def places(self, rows: Sequence[int]) -> list[tuple[int, int]]:
        """Return byte offset and length of some lines of a file, without their newlines.

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
        end = max(map(sum, places.values()), default=0)
        if end and not self.follower(rows[0]).reaches(end):
            raise self.damaged(sqlite3.DatabaseError("a line is behind the end"))
        return [places[row] for row in rows]

    def damaged(self, error: Exception) -> OutdatedIndex:
        """Give up the database; return the error that says so."""
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

    # Changes of the files

    def bytes_to_read(self) -> int:
        """Return about how many bytes of the log the next refresh reads."""
        try:
            return 0 if self._recovered(self._follow) else self.file.bytes_to_read()
        except UnreadableFile:  # which the refresh says
            return 0

    def refresh(self, *, progress: Progress | None = None) -> bool:
        """Read what changed in the files; return whether anything did since the last refresh.

        Args:
            progress: Called while a large log is read.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        self._recovered(partial(self._read_files, progress))
        has_changed, self._has_changed = self._has_changed, False
        return has_changed

    def _recovered(self, work: Callable[[], bool]) -> bool:
        """Work on the database; again on one made again, or in memory if it cannot be used."""
        for is_again in (False, True):
            try:
                return work()
            except (*_DATABASE_ERRORS, OutdatedIndex) as error:
                if not is_again and (isinstance(error, OutdatedIndex) or _is_damage(error)):
                    self.damaged(error)
                else:  # another program has it, it cannot be removed, or the disk is full
                    _logger.info("the index of %s is in memory: %s", self._paths[0], error)
                    self._reopen(in_memory=True)
                    self.is_open = True
        return work()

    def _follow(self) -> bool:
        """See what other programs have read; return whether nothing has certainly changed since.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        self._list_files()
        if not self.is_open:
            self._reopen(in_memory=not self._uses_saved)
        if not self._is_current():
            with self._transaction("BEGIN"):
                self._follow_database()
        return self._is_current()

    def _list_files(self) -> None:
        """Follow other files where the records that wait are in others now."""
        if self._list_waiting is None:
            return
        paths = (self._paths[0], *self._list_waiting())
        if paths != self._paths:
            self._paths = paths
            new = map(self._new_follower, range(1, len(paths)))
            self._followers = [self._followers[0], *new]
            self._version = -1  # the database says how far they are read

    def _is_current(self) -> bool:
        """Whether the files are certainly as they were read.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        if self._version < 0 or self._has_others or not self.file.is_current():
            return False
        try:
            return all(follower.is_current() for follower in self._followers[1:])
        except UnreadableFile:
            return False

    def _follow_database(self) -> None:
        """Continue after what the database has, if another program has changed it."""
        [version, epoch] = self._connection.execute(_EPOCH).fetchone()
        if version == self._version:
            return
        self._has_changed = True
        self._version, self._database_epoch = version, epoch
        sources = self._connection.execute("SELECT number, path FROM source").fetchall()
        names = set(enumerate(map(self._name, range(len(self._paths)))))
        self._has_others = not names.issuperset(sources)
        for number, follower in enumerate(self._followers):
            state = read_state(self._connection, number, self._name(number))
            if state is None:
                follower.restart()
            else:
                part, seen, settled = state
                follower.resume(part, seen, settled=settled)

    def _read_files(self, progress: Progress | None) -> bool:
        if self._follow():
            return True
        with self._transaction("BEGIN IMMEDIATE"):
            self._follow_database()
            has_new = self._add(0, self._poll(0), progress)
            self._follow_waiting(must_restart=has_new)
        return True

    def _follow_waiting(self, *, must_restart: bool) -> None:
        """Bring the rows of what waits up to date.

        Args:
            must_restart: Whether the log changed, so that other records of these count.
        """
        must_restart = must_restart or self._has_others
        for number in () if must_restart else range(1, len(self._followers)):
            update = self._poll(number)
            later = self._followers[number + 1 :]
            if update and (update.reset or any(follower.size for follower in later)):
                must_restart = True
                for _ in update.batches:  # which closes the file
                    pass
                break
            self._add(number, update)
        if must_restart:
            self._cut_waiting()
            for number in range(1, len(self._followers)):
                self._add(number, self._poll(number))

    def _poll(self, number: int) -> LogUpdate | None:
        """Return the change of a file; one of what waits that cannot be read hides nothing else."""
        try:
            return self._followers[number].poll()
        except UnreadableFile as error:
            if not number:
                raise
            _logger.info("what waits is not shown: %s", error)
            return None

    def _cut_waiting(self) -> None:
        """Take back the rows of what waits, to read it again."""
        last = self._connection.execute("SELECT max(row) FROM record").fetchone()[0] or 0
        for number in range(1, (last >> SOURCE_BITS) + 1):
            IndexWriter(self._connection, self._keys).cut(number, 0)
        self._connection.execute("DELETE FROM source WHERE number > 0")
        for follower in self._followers[1:]:
            follower.restart()
        had_rows, had_others = last >> SOURCE_BITS > 0, self._has_others
        self._has_others = False
        if had_rows or had_others:
            self._database_epoch += had_rows
            self._count_version()

    def _add(self, number: int, update: LogUpdate | None, progress: Progress | None = None) -> bool:
        """Add the change of one file; return whether lines changed.

        Args:
            number: The file's number.
            update: The change.
            progress: Called while lines are read.
        """
        follower, has_new = self._followers[number], False
        writer = IndexWriter(self._connection, self._keys)
        if update is not None:
            if update.reset:
                writer.cut(number, update.kept)
                self._database_epoch += 1
            if number:
                writer.make_indexes()  # records are looked up while these are added
            start, has_new = follower.size, update.reset
            for batch in update.batches:
                added = without_known(batch, self._has, self._is_edit) if number else batch
                start = writer.add(number, added, start)
                has_new = True  # nothing comes while a record is being written
                if progress is not None:
                    progress(follower.size)
        if has_new:
            writer.make_indexes()
            self._count_version()
        writer.save_state(number, self._name(number), follower.delivered())
        return has_new

    def _has(self, identifier: str, column: str = "record WHERE key") -> bool:
        query = f"SELECT 1 FROM {column} = ? LIMIT 1"  # noqa: S608  # our own names
        return bool(self._connection.execute(query, (self.key(identifier),)).fetchall())

    def _is_edit(self, identifier: str) -> bool:
        """Whether records are hunks of an edit with this id, and none has the id itself."""
        return self._has(identifier, "annotation WHERE edit") and not self._has(identifier)

    def _count_version(self) -> None:
        self._version += 1
        self._has_changed = True
        self._connection.execute(
            "UPDATE trail SET version = ?, epoch = ?", (self._version, self._database_epoch)
        )

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        """Read or write in one transaction; after a failure the database is as before."""
        self._connection.execute(begin)
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._version = -1  # the followers may be ahead of the database
            raise

    def _name(self, number: int) -> bytes:
        return os.fsencode(os.path.realpath(self._paths[number]))

    def _line_end(self, number: int) -> Callable[[int], tuple[int, int]]:
        """Return what finds the last line of a file that ends at or before an offset."""
        first, behind = number << SOURCE_BITS, (number + 1) << SOURCE_BITS

        def line_end(offset: int) -> tuple[int, int]:
            last = self._connection.execute(
                "SELECT start + size + 1, row FROM record"
                " WHERE row > ? AND row < ? AND start + size < ? ORDER BY row DESC LIMIT 1",
                (first, behind, offset),
            ).fetchone()
            return (0, 0) if last is None else (last[0], last[1] - first)

        return line_end


def _is_place(place: tuple[object, object] | None) -> bool:
    """Whether a row of the database can be byte offset and length of a line."""
    return place is not None and all(isinstance(part, int) and part >= 0 for part in place)


def _is_damage(error: Exception) -> bool:
    """Whether an error is of the database itself, not of a lock, a full disk or an interrupt."""
    if isinstance(error, sqlite3.OperationalError):
        return str(error).startswith(("no such table", "no such column"))
    return isinstance(error, sqlite3.DatabaseError | TypeError | ValueError)
