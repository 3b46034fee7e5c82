"""Build `audit.db` from a trail. It is derived data: never trusted, never updated, only rebuilt."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vibes_lsp.database.schema import (
    CREATE_SOURCE,
    ENTRIES,
    RECORDS,
    SCHEMA_VERSION,
    create_indexes,
    create_tables,
    insert_statement,
    row_values,
)
from vibes_lsp.errors import BrokenBlob, RefusedWrite
from vibes_lsp.history.repository import is_tracked, open_repository
from vibes_lsp.index.log_columns import LogLineKind
from vibes_lsp.index.records import LogRecord, read_edge
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import Members, text
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import (
    file_signature,
    flush_file,
    make_ignored_folder,
    replace_file,
    write_error,
)
from vibes_lsp.store.initialise import ignores_database
from vibes_lsp.store.journal import journal_files
from vibes_lsp.store.reasoning import reasoning_text


@dataclass(frozen=True, slots=True)
class BuiltDatabase:
    """A database and its numbers of rows by table."""

    path: Path
    rows: dict[str, int]


def source_signature(directory: AuditDir) -> str:
    """Return what identifies the current files of a trail; a copy of them has another signature."""
    paths = (directory.log, directory.manifest, *journal_files(directory))
    found = [(path.name, file_signature(path)) for path in paths]
    return json.dumps(
        [
            SCHEMA_VERSION,
            *(
                (name, *(str(each and getattr(each, part)) for part in _SIGNATURE_PARTS))
                for name, each in found
            ),
        ]
    )


_SIGNATURE_PARTS: Final = ("device", "inode", "size", "modified_ns")


def build_database(directory: AuditDir) -> BuiltDatabase:
    """Build `audit.db` in place of an older one.

    Raises:
        RefusedWrite: Git tracks it or does not ignore it, or it cannot be written; an older
            database stays as it was.
        UnreadableFile: The log cannot be read.
    """
    _refuse_unless_ignored(directory)
    path = directory.database
    make_ignored_folder(directory.journal)
    temporary = (
        directory.journal / f"{path.name}.{os.urandom(8).hex()}"
    )  # not `.tmp`: a fold deletes those
    try:
        with closing(sqlite3.connect(temporary)) as connection:
            rows = fill_tables(connection, directory)
        flush_file(temporary)
    except (OSError, sqlite3.Error) as error:
        temporary.unlink(missing_ok=True)
        raise write_error(
            path, error if isinstance(error, OSError) else OSError(0, str(error))
        ) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    replace_file(temporary, path)
    return BuiltDatabase(path, rows)


def _refuse_unless_ignored(directory: AuditDir) -> None:
    """Raise `RefusedWrite` if a commit could contain the database."""
    path = directory.database
    repository = open_repository(directory.project)
    if repository is not None and is_tracked(path):
        raise RefusedWrite(
            f"git tracks {path}, which is derived and must never be committed",
            hint=f"run `git rm --cached {path.name}` in {directory.path}; nothing was written",
        )
    ignored = ignores_database(directory) if repository is None else repository.is_ignored(path)
    if not ignored:
        raise RefusedWrite(
            f"git does not ignore {path}, which must never be committed",
            hint="run `vibes init`, which adds the missing line to .ai-audit/.gitignore;"
            " nothing was written",
        )


def fill_tables(connection: sqlite3.Connection, directory: AuditDir) -> dict[str, int]:
    """Create and fill the tables of an empty database, and return their numbers of rows.

    Raises:
        UnreadableFile: The log cannot be read.
        sqlite3.Error: The database cannot be written.
    """
    source = source_signature(directory)
    trail = Trail(directory)
    trail.refresh()
    if trail.log.problem is not None:
        raise trail.log.problem
    connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
    for statement in (CREATE_SOURCE, *create_tables()):
        connection.execute(statement)
    _add_entries(connection, trail)
    _add_records(connection, trail)
    for statement in create_indexes():
        connection.execute(statement)
    connection.execute("INSERT INTO made_of VALUES (?)", (source,))
    connection.commit()
    tables = [table for table, _ in (*RECORDS.values(), *ENTRIES.values())]
    return {table: _count(connection, table) for table in tables}


def _count(connection: sqlite3.Connection, table: str) -> int:
    query = f"SELECT COUNT(*) FROM {table}"  # noqa: S608  # our own names
    [count] = connection.execute(query).fetchone()
    return int(count)


def _add_records(connection: sqlite3.Connection, trail: Trail) -> None:
    lineage_values = _lineage_values(trail)
    for kind, (table, columns) in RECORDS.items():
        rows = (
            row_values(columns, {**_members(record), **lineage_values.get(record.id, {})})
            for record in trail.log.records_of(LogLineKind[kind.upper()])
        )
        connection.executemany(insert_statement(table, columns), rows)


def _lineage_values(trail: Trail) -> dict[str, Members]:
    """Return the derived columns of each annotation: its lineage, and whether it is current."""
    return {
        member.id: {
            "lineage_id": lineage.first.id,
            "is_current": int(member.id == lineage.current.id and not lineage.superseded_by),
        }
        for lineage in trail.lineages()
        for member in lineage.members
    }


def _members(record: LogRecord) -> Members:
    members: Members = {**record.members, "annotation_id": record.id, "log_line": record.line}
    if record.type == "edge":  # ends have either of two names (R5)
        edge = read_edge(record)
        members |= {
            "source_ref": edge.source,
            "source_type": edge.source_type,
            "target_ref": edge.target,
            "target_type": edge.target_type,
        }
    return members


def _add_entries(connection: sqlite3.Connection, trail: Trail) -> None:
    for key, entry in _entries(trail):
        kind = text(entry, "type") or ""
        if kind in ENTRIES:
            table, columns = ENTRIES[kind]
            connection.execute(
                insert_statement(table, columns), row_values(columns, {**entry, "hash": key})
            )


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
