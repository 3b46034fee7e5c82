"""Where the entries of a large manifest are, in a database of the user's cache.

A manifest of 154 MB takes 0.2 s and 200 MB of memory to parse; with this, one entry is read where
it is. The offsets are those of what the whole parser read, for a file with the same inode, size and
times; the key is compared at every reading. Manifests of unusual form have none.
"""

from __future__ import annotations

import os
import re
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

import msgspec
from typing_extensions import override

from vibes_lsp.errors import OutdatedIndex, UnreadableFile
from vibes_lsp.patience import TRAIL_INDEX
from vibes_lsp.store.cache_database import CacheDatabase
from vibes_lsp.store.file_stamps import FileStamp, FileState, are_settled
from vibes_lsp.store.files import open_file
from vibes_lsp.store.manifest import EntriesOnDisk, Manifest, ManifestForm

_DATABASE: Final = CacheDatabase(
    "manifest",
    "manifest-1",
    (
        "CREATE TABLE manifest (status TEXT, standard, version)",
        "CREATE TABLE entry (number INTEGER PRIMARY KEY, digest BLOB UNIQUE, start, gap, length)",
    ),
    TRAIL_INDEX,
)
MIN_MANIFEST: Final = 4 << 20
"""Bytes of a manifest from which on its offsets are saved; a smaller one is parsed in 5 ms."""
_DIGEST: Final = 32
_is_key: Final = re.compile(r"[0-9a-f]{64}\Z").match
_is_start: Final = re.compile(r"[0-9a-f]{0,64}\Z").match
_COLON: Final = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*")
_MAX_GAP: Final = 4096
"""Most bytes from the start of a key to its value."""


Rows: TypeAlias = list[tuple[bytes, int, int, int]]
"""Digest and place of entries: where the key starts, the distance of the value, its length."""


class SavedEntries(EntriesOnDisk):
    """The entries of an open manifest.

    Args:
        file: The manifest; what is read stays that of this file when another one replaces it.
        database: The database, in a read transaction.
    """

    def __init__(self, file: BinaryIO, database: sqlite3.Connection) -> None:
        self._database = database
        self._is_outdated = False
        self._file = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._file)
        weakref.finalize(self, database.close)
        self._status = _status(self._file)

    @property
    @override
    def is_outdated(self) -> bool:
        return self._is_outdated

    def _rows(self, query: str, *values: object) -> list[tuple[bytes, int, int, int]]:
        """Return the rows of a query.

        Raises:
            OutdatedIndex: The database is damaged.
        """
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            self._is_outdated = True
            raise OutdatedIndex("the index of manifest.json is damaged") from error

    def _select(self, where: str, *values: object) -> list[tuple[bytes, int, int, int]]:
        return self._rows(
            f"SELECT digest, start, gap, length FROM entry {where} ORDER BY number",  # noqa: S608
            *values,
        )

    @override
    def __len__(self) -> int:
        [(count, *_)] = self._rows("SELECT count(*), 0, 0, 0 FROM entry")
        return int(count)

    @override
    def __iter__(self) -> Iterator[str]:
        return (digest.hex() for digest, *_ in self._select(""))

    @override
    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._find(key) is not None

    @override
    def __getitem__(self, key: str) -> msgspec.Raw:
        found = self._find(key)
        if found is None:
            raise KeyError(key)
        start, gap, length = found
        data = os.pread(self._file, gap + length, start)
        if (
            not data.startswith(b'"%s"' % key.encode())
            or _status(self._file)[2:4] != (self._status[2:4])
        ):
            self._is_outdated = True
            raise OutdatedIndex("manifest.json was rewritten", hint="run this again")
        return msgspec.Raw(data[gap:])

    @override
    def line_of(self, key: str) -> int | None:
        found = self._find(key)
        if found is None:
            return None
        return os.pread(self._file, found[0], 0).count(b"\n") + 1

    @override
    def with_prefix(self, prefix: str) -> list[str]:
        digits = prefix[: len(prefix) // 2 * 2]
        if not _is_start(prefix):
            return []
        low = bytes.fromhex(digits)
        found = self._select("WHERE digest >= ? AND digest < ?", low, low + b"\xff" * _DIGEST)
        return [key for digest, *_ in found if (key := digest.hex()).startswith(prefix)]

    def _find(self, key: str) -> tuple[int, int, int] | None:
        """Return where an entry starts, the distance of its value, and the length of that."""
        if not _is_key(key):
            return None
        found = self._select("WHERE digest = ?", bytes.fromhex(key))
        return found[0][1:] if found else None


def open_stored(path: Path) -> Manifest | None:
    """Return a manifest whose entries are read where they are; None if nothing is saved for it."""
    if not hasattr(os, "pread"):  # Windows
        return None
    try:
        with open_file(path) as file:
            status = _status(file.fileno())
            if status[2] < MIN_MANIFEST:
                return None
            database, _ = _DATABASE.open(path)
            database.execute("BEGIN")
            found = database.execute("SELECT status, standard, version FROM manifest").fetchone()
            if found is None or found[0] != _encoded(status):
                database.close()
                return None
            entries = SavedEntries(file, database)
    except (OSError, UnreadableFile, sqlite3.Error):
        return None
    _, standard, version = found
    return Manifest(
        ManifestForm.OBJECT,
        standard,
        version,
        stored=entries,
        file_state=FileState(settled=True),
    )


def save(path: Path, manifest: Manifest) -> bool:
    """Save where the entries of a manifest are, if it is large and as it was read.

    Returns:
        Whether they were saved.
    """
    standard, version = manifest.standard, manifest.version
    if (
        len(manifest.data) < MIN_MANIFEST
        or manifest.form != ManifestForm.OBJECT
        or not (isinstance(standard, str) and isinstance(version, str))
    ):
        return False
    read = manifest.stamps[0][1] if manifest.stamps else None
    try:
        with open_file(path) as file:
            status = _status(file.fileno())
            found = FileStamp(*status[:4])
        if read is None or found != read or not are_settled([found]):
            return False
        rows = _rows(manifest, found.size - len(manifest.data))
        if rows is None:
            return False
        database, lasts = _DATABASE.open(path)
        with closing(database):
            if lasts:
                _write(database, (_encoded(status), standard, version), rows)
    except (OSError, UnreadableFile, sqlite3.Error, UnicodeEncodeError):
        return False
    return lasts


def _write(database: sqlite3.Connection, facts: tuple[str, str, str], rows: Rows) -> None:
    database.execute("BEGIN IMMEDIATE")
    for table in ("manifest", "entry"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608  # our own names
    database.execute("INSERT INTO manifest VALUES (?, ?, ?)", facts)
    database.executemany("INSERT INTO entry VALUES (NULL, ?, ?, ?, ?)", rows)
    database.execute("COMMIT")


def _rows(manifest: Manifest, shift: int) -> Rows | None:
    """Return where each entry is; None if a key is no hash, or an entry is not where expected.

    An entry is where its key and then the bytes of its value are found, after the one before.

    Args:
        manifest: The manifest.
        shift: Bytes of the file before its data: those of a byte order mark.
    """
    data = manifest.data
    rows: Rows = []
    at = 0
    for key, raw in manifest.stored.items():
        value = bytes(raw)
        name = b'"%s"' % key.encode("utf-8", "surrogatepass")
        found = _find_value(data, name, value, at) if _is_key(key) else None
        if found is None:
            return None
        start, begin = found
        rows.append((bytes.fromhex(key), start + shift, begin - start, len(value)))
        at = begin + len(value)
    return rows


def _find_value(data: bytes, name: bytes, value: bytes, at: int) -> tuple[int, int] | None:
    """Return where a name followed by a value starts, and where the value does."""
    start = data.find(name, at)
    while start >= 0:
        colon = _COLON.match(data, start + len(name))
        if colon is not None and data.startswith(value, colon.end()):
            return (start, colon.end()) if colon.end() - start < _MAX_GAP else None
        start = data.find(name, start + 1)
    return None


def _status(file: int) -> tuple[int, int, int, int, int]:
    status = os.fstat(file)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _encoded(status: tuple[int, ...]) -> str:
    return " ".join(map(str, status))
