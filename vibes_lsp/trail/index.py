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

    Attributes:
        epoch: Another number as soon as lines that were read before may be others.
        lasts: Whether the database is in the cache.
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
        self._list_files()
        if not self.is_open:
            self._reopen(in_memory=not self._uses_saved)
        elif not thorough and self._is_current() and not self._has_long_wal():
            return False
        elif self._uses_saved and not self.lasts and self._may_return:
            self._return_to_cache()
        try:
            return self._refresh(thorough=thorough, progress=progress, at_most=at_most)
        except (sqlite3.Error, OutdatedIndex) as error:
            if isinstance(error, OutdatedIndex) or is_damage(error):
                self.damaged(error)
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
            start = self.log.size
            update = self.log.poll(thorough=thorough, at_most=at_most)
            has_new = self._add(0, update, start, progress)
            changed = self._follow_waiting(must_restart=has_new) or has_new or changed
        return self._read_state() or changed

    def _read_state(self) -> bool:
        """Begin the read transaction of an answer; return as `_follow_database`."""
        self._connection.execute("BEGIN")
        changed = self._follow_database()
        if self.lasts and self._reading_began is not None:
            self._reading_began()
        return changed

    def _may_be_unchanged(self) -> bool:
        """Whether no file seems to have a whole line that is not indexed: nothing is written."""
        return not self._has_others and not any(
            follower.seems_to_have_lines() for follower in self._followers
        )

    def _is_unchanged(self, *, thorough: bool, at_most: int | None) -> bool:
        for number in range(len(self._followers)):
            update = self._poll(number, thorough=thorough, at_most=at_most)
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
        others = self._connection.execute("SELECT number, path FROM source").fetchall()
        names = set(enumerate(map(self._name, range(len(self._paths)))))
        self._has_others = not names.issuperset(others)
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

    def _is_current(self) -> bool:
        """Whether the files are certainly as they were read.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        if self._version < 0 or self._has_others or not self.log.is_current():
            return False
        try:
            return all(follower.is_current() for follower in self._followers[1:])
        except UnreadableFile:
            return False

    def _follow_waiting(self, *, must_restart: bool) -> bool:
        """Bring the rows of what waits up to date, and return whether anything changed.

        Args:
            must_restart: Whether the log changed, so that other records of these count.
        """
        changed = False
        must_restart = must_restart or self._has_others
        for number in () if must_restart else range(1, len(self._followers)):
            start = self._followers[number].size
            update = self._poll(number)
            if update is None:
                continue
            later = self._followers[number + 1 :]
            if update.reset or any(follower.size for follower in later):
                must_restart = True
                for _ in update.batches:  # which closes the file
                    pass
                break
            changed = self._add(number, update, start) or changed
        if must_restart:
            changed = self._cut_waiting() or changed
            for number in range(1, len(self._followers)):
                changed = self._add(number, self._poll(number), 0) or changed
        return changed

    def _poll(
        self, number: int, *, thorough: bool = False, at_most: int | None = None
    ) -> LogUpdate | None:
        """Return the change of a file; one of what waits that cannot be read hides nothing else."""
        try:
            return self._followers[number].poll(thorough=thorough, at_most=at_most)
        except UnreadableFile as error:
            if not number:
                raise
            _logger.info("what waits is not shown: %s", error)
            return None

    def _cut_waiting(self) -> bool:
        """Take back the rows of what waits, to read it again; return whether there were any."""
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
        return had_rows

    def _add(
        self, number: int, update: LogUpdate | None, before: int, progress: Progress | None = None
    ) -> bool:
        """Add the change of one file; return whether anything changed.

        Args:
            number: The file's number.
            update: The change.
            before: How many bytes were read before it.
            progress: Called while lines are read.
        """
        if update is None:
            return False
        follower, unchanged = self._followers[number], before
        writer = IndexWriter(self._connection, self._keys)
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
        if not has_new:
            return False
        writer.make_indexes()
        writer.save_state(number, self._name(number), follower.delivered(), unchanged)
        self._count_version()
        return True

    def _has(self, identifier: str, column: str = "record WHERE key") -> bool:
        query = f"SELECT 1 FROM {column} = ? LIMIT 1"  # noqa: S608  # our own names
        return bool(self._connection.execute(query, (self.key(identifier),)).fetchall())

    def _is_edit(self, identifier: str) -> bool:
        """Whether records are hunks of an edit with this id, and none has the id itself."""
        return self._has(identifier, "annotation WHERE edit") and not self._has(identifier)

    def _count_version(self) -> None:
        self._version += 1
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
