"""The SQLite database of an index: in the user's cache, else in memory.

A repository cannot ship it. One of another version, or that is broken, is made again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

from vibes_lsp.patience import KNOWLEDGE_INDEX
from vibes_lsp.store.user_cache import cache_subfolder

_logger = logging.getLogger(__name__)

_TABLES: Final = (
    """CREATE TABLE object (
        row INTEGER PRIMARY KEY, kind, name, id, stamp, digest, fault,
        UNIQUE (kind, name)
    )""",
    # Apart from `object`, whose rows are all read when a server starts.
    "CREATE TABLE members (row INTEGER PRIMARY KEY, members)",
    "CREATE VIRTUAL TABLE content USING fts5(first, second, third, tokenize='{tokenizer}')",
)
_FORMAT: Final = 3
"""The number of these tables; a database with another one is made again."""
_TOKENIZERS: Final = {True: "porter unicode61", False: "unicode61"}
_FOLDER: Final = "knowledge"
_MAX_DATABASES: Final = 32
"""How many databases the cache keeps; those that were used last."""


def open_database(knowledge: Path, *, stems: bool) -> sqlite3.Connection:
    """Open the database of a knowledge base in the user's cache; without a cache, one in memory.

    Args:
        knowledge: The folder `.vouch`.
        stems: Whether words match in their other forms.
    """
    path = _database_path(knowledge)
    for _ in range(2 if path is not None else 0):
        try:
            return connect(str(path), stems=stems)
        except sqlite3.Error as error:
            _logger.info("the index is made again: %s", error)
            if isinstance(error, sqlite3.OperationalError):  # another program has it
                break
            remove_database(knowledge)
    return connect(":memory:", stems=stems)


def connect(path: str, *, stems: bool) -> sqlite3.Connection:
    """Open a database, and create its tables unless they are there.

    Raises:
        sqlite3.Error: It is broken, or another program has it.
    """
    connection = sqlite3.connect(path, timeout=KNOWLEDGE_INDEX.limit, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        _make_tables(connection, stems=stems)
    except BaseException:
        connection.close()
        raise
    return connection


def remove_database(knowledge: Path) -> None:
    """Remove the database of a knowledge base from the cache."""
    path = _database_path(knowledge)
    if path is not None:
        _remove(path)


def _make_tables(connection: sqlite3.Connection, *, stems: bool) -> None:
    """Create the tables; again if they are of another version or for another tokenizer."""
    number = _FORMAT * 2 + stems
    if connection.execute("PRAGMA user_version").fetchone() == (number,):
        return
    connection.execute("BEGIN IMMEDIATE")
    for name in ("object", "members", "content"):
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in _TABLES:
        connection.execute(statement.format(tokenizer=_TOKENIZERS[stems]))
    connection.execute(f"PRAGMA user_version = {number}")
    connection.execute("COMMIT")


def _database_path(knowledge: Path) -> Path | None:
    folder = cache_subfolder(_FOLDER)
    if folder is None:
        return None
    try:
        name = hashlib.sha256(os.fsencode(knowledge.resolve())).hexdigest()[:32]
    except (OSError, RuntimeError):
        return None
    path = folder / f"{name}.db"
    if not path.exists():
        _remove_oldest(folder)
    return path


def _remove_oldest(folder: Path) -> None:
    with suppress(OSError):
        databases = sorted(folder.glob("*.db"), key=lambda each: each.stat().st_mtime_ns)
        for path in databases[: 1 - _MAX_DATABASES]:
            _remove(path)


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + ending).unlink(missing_ok=True)
