"""Build `audit.db` (RFC 7.8): a SQLite database of the whole trail, derived, for SQL. It is never trusted and never updated, only rebuilt."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from vibes_lsp.errors import BrokenBlob, RefusedWrite
from vibes_lsp.history.repository import is_tracked, open_repository
from vibes_lsp.index.log_columns import LogLineKind
from vibes_lsp.index.records import LogRecord, read_edge
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import JsonValue, Members, text
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

SqlValue: TypeAlias = str | int | float | None

_ANNOTATION: Final = (
    "file_path", "environment_hash", "command_hash", "prompt_hash", "reasoning_hash", "decision_hash", "action", "timestamp",
    "commit_hash", "session_id", "assurance_level", "annotation_id", "anchor_context", "anchor_hash", "file_content_hash",
    "risk_score", "risk_factors",
)  # fmt: skip
STANDING: Final = ("log_line", "lineage_id", "is_current")
"""Columns of annotations that are no members: the line of the log, the id of the edit's first record, and whether this record
speaks for the edit now and no other edit has replaced it, by what the log says (R7)."""

RECORDS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "line": ("line_annotations", ("line_start", "line_end", *_ANNOTATION, *STANDING)),
    "function": ("function_annotations", ("function_name", "function_signature", *_ANNOTATION, *STANDING)),
    "session": (
        "sessions",
        (
            "session_id", "event", "timestamp", "environment_hash", "assurance_level", "description", "parent_session_id", "agent_name",
            "agent_type", "annotation_id",
        ),
    ),
    "edge": (
        "edges",
        (
            "edge_type", "source_ref", "source_type", "target_ref", "target_type", "timestamp", "session_id", "metadata", "annotation_id",
        ),
    ),
    "delegation": (
        "delegations",
        (
            "parent_session_id", "child_session_id", "timestamp", "task_description", "delegated_files", "delegation_type",
            "parent_environment_hash", "child_environment_hash", "annotation_id",
        ),
    ),
}  # fmt: skip
"""Table and columns by the type of a record; `annotation_id` is the key."""

ENTRIES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "environment": (
        "environments",
        ("hash", "tool_name", "tool_version", "model_name", "model_version", "model_parameters", "tool_extensions", "created_at"),
    ),
    "prompt": ("prompts", ("hash", "prompt_text", "prompt_type", "prompt_context_files", "created_at")),
    "command": (
        "commands",
        (
            "hash", "command_text", "command_type", "command_exit_code", "command_output_summary", "working_directory", "created_at",
        ),
    ),
    "reasoning": (
        "reasoning",
        (
            "hash", "reasoning_text", "reasoning_token_count", "reasoning_model", "compressed", "external", "blob_path", "created_at",
        ),
    ),
    "decision": (
        "decisions",
        ("hash", "decision_point", "options", "selected", "rationale", "confidence", "created_at"),
    ),
}  # fmt: skip
"""Table and columns by the type of a context entry; `hash` is the key."""

INDEXED: Final[Mapping[str, tuple[str, ...]]] = {
    "line_annotations": (
        "file_path",
        "environment_hash",
        "prompt_hash",
        "timestamp",
        "session_id",
        "commit_hash",
    ),
    "function_annotations": ("file_path", "function_name"),
    "sessions": ("session_id",),
    "edges": ("source_ref", "target_ref"),
}
TYPE: Final = "type"
"""The first column of every table: the standard's queries name it (RFC 10.2)."""
_NUMBERS: Final = frozenset(
    {
        "line_start",
        "line_end",
        "risk_score",
        "command_exit_code",
        "reasoning_token_count",
        *STANDING,
    }
    - {"lineage_id"}
)
_MAX_INTEGER: Final = 1 << 63


def statements() -> list[str]:
    """Return the statements that make the tables."""
    made = []
    for table, members in (*RECORDS.values(), *ENTRIES.values()):
        columns = (TYPE, *members)
        key = "hash" if "hash" in columns else "annotation_id"
        defined = (
            f"{column} {'NUMERIC' if column in _NUMBERS else 'TEXT'}{' PRIMARY KEY' if column == key else ''}"
            for column in columns
        )
        made.append(f"CREATE TABLE {table} ({', '.join(defined)})")
    return made


def indexes() -> list[str]:
    """Return the statements that make the indexes; quicker once the rows are there."""
    return [
        f"CREATE INDEX {table}_{column} ON {table} ({column})"
        for table, columns in INDEXED.items()
        for column in columns
    ]


def insertion(table: str, columns: Iterable[str]) -> str:
    """Return the statement that adds a row; of two with one key the first stays (R3)."""
    names = (TYPE, *columns)
    return (
        f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608  # our own names
    )


def row(columns: Iterable[str], members: Members) -> tuple[SqlValue, ...]:
    """Return the values of a row."""
    return tuple(_value(members.get(column)) for column in (TYPE, *columns))


def _value(value: JsonValue) -> SqlValue:
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and not -_MAX_INTEGER <= value < _MAX_INTEGER:
        value = str(value)
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


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
    found = [(path.name, file_signature(path)) for path in paths]
    return json.dumps(
        [
            LAYOUT,
            *(
                (name, *(str(each and getattr(each, part)) for part in _PARTS))
                for name, each in found
            ),
        ]
    )


_PARTS: Final = ("device", "inode", "size", "modified_ns")


def build(directory: AuditDir) -> Built:
    """Make `audit.db` anew.

    Raises:
        RefusedWrite: Git would take it along, or it cannot be written; an older one is as it was.
        UnreadableFile: The log cannot be read.
    """
    _refuse_where_git_takes_it(directory)
    path = directory.database
    make_ignored_folder(directory.journal)
    temporary = (
        directory.journal / f"{path.name}.{os.urandom(8).hex()}"
    )  # not `.tmp`: a fold clears those away
    try:
        with closing(sqlite3.connect(temporary)) as connection:
            rows = fill(connection, directory)
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
    ignored = ignores_database(directory) if repository is None else repository.is_ignored(path)
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
    return {table: _count(connection, table) for table in tables}


def _count(connection: sqlite3.Connection, table: str) -> int:
    query = f"SELECT COUNT(*) FROM {table}"  # noqa: S608  # our own names
    [count] = connection.execute(query).fetchone()
    return int(count)


def _add_records(connection: sqlite3.Connection, trail: Trail) -> None:
    standing = _standing(trail)
    for kind, (table, columns) in RECORDS.items():
        rows = (
            row(columns, {**_members(record), **standing.get(record.id, {})})
            for record in trail.log.records_of(LogLineKind[kind.upper()])
        )
        connection.executemany(insertion(table, columns), rows)


def _standing(trail: Trail) -> dict[str, Members]:
    """Return, for every annotation by its id, the edit that it belongs to and whether it speaks for it."""
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
    if record.type == "edge":  # the ends have two names (R5)
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
