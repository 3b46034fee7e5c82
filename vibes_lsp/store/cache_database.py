"""SQLite databases in the user's cache folder, else in memory.

A repository cannot supply one. Their content follows from other files, so one that is broken or of
another version is made again, and none is waited for longer than a limit. A name is never used
again: a program that still has a removed database open finds and removes its files by their names.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vibes_lsp.patience import Wait
from vibes_lsp.store.user_cache import cache_subfolder, database_name

if TYPE_CHECKING:
    import sqlite3


_MAX_DATABASES: Final = 32
"""How many databases of a kind the cache keeps: those that were used last."""
_ATTEMPTS: Final = 3
"""Databases that are opened: one may be broken, or be created twice at the same time."""
_MEMORY: Final = ":memory:"
_NEW: Final = ".new"
"""The end of the name of a database that is being created."""
_MAX_LOG: Final = 4 << 20
"""Bytes that a write-ahead log keeps after its content is in the database."""


@dataclass(frozen=True, slots=True)
class CacheDatabase:
    """A kind of database: what is in it, and how long to wait for another program.

    Attributes:
        folder: The name of its folder in the cache.
        version: The version of its tables; each has a file of its own.
        tables: The statements that create them.
        wait: For another program that writes.
    """

    folder: str
    version: str
    tables: Sequence[str]
    wait: Wait

    def path(self, subject: Path) -> Path | None:
        """Return where the database about a file or folder is, or where to create it.

        None if it can only be in memory.
        """
        folder = cache_subfolder(self.folder)
        if folder is None:
            return None
        try:
            name = database_name(self.version, os.path.realpath(subject))
            existing = sorted(folder.glob(f"{name}-*.db"))
        except (OSError, ValueError):
            return None
        return existing[0] if existing else folder / f"{name}-{os.urandom(8).hex()}.db"

    def open(self, subject: Path) -> tuple[sqlite3.Connection, bool]:
        """Open the database about a file or folder.

        Returns:
            The connection, and whether what is written to it lasts: not in memory.
        """
        connection = self.open_shared(subject)
        return (self.in_memory(), False) if connection is None else (connection, True)

    def open_shared(self, subject: Path) -> sqlite3.Connection | None:
        """Open the database about a file or folder; None if it can only be in memory now."""
        import sqlite3  # noqa: PLC0415  # a program that opens none starts faster

        for _ in range(_ATTEMPTS):
            path = self.path(subject)
            if path is None:
                break
            try:
                if not path.exists():
                    _remove_oldest(path.parent)
                    self._create(path)
                connection = self.connect(str(path))
            except (sqlite3.Error, ValueError, OSError) as error:  # whose message may not be UTF-8
                import logging  # noqa: PLC0415  # this is rare, and each commit would wait for it

                logging.getLogger(__name__).info("the database is made again: %s", error)
                if "locked" in str(error):  # another program has it
                    break
                if not isinstance(error, sqlite3.OperationalError):  # else others create it too
                    _remove(path)
                continue
            if self.path(subject) == path:
                with suppress(OSError):
                    os.utime(str(path))  # SQLite itself changes it only now and then
                return connection
            connection.close()  # another program has created one at the same time
            _remove(path)
        return None

    def _create(self, path: Path) -> None:
        """Create a database, which others see once it is complete: they cannot wait for a part.

        Raises:
            sqlite3.Error: It cannot be written.
            OSError: It cannot be renamed.
        """
        new = path.with_name(path.name + _NEW)
        self.connect(str(new)).close()
        new.replace(path)

    def connect(self, path: str) -> sqlite3.Connection:
        """Open a database, and create its tables unless they are there.

        Raises:
            sqlite3.Error: It is broken, or another program has it.
        """
        import sqlite3  # noqa: PLC0415

        connection = sqlite3.connect(
            path, timeout=self.wait.limit, isolation_level=None, check_same_thread=False
        )
        try:
            if path != _MEMORY:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute(f"PRAGMA journal_size_limit = {_MAX_LOG}")
            connection.execute("PRAGMA synchronous = NORMAL")
            if not _has_tables(connection):
                connection.execute("BEGIN IMMEDIATE")
                if not _has_tables(connection):
                    for statement in self.tables:
                        connection.execute(statement)
                connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    def in_memory(self) -> sqlite3.Connection:
        """Return an empty database in memory."""
        return self.connect(_MEMORY)

    def remove(self, subject: Path) -> None:
        """Remove the database about a file or folder from the cache."""
        path = self.path(subject)
        if path is not None:
            _remove(path)


def _has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None


def _remove_oldest(folder: Path) -> None:
    with suppress(OSError):
        files = [*folder.glob("*.db"), *folder.glob(f"*{_NEW}")]
        databases = sorted(files, key=lambda path: path.stat().st_mtime_ns)
        for path in databases[: 1 - _MAX_DATABASES]:
            _remove(path)


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + ending).unlink(missing_ok=True)
