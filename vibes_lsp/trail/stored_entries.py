"""Where the entries of a large manifest are, in a database of the user's cache.

A manifest of 154 MB takes 0.2 s and 200 MB of memory to parse; with this, one entry is read where
it is. The offsets are those of what the whole parser read, for a file with the same inode, size and
time. Manifests of unusual form have none.
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
from vibes_lsp.store.file_stamps import FileStamp, FileState, are_settled, stamp_of
from vibes_lsp.store.files import open_file
from vibes_lsp.store.manifest import EntriesOnDisk, Manifest, ManifestForm

_DATABASE: Final = CacheDatabase(
    "manifest",
    "manifest-2",
    (
        "CREATE TABLE manifest (stamp TEXT, standard, version)",
        "CREATE TABLE entry (number INTEGER PRIMARY KEY, digest BLOB UNIQUE, start, length)",
    ),
    TRAIL_INDEX,
)
MIN_MANIFEST: Final = 4 << 20
"""Bytes of a manifest from which on its offsets are saved; a smaller one is parsed in 5 ms."""
_DIGEST: Final = 32
_is_key: Final = re.compile(r"[0-9a-f]{64}\Z").match
_is_start: Final = re.compile(r"[0-9a-f]{0,64}\Z").match

Rows: TypeAlias = list[tuple[bytes, int, int]]
"""Digest, start and length of the values of entries."""


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
        self._stamp = stamp_of(os.fstat(self._file))

    @property
    @override
    def is_outdated(self) -> bool:
        return self._is_outdated

    def _select(self, where: str = "", *values: object) -> Rows:
        """Return the rows of some entries.

        Raises:
            OutdatedIndex: The database is damaged.
        """
        query = f"SELECT digest, start, length FROM entry {where} ORDER BY number"  # noqa: S608
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            self._is_outdated = True
            raise OutdatedIndex("the index of manifest.json is damaged") from error

    @override
    def __len__(self) -> int:
        return len(self._select())

    @override
    def __iter__(self) -> Iterator[str]:
        return (digest.hex() for digest, *_ in self._select())

    @override
    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._find(key) is not None

    @override
    def __getitem__(self, key: str) -> msgspec.Raw:
        place = self._find(key)
        if place is None:
            raise KeyError(key)
        start, length = place
        entry = os.pread(self._file, length, start)
        if stamp_of(os.fstat(self._file)) != self._stamp:
            self._is_outdated = True
            raise OutdatedIndex("manifest.json was rewritten", hint="run this again")
        return msgspec.Raw(entry)

    @override
    def line_of(self, key: str) -> int | None:
        place = self._find(key)
        return None if place is None else os.pread(self._file, place[0], 0).count(b"\n") + 1

    @override
    def with_prefix(self, prefix: str) -> list[str]:
        if not _is_start(prefix):
            return []
        low = bytes.fromhex(prefix[: len(prefix) // 2 * 2])
        rows = self._select("WHERE digest >= ? AND digest < ?", low, low + b"\xff" * _DIGEST)
        return [key for digest, *_ in rows if (key := digest.hex()).startswith(prefix)]

    def _find(self, key: str) -> tuple[int, int] | None:
        """Return start and length of an entry."""
        rows = self._select("WHERE digest = ?", bytes.fromhex(key)) if _is_key(key) else None
        return rows[0][1:] if rows else None


def open_stored(path: Path) -> Manifest | None:
    """Return a manifest whose entries are read where they are; None if nothing is saved for it."""
    if not hasattr(os, "pread"):  # Windows
        return None
    try:
        with open_file(path) as file:
            stamp = stamp_of(os.fstat(file.fileno()))
            if stamp.size < MIN_MANIFEST:
                return None
            database, _ = _DATABASE.open(path)
            database.execute("BEGIN")
            row = database.execute("SELECT stamp, standard, version FROM manifest").fetchone()
            if row is None or row[0] != _encoded(stamp):
                database.close()
                return None
            entries = SavedEntries(file, database)
    except (OSError, UnreadableFile, sqlite3.Error):
        return None
    _, standard, version = row
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
    try:
        with open_file(path) as file:
            stamp = stamp_of(os.fstat(file.fileno()))
        if not manifest.stamps or stamp != manifest.stamps[0][1] or not are_settled([stamp]):
            return False
        rows = _rows(manifest, stamp.size - len(manifest.data))
        if rows is None:
            return False
        database, lasts = _DATABASE.open(path)
        with closing(database):
            if lasts:
                _write(database, (_encoded(stamp), standard, version), rows)
    except (OSError, UnreadableFile, sqlite3.Error, UnicodeEncodeError):
        return False
    return lasts


def _write(database: sqlite3.Connection, facts: tuple[str, str, str], rows: Rows) -> None:
    database.execute("BEGIN IMMEDIATE")
    for table in ("manifest", "entry"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608  # our own names
    database.execute("INSERT INTO manifest VALUES (?, ?, ?)", facts)
    database.executemany("INSERT INTO entry VALUES (NULL, ?, ?, ?)", rows)
    database.execute("COMMIT")


def _rows(manifest: Manifest, shift: int) -> Rows | None:
    """Return where each entry is; None if a key is no hash, or they are in another order.

    Args:
        manifest: The manifest.
        shift: Bytes of the file before its data: those of a byte order mark.
    """
    rows: Rows = []
    at = 0
    for key, raw in manifest.stored.items():
        value = bytes(raw)
        start = manifest.data.find(value, at) if _is_key(key) else -1
        if start < 0:
            return None
        rows.append((bytes.fromhex(key), start + shift, len(value)))
        at = start + len(value)
    return rows


def _encoded(stamp: FileStamp) -> str:
    return " ".join(map(str, stamp))  # parts may have 64 bits
