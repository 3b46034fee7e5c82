"""The index of a trail: one SQLite database that follows its files.

It is in the user's cache, so that programs share it, or in memory. A read transaction is what an
answer sees: it does not change while another program extends the index, and ends with the answer.
Only what a file's change concerns is read again; what was cut off or replaced goes from the first
line that differs.
Records that wait for a commit follow those of the log. When the log changed they are read again, so
that one which the log has counts once.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from vibes_lsp.errors import OutdatedIndex, UnreadableFile
from vibes_lsp.store.file_stamps import file_stamp
from vibes_lsp.store.log_follower import LogFollower, LogUpdate
from vibes_lsp.trail.index_reader import IndexReader, is_damage
from vibes_lsp.trail.index_writer import (
    SOURCE_BITS,
    TRAIL_DATABASE,
    IdKeys,
    IndexWriter,
    read_blocks,
    read_state,
)
from vibes_lsp.trail.rows import without_known

_logger = logging.getLogger(__name__)

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of bytes of the log that were read."""
_LONG_WAL: Final = 4 << 20
"""Bytes of the write-ahead log above which a refresh empties it, if no other program reads it."""


class TrailIndex(IndexReader):
    """The database of the index of one trail, and the followers of its files.

    Args:
        log: The annotation log, which may not exist.
        waiting: Returns the files of records that wait for a commit (R29), in their order; None to
            read only the log.
        uses_saved: Whether the index is shared with other programs through the user's cache. Who
            decides or publishes reads the log itself, into memory.
        reading_began: Called when an answer begins to read a shared database. Who calls
            `end_answer` later uses it; a program that ends soon need not.
    """

    def __init__(
        self,
        log: Path,
        waiting: Callable[[], Iterable[Path]] | None = None,
        *,
        uses_saved: bool = False,
        reading_began: Callable[[], None] | None = None,
    ) -> None:
        self._list_waiting = waiting
        self._paths = (log, *(() if waiting is None else waiting()))
        self._uses_saved = uses_saved
        self._may_return = True
        self._reading_began = reading_began
        self._epochs_before = 0
        self._has_changed = False
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
            if self.lasts and is_damage(error):
                TRAIL_DATABASE.remove(self._paths[0])
            self._connection, self.lasts = TRAIL_DATABASE.in_memory(), False
            self._keys = IdKeys(self._connection)
        self._finalize = weakref.finalize(self, self._connection.close)
        [(_, _, path)] = self._connection.execute("PRAGMA database_list")
        self._write_ahead_log = f"{path}-wal"
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

    @property
    def epoch(self) -> int:
        """Another number as soon as lines that were read before may be others."""
        return self._epochs_before + max(self._database_epoch, 0)

    def close(self) -> None:
        """Close the database; a refresh opens it again."""
        self._finalize()
        self.is_open = False

    def bytes_to_read(self) -> int:
        """Return about how many bytes of the log the next refresh reads."""
        try:
            self._follow()
            return 0 if self._is_current() else self.file.bytes_to_read()
        except UnreadableFile:  # which the refresh says
            return 0

    def refresh(self, *, progress: Progress | None = None) -> bool:
        """Read what changed in the files; return whether anything did since the last refresh.

        Args:
            progress: Called while a large log is read.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        self._follow()
        if not self._is_current() and not self._is_unchanged():
            try:
                self._read_files(progress)
            except (sqlite3.Error, OutdatedIndex) as error:
                self._recover(error)
                self._read_files(progress)
        has_changed, self._has_changed = self._has_changed, False
        return has_changed

    def _follow(self) -> None:
        """See what other programs have read, unless that is certainly known."""
        self._list_files()
        if not self.is_open:
            self._reopen(in_memory=not self._uses_saved)
        elif self._is_current() and not self._has_long_wal():
            return
        elif self._uses_saved and not self.lasts and self._may_return:
            self._return_to_cache()
        try:
            self._end_transaction()
            self._empty_long_wal()
            self._read_state()
        except (sqlite3.Error, OutdatedIndex) as error:
            self._recover(error)
            self._read_state()

    def _recover(self, error: sqlite3.Error | OutdatedIndex) -> None:
        """Make a damaged database again; use one in memory while the shared one cannot be used."""
        if isinstance(error, OutdatedIndex) or is_damage(error):
            self.damaged(error)
            self._reopen(in_memory=not self._uses_saved)
        else:  # another program has it, or the disk is full
            _logger.info("the index of %s is in memory: %s", self._paths[0], error)
            self._reopen(in_memory=True)
            self.is_open, self._may_return = True, _is_lock(error)

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

    def _is_unchanged(self) -> bool:
        """Whether no file has a whole line that is not indexed: then no lock is taken."""
        if self._has_others or any(follower.seems_to_have_lines() for follower in self._followers):
            return False
        version, self._version = self._version, -1  # the followers may be ahead of the database
        for number in range(len(self._followers)):
            update = self._poll(number)
            if update is not None:
                has_lines = next(update.batches, None) is not None
                if update.reset or has_lines:  # the file is closed with the iterator
                    return False
        self._version = version
        self._save_stamps()
        return True

    def _save_stamps(self) -> None:
        """Save new stamps of unchanged files, unless another program writes.

        Without them, each later program would compare the whole files.
        """
        if not self.lasts or not any(map(self._has_new_stamp, range(len(self._paths)))):
            return
        self._end_transaction()
        with self._without_waiting(), self._writing():
            [version] = self._connection.execute("SELECT version FROM trail").fetchone()
            for number in range(len(self._paths)) if version == self._version else ():
                self._add(number, None, self._followers[number].size)
        self._read_state()

    def _read_files(self, progress: Progress | None) -> None:
        thorough = self._version < 0  # once more, from what the database has
        self._end_transaction()
        with self._writing():
            self._follow_database()
            start = self.file.size
            update = self._poll(0, thorough=thorough)
            has_new = self._add(0, update, start, progress)
            self._follow_waiting(must_restart=has_new)
        self._read_state()

    def _read_state(self) -> None:
        """Begin the read transaction of an answer."""
        self._connection.execute("BEGIN")
        self._follow_database()
        if self.lasts and self._reading_began is not None:
            self._reading_began()

    def _has_new_stamp(self, number: int) -> bool:
        """Whether a file was looked at since its state was saved: others need not compare it."""
        state = read_state(self._connection, number, self._name(number))
        _, seen, settled = self._followers[number].delivered()
        return ((None, False) if state is None else state[1:]) != (seen, settled)

    def _has_long_wal(self) -> bool:
        stamp = file_stamp(self._write_ahead_log) if self.lasts else None
        return stamp is not None and stamp.size > _LONG_WAL

    def _empty_long_wal(self) -> None:
        """Empty a long write-ahead log, unless another program reads it."""
        if self._has_long_wal():
            with self._without_waiting():
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

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

    def _follow_database(self) -> None:
        """Continue after what the database has, if another program has changed it."""
        [version, epoch] = self._connection.execute("SELECT version, epoch FROM trail").fetchone()
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
                blocks = partial(read_blocks, self._connection, number)
                follower.resume(part, blocks, seen, settled=settled)

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

    def _follow_waiting(self, *, must_restart: bool) -> None:
        """Bring the rows of what waits up to date.

        Args:
            must_restart: Whether the log changed, so that other records of these count.
        """
        must_restart = must_restart or self._has_others
        for number in () if must_restart else range(1, len(self._followers)):
            start = self._followers[number].size
            update = self._poll(number)
            later = self._followers[number + 1 :]
            if update and (update.reset or any(follower.size for follower in later)):
                must_restart = True
                for _ in update.batches:  # which closes the file
                    pass
                break
            self._add(number, update, start)
        if must_restart:
            self._cut_waiting()
            for number in range(1, len(self._followers)):
                self._add(number, self._poll(number), 0)

    def _poll(self, number: int, *, thorough: bool = False) -> LogUpdate | None:
        """Return the change of a file; one of what waits that cannot be read hides nothing else."""
        try:
            return self._followers[number].poll(thorough=thorough)
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
        self._connection.execute("DELETE FROM block WHERE source > 0")
        self._connection.execute("DELETE FROM source WHERE number > 0")
        for follower in self._followers[1:]:
            follower.restart()
        had_rows, had_others = last >> SOURCE_BITS > 0, self._has_others
        self._has_others = False
        if had_rows or had_others:
            self._database_epoch += had_rows
            self._count_version()

    def _add(
        self, number: int, update: LogUpdate | None, before: int, progress: Progress | None = None
    ) -> bool:
        """Add the change of one file; return whether lines changed.

        Args:
            number: The file's number.
            update: The change.
            before: How many bytes were read before it.
            progress: Called while lines are read.
        """
        follower, unchanged, has_new = self._followers[number], before, False
        writer = IndexWriter(self._connection, self._keys)
        if update is not None:
            if update.reset:
                unchanged = follower.size
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
        if has_new or self._has_new_stamp(number):
            writer.save_state(number, self._name(number), follower.delivered(), unchanged)
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

    def empty(self) -> None:
        """Have no records until a refresh can read the log."""
        self._reopen(in_memory=True)
        self.is_open = False


def _is_lock(error: sqlite3.Error) -> bool:
    """Whether an error is that another program has the database."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
