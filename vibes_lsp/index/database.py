"""`audit.db` (RFC 7.8): a SQLite database of the whole trail, derived, for SQL. Never believed, never changed, only made anew.

It is made beside its place and put there in one step. `source_of` says what it was made of, so that one that came from
elsewhere, through git for example, is known for what it is.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vibes_lsp.errors import BrokenBlob, RefusedWrite
from vibes_lsp.history.repository import is_tracked, open_repository
from vibes_lsp.index.columns import Kind
from vibes_lsp.index.records import LogRecord, read_edge
from vibes_lsp.index.tables import ENTRIES, RECORDS, indexes, insertion, row, statements
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import Members, text
from vibes_lsp.store.disk import signature
from vibes_lsp.store.durability import flush_file, refusal, replace
from vibes_lsp.store.folders import make_hidden_folder
from vibes_lsp.store.housekeeping import ignores_database
from vibes_lsp.store.journal import journal_files
from vibes_lsp.store.layout import AuditDir
from vibes_lsp.store.reasoning import reasoning_text

LAYOUT: Final = 2
"""Grows with every change of the tables."""
_SOURCE: Final = "CREATE TABLE made_of (source TEXT)"


@dataclass(frozen=True, slots=True)
class Built:
    """What a database holds: rows by table."""

    path: Path
    rows: dict[str, int]


def source_of(directory: AuditDir) -> str:
    """Return what identifies the files of a trail on this machine as they are now; another copy of them has another."""
    paths = (directory.log, directory.manifest, *journal_files(directory))
    found = [(path.name, signature(path)) for path in paths]
    return json.dumps([LAYOUT, *((name, *(str(each and getattr(each, part)) for part in _PARTS)) for name, each in found)])


_PARTS: Final = ("device", "inode", "size", "modified_ns")


def build(directory: AuditDir) -> Built:
    """Make `audit.db` anew.

    Raises:
        RefusedWrite: Git would take it along, or it cannot be written; an older one is as it was.
        UnreadableFile: The log cannot be read.
    """
    _refuse_where_git_takes_it(directory)
    path = directory.database
    make_hidden_folder(directory.journal)
    temporary = directory.journal / f"{path.name}.{os.urandom(8).hex()}"  # not `.tmp`: a fold clears those away
    try:
        with closing(sqlite3.connect(temporary)) as connection:
            rows = fill(connection, directory)
        flush_file(temporary)
    except (OSError, sqlite3.Error) as error:
        temporary.unlink(missing_ok=True)
        raise refusal(path, error if isinstance(error, OSError) else OSError(0, str(error))) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    replace(temporary, path)
    return Built(path, rows)


def _refuse_where_git_takes_it(directory: AuditDir) -> None:
    """Refuse to write a database that a commit could contain: git itself says so, where the trail lies in a work tree."""
    path = directory.database
    repository = open_repository(directory.project)
    if repository is not None and is_tracked(path):
        raise RefusedWrite(
            f"git tracks {path}, which is derived and must never be committed",
            hint=f"run `git rm --cached {path.name}` in {directory.path}; nothing was written",
        )
    ignored = ignores_database(directory) if repository is None else repository.ignores(path)
    if not ignored:
        raise RefusedWrite(
            f"git does not ignore {path}, which must never be committed",
            hint="run `vibes init`, which adds the missing line to .ai-audit/.gitignore; nothing was written",
        )


def fill(connection: sqlite3.Connection, directory: AuditDir) -> dict[str, int]:
    """Make the tables in an empty database and return how many rows each has.

    Raises:
        UnreadableFile: The log cannot be read.
        sqlite3.Error: The database cannot be written.
    """
    source = source_of(directory)
    trail = Trail(directory)
    trail.refresh()
    if trail.log.problem is not None:
        raise trail.log.problem
    connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
    for statement in (_SOURCE, *statements()):
        connection.execute(statement)
    _add_entries(connection, trail)
    _add_records(connection, trail)
    for statement in indexes():
        connection.execute(statement)
    connection.execute("INSERT INTO made_of VALUES (?)", (source,))
    connection.commit()
    tables = [table for table, _ in (*RECORDS.values(), *ENTRIES.values())]
    return {table: connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in tables}  # noqa: S608  # our own names


def _add_records(connection: sqlite3.Connection, trail: Trail) -> None:
    standing = _standing(trail)
    for kind, (table, columns) in RECORDS.items():
        rows = (row(columns, {**_members(record), **standing.get(record.id, {})}) for record in trail.log.of_kind(Kind[kind.upper()]))
        connection.executemany(insertion(table, columns), rows)


def _standing(trail: Trail) -> dict[str, Members]:
    """Return, for every annotation by its id, the edit that it belongs to and whether it speaks for it."""
    return {
        member.id: {"lineage_id": lineage.first.id, "is_current": int(member.id == lineage.current.id and not lineage.superseded_by)}
        for lineage in trail.lineages()
        for member in lineage.members
    }


def _members(record: LogRecord) -> Members:
    members: Members = {**record.members, "annotation_id": record.id, "log_line": record.line}
    if record.type == "edge":  # the ends have two names (R5)
        edge = read_edge(record)
        members |= {"source_ref": edge.source, "source_type": edge.source_type, "target_ref": edge.target, "target_type": edge.target_type}
    return members


def _add_entries(connection: sqlite3.Connection, trail: Trail) -> None:
    for key, entry in _entries(trail):
        kind = text(entry, "type") or ""
        if kind in ENTRIES:
            table, columns = ENTRIES[kind]
            connection.execute(insertion(table, columns), row(columns, {**entry, "hash": key}))


def _entries(trail: Trail) -> Iterator[tuple[str, Members]]:
    for key in trail.manifest:
        entry = trail.manifest.entry(key)
        if entry is None:
            continue
        if text(entry, "type") == "reasoning":
            entry = {**entry, "reasoning_text": _reasoning(entry, trail.directory)}
        yield key, entry


def _reasoning(entry: Members, directory: AuditDir) -> str | None:
    try:
        return reasoning_text(entry, directory)
    except BrokenBlob:
        return None
