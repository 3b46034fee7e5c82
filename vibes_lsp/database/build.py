"""Build `audit.db` from a trail. It is derived data: never trusted, never updated, only rebuilt."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from vibes_lsp.database.schema import (
    CREATE_SOURCE,
    ENTRIES,
    RECORDS,
    SCHEMA_VERSION,
    VIEWS,
    create_indexes,
    create_tables,
    create_views,
    insert_statement,
    row_values,
)
from vibes_lsp.errors import BrokenBlob, RefusedWrite
from vibes_lsp.git.repository import is_tracked, open_repository
from vibes_lsp.model.members import Members, text
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import (
    flush_file,
    make_ignored_folder,
    regular_file_stamp,
    replace_file,
    write_error,
)
from vibes_lsp.store.initialise import ignores_database
from vibes_lsp.store.journal import journal_files
from vibes_lsp.store.reasoning import reasoning_text
from vibes_lsp.trail.lineage import Lineage, created_lineages
from vibes_lsp.trail.lineage_groups import LineageGroups, build_group
from vibes_lsp.trail.records import LogRecord, read_edge
from vibes_lsp.trail.rows import LogLineKind
from vibes_lsp.trail.trail import Trail

_SIDE_FILES: Final = ("-journal", "-wal", "-shm")
"""What SQLite leaves beside a database; with a new one it would be applied to that."""
_LEFT_BEHIND: Final = 3600
"""Seconds after which the temporary file of a build belongs to one that was killed."""
_BATCH: Final = 4_096
_PAGES: Final = -64 << 10
"""KiB of pages that SQLite keeps in memory: keys are random, so each row touches several."""

Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class BuiltDatabase:
    """A database and its numbers of rows by table."""

    path: Path
    rows: dict[str, int]


def source_signature(directory: AuditDir) -> str:
    """Return what identifies the current files of a trail; a copy of them has another signature."""
    paths = (directory.log, directory.manifest, *journal_files(directory))
    stamps = [(path.name, regular_file_stamp(path)) for path in paths]
    return json.dumps(
        [
            SCHEMA_VERSION,
            *((name, *map(str, stamp or ())) for name, stamp in stamps),
        ]
    )


def build_database(
    directory: AuditDir, progress: Progress = lambda _done, _total: None
) -> BuiltDatabase:
    """Build `audit.db` in place of an older one.

    Args:
        directory: The audit directory.
        progress: Called with the number of records that were added, and of all.

    Raises:
        RefusedWrite: Git tracks it or does not ignore it, or it cannot be written; an older
            database stays as it was.
        UnreadableFile: The log cannot be read.
    """
    _refuse_unless_ignored(directory)
    path = directory.database
    make_ignored_folder(directory.journal)
    _remove_left_behind(directory)
    temporary = (
        directory.journal / f"{path.name}.{os.urandom(8).hex()}"
    )  # not `.tmp`: a fold deletes those
    modified_ns = int(time.time()) // 2 * 2 * 10**9  # a time that every file system can keep
    try:
        with closing(sqlite3.connect(temporary)) as connection:
            rows = fill_tables(connection, directory, modified_ns, progress)
        flush_file(temporary)
        os.utime(temporary, ns=(modified_ns, modified_ns))
        for suffix in _SIDE_FILES:
            path.with_name(path.name + suffix).unlink(missing_ok=True)
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


def _remove_left_behind(directory: AuditDir) -> None:
    """Remove the temporary files of builds that were killed."""
    with suppress(OSError):
        for path in directory.journal.glob(f"{directory.database.name}.*"):
            if time.time() - path.stat().st_mtime > _LEFT_BEHIND:
                path.unlink()


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


def fill_tables(
    connection: sqlite3.Connection,
    directory: AuditDir,
    modified_ns: int = 0,
    progress: Progress = lambda _done, _total: None,
) -> dict[str, int]:
    """Create and fill the tables of an empty database; return the rows of tables and views.

    Args:
        connection: The database.
        directory: The audit directory.
        modified_ns: The time that its file will have; another one shows that it was changed.
        progress: As for `build_database`.

    Raises:
        UnreadableFile: The log cannot be read.
        sqlite3.Error: The database cannot be written.
    """
    source = source_signature(directory)
    trail = Trail(directory)
    trail.refresh()
    if trail.log.problem is not None:
        raise trail.log.problem
    connection.executescript(
        f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = {_PAGES};"
    )
    for statement in (CREATE_SOURCE, *create_tables(), *create_views()):
        connection.execute(statement)
    _add_entries(connection, trail)
    _add_records(connection, _records(trail), lambda done: progress(done, trail.line_count))
    for statement in create_indexes():
        connection.execute(statement)
    connection.execute("INSERT INTO made_of VALUES (?, ?)", (source, modified_ns))
    connection.commit()
    tables = [table for table, _ in (*RECORDS.values(), *ENTRIES.values())]
    return {table: _count(connection, table) for table in (*VIEWS, *tables)}


def _count(connection: sqlite3.Connection, table: str) -> int:
    query = f"SELECT COUNT(*) FROM {table}"  # noqa: S608  # our own names
    [count] = connection.execute(query).fetchone()
    return int(count)


def _add_records(
    connection: sqlite3.Connection, records: Iterable[Members], progress: Callable[[int], None]
) -> None:
    add = {
        kind: (partial(connection.execute, insert_statement(table, columns)), columns)
        for kind, (table, columns) in RECORDS.items()
    }
    for number, members in enumerate(records):
        execute, columns = add[str(members["type"])]
        execute(row_values(columns, members))
        if number % _BATCH == 0:
            progress(number)


def _records(trail: Trail) -> Iterator[Members]:
    """Yield all records, of which some thousands are decoded at a time."""
    log, groups = trail.log, LineageGroups(trail.log, with_history=True)
    for batch in groups.joined_batches():
        yield from _annotations(build_group(log, batch, trail.nearest_commit))
    single = (
        Lineage((record,), record)
        for _, record in log.decode(groups.single_annotations())
        if isinstance(record, LogRecord)
    )
    while lineages := list(islice(single, _BATCH)):
        yield from _annotations(lineages)
    for kind in (LogLineKind.SESSION, LogLineKind.EDGE, LogLineKind.DELEGATION):
        yield from map(_members, log.records_of(kind))


def _annotations(lineages: list[Lineage]) -> Iterator[Members]:
    """Yield the records of lineages, among which are all that replace one of them."""
    creations = created_lineages(lineages)
    for lineage in lineages:
        for member in lineage.members:
            is_current = member.id == lineage.current.id and not lineage.superseded_by
            yield {
                **_members(member),
                "lineage_id": lineage.first.id,
                "is_current": int(is_current),
                "edit_action": lineage.action or None,
                "is_creation": int(lineage.first.id in creations),
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
