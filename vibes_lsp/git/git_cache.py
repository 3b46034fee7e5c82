"""Facts of git: what git answered about a repository, in one database of the user's cache folder.

It has only facts that depend on immutable objects, under the names of these: the blame of a file at
a commit, what a commit brought to the log, renamed or moved, whose a commit's lines are. So no fact
is ever outdated. Branches, the index, the trail and the work tree are read each time. An object's
name does not prove its content if another person made the repository, so the facts of one
repository are never used for another. Commands that decide, sign or publish use only what they
asked themselves.

A database that is damaged, locked or missing costs time only.
"""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import msgspec

from vibes_lsp import __version__
from vibes_lsp.patience import GIT_FACTS
from vibes_lsp.store.cache_database import CacheDatabase

if TYPE_CHECKING:
    import sqlite3

_T = TypeVar("_T")

_CODE: Final = Path(__file__).parents[1]
_PACKAGES: Final = ("model", "anchors", "git", "trail", "placing")
"""Packages whose code determines the facts; a change of it drops them."""
_DATABASE: Final = CacheDatabase(
    "git",
    "git-1",
    (
        "CREATE TABLE source (name TEXT)",
        "CREATE TABLE fact (number INTEGER PRIMARY KEY, key BLOB UNIQUE, value BLOB)",
    ),
    GIT_FACTS,
)
_MAX_BYTES: Final = 64 << 20
"""Bytes of the database from which on its older half is dropped: about 30,000 blamed files."""
_MAX_VALUE: Final = 4 << 20
"""Bytes of the largest fact that is kept."""
_MAX_MEMORY_PAGES: Final = 1 << 13
"""Pages of 4 KiB of a database in memory; one that is full is replaced by an empty one."""


class GitCache:
    """The facts of one repository; thread-safe.

    Args:
        root: The top folder of the work tree; None to keep them in memory only.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = root
        self._lock = threading.RLock()
        self._database: sqlite3.Connection | None = None

    def use_saved(self, root: Path) -> None:
        """Use what was saved about a repository, and save there from now on."""
        with self._lock:
            self.close()
            self._root = root

    def get(self, key: str, kind: type[_T]) -> _T | None:
        """Return a fact; None if it is unknown.

        Args:
            key: The names of the objects that it is about, and what it says of them.
            kind: Its type.
        """
        row = self._execute("SELECT value FROM fact WHERE key = ?", _digest(key))
        return _decode(row[0], kind) if row is not None and isinstance(row[0], bytes) else None

    def put(self, key: str, value: object) -> None:
        """Add a fact."""
        try:
            encoded = zlib.compress(msgspec.msgpack.encode(value), level=1)
        except UnicodeEncodeError:  # a name that is not UTF-8
            return
        if len(encoded) <= _MAX_VALUE:
            self._execute("INSERT OR REPLACE INTO fact VALUES (NULL, ?, ?)", _digest(key), encoded)

    def close(self) -> None:
        """Close the database; it is opened again when it is needed."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _execute(self, statement: str, *values: bytes) -> tuple[Any, ...] | None:
        """Return the first row of a statement; where the database fails, of one in memory."""
        import sqlite3  # noqa: PLC0415  # a program that asks for no fact starts faster

        with self._lock:
            for _ in range(2):
                try:
                    row: tuple[Any, ...] | None = self._open().execute(statement, values).fetchone()
                except sqlite3.Error as error:
                    self._give_up(error)
                else:
                    return row
        return None

    def _open(self) -> sqlite3.Connection:
        """Return the database with the facts of this very repository, or one in memory."""
        if self._database is None:
            source = "" if self._root is None else _source(self._root)
            if self._root is not None and source:
                self._database = _DATABASE.open_shared(self._root)
            if self._database is not None:
                _set_source(self._database, source)
                _drop_oldest(self._database)
            else:
                self._database = _DATABASE.in_memory()
                self._database.execute(f"PRAGMA max_page_count = {_MAX_MEMORY_PAGES}")
        return self._database

    def _give_up(self, error: sqlite3.Error) -> None:
        """Use a new database in memory from now on; remove a damaged one."""
        import logging  # noqa: PLC0415  # this is rare, and each commit would wait for it
        import sqlite3  # noqa: PLC0415

        logging.getLogger(__name__).info("git is asked again: %s", error)
        with suppress(sqlite3.Error):
            self.close()
        self._database = None
        if self._root is not None and not isinstance(error, sqlite3.OperationalError):
            _DATABASE.remove(self._root)
        self._root = None


def digest_of(names: Iterable[str]) -> str:
    """Return what stands for names in a key; empty for none."""
    joined = "\0".join(names)
    return _digest(joined).hex() if joined else ""


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _decode(value: bytes, kind: type[_T]) -> _T | None:
    try:
        return cast("_T", _decoder(cast("Any", kind)).decode(zlib.decompress(value)))
    except (zlib.error, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


@cache
def _decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind)


def _set_source(database: sqlite3.Connection, source: str) -> None:
    """Drop the facts of another repository, or of other code."""
    if database.execute("SELECT name FROM source").fetchall() == [(source,)]:
        return
    database.execute("BEGIN IMMEDIATE")
    for table in ("fact", "source"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608  # our own names
    database.execute("INSERT INTO source VALUES (?)", (source,))
    database.execute("COMMIT")


def _drop_oldest(database: sqlite3.Connection) -> None:
    """Drop the facts that were added first, if there are too many."""
    names = ("page_count", "freelist_count", "page_size")
    pages, free, size = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    if (pages - free) * size > _MAX_BYTES:
        database.execute(
            "DELETE FROM fact WHERE number < (SELECT (min(number) + max(number)) / 2 FROM fact)"
        )


def _source(root: Path) -> str:
    """Return what identifies repository and code; empty if that fails.

    The code counts, because another version may compute other facts.

    Args:
        root: The top folder of the work tree.
    """
    try:
        marker = root.resolve() / ".git"
        status = os.lstat(marker)
        created = _created(marker)
        modules = [_modules(package) for package in _PACKAGES]
    except (OSError, RuntimeError, ValueError):
        return ""
    return digest_of(
        [repr((os.fspath(marker), status.st_dev, status.st_ino, created, __version__, modules))]
    )


def _created(marker: Path) -> tuple[int, int]:
    """Return what distinguishes a repository from a deleted one with the same inode.

    It also changes with the repository's git settings.
    """
    try:
        status = os.lstat(marker / "config")
    except OSError:  # a linked work tree or a submodule
        status = os.lstat(marker)
    return status.st_ino, status.st_ctime_ns


def _modules(package: str) -> Sequence[tuple[str, int, int]]:
    """Return the names, sizes and times of a package's modules."""
    modules: list[tuple[str, int, int]] = []
    with os.scandir(_CODE / package) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                modules.append((entry.name, status.st_size, status.st_mtime_ns))
    return sorted(modules)
