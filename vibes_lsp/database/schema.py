"""The SQL schema of `audit.db`: its tables, views, columns and indexes (RFC 7.8, 10.3).

The columns of records are the members of `model.record_schema`.

The tables of annotations have every record, and end in `_all`. The views without that ending have
the current annotations, so that the queries of the standard are right as they are printed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.record_schema import RECORD_SCHEMAS, MemberType
from vibes_lsp.model.vocabulary import Action, RecordType

SqlValue: TypeAlias = str | int | float | None

SCHEMA_VERSION: Final = 4
"""Increased with every change of the tables."""
CREATE_SOURCE: Final = "CREATE TABLE made_of (source TEXT, modified_ns INTEGER)"
"""The table that identifies the files from which a database was built, and its own file."""
DERIVED_COLUMNS: Final = ("log_line", "lineage_id", "is_current", "edit_action", "is_creation")
"""Columns of annotations that are not members of records: the line of the log, the id of the first
record of the edit, whether the record is current and not history, by the log alone (R7), what the
edit did, which `action` does not say after a remap, and whether its lines were created by an AI: it
created them, or replaced a creation as a whole."""
_VIEW_ACTION: Final = f"CASE WHEN is_creation THEN '{Action.CREATE}' ELSE edit_action END"
"""A sum over creations is only right if what replaced one as a whole counts in its place."""

_TABLES: Final = {
    RecordType.LINE: "line_annotations_all",
    RecordType.FUNCTION: "function_annotations_all",
    RecordType.SESSION: "sessions",
    RecordType.EDGE: "edges",
    RecordType.DELEGATION: "delegations",
}
_OF_ANNOTATIONS: Final = frozenset({RecordType.LINE, RecordType.FUNCTION})
RECORDS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    kind: (
        table,
        (
            *RECORD_SCHEMAS[kind].names(),
            *(DERIVED_COLUMNS if kind in _OF_ANNOTATIONS else ()),
        ),
    )
    for kind, table in _TABLES.items()
}
"""Table and columns by the type of a record; `annotation_id` is the primary key."""

ENTRIES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "environment": (
        "environments",
        (
            "hash", "tool_name", "tool_version", "model_name", "model_version",
            "model_parameters", "tool_extensions", "created_at",
        ),
    ),
    "prompt": (
        "prompts",
        ("hash", "prompt_text", "prompt_type", "prompt_context_files", "created_at"),
    ),
    "command": (
        "commands",
        (
            "hash", "command_text", "command_type", "command_exit_code",
            "command_output_summary", "working_directory", "created_at",
        ),
    ),
    "reasoning": (
        "reasoning",
        (
            "hash", "reasoning_text", "reasoning_token_count", "reasoning_model", "compressed",
            "external", "blob_path", "created_at",
        ),
    ),
    "decision": (
        "decisions",
        (
            "hash", "decision_point", "options", "selected", "rationale", "confidence",
            "created_at",
        ),
    ),
}  # fmt: skip
"""Table and columns by the type of a context entry; `hash` is the primary key."""

VIEWS: Final = {
    table.removesuffix("_all"): (table, columns)
    for table, columns in RECORDS.values()
    if table.endswith("_all")
}
"""The views of current annotations, each with its table and the columns of that."""

INDEXED: Final[Mapping[str, tuple[str, ...]]] = {
    "line_annotations_all": (
        "file_path",
        "environment_hash",
        "prompt_hash",
        "timestamp",
        "session_id",
        "commit_hash",
    ),
    "function_annotations_all": ("file_path", "function_name"),
    "sessions": ("session_id",),
    "edges": ("source_ref", "target_ref"),
}
TYPE: Final = "type"
"""The first column of every table, which the queries of the standard name (RFC 10.2)."""
_NUMBER_TYPES: Final = frozenset({MemberType.LINE, MemberType.FRACTION, MemberType.BOOLEAN})
_NUMBERS: Final = frozenset(
    {
        *(
            member.name
            for schema in RECORD_SCHEMAS.values()
            for member in schema.members
            if member.type in _NUMBER_TYPES
        ),
        "command_exit_code",
        "reasoning_token_count",
        "log_line",
        "is_current",
        "is_creation",
    }
)
_MAX_INTEGER: Final = 1 << 63


def create_tables() -> list[str]:
    """Return the `CREATE TABLE` statements."""
    statements = []
    for table, members in (*RECORDS.values(), *ENTRIES.values()):
        columns = (TYPE, *members)
        key = "hash" if "hash" in columns else "annotation_id"
        definitions = ", ".join(
            f"{column} {'NUMERIC' if column in _NUMBERS else 'TEXT'}"
            + (" PRIMARY KEY" if column == key else "")
            for column in columns
        )
        statements.append(f"CREATE TABLE {table} ({definitions})")
    return statements


def create_views() -> list[str]:
    """Return the `CREATE VIEW` statements: the current annotations, with what their edit did."""
    return [
        f"CREATE VIEW {view} AS SELECT {', '.join(_view_columns(columns))}"  # noqa: S608
        f" FROM {table} WHERE is_current"
        for view, (table, columns) in VIEWS.items()
    ]


def _view_columns(columns: Iterable[str]) -> list[str]:
    return [
        f"{_VIEW_ACTION} AS action" if column == "action" else column
        for column in (TYPE, *columns)
        if column not in {"is_current", "is_creation"}
    ]


def create_indexes() -> list[str]:
    """Return the `CREATE INDEX` statements; run them after inserting, which is faster."""
    return [
        f"CREATE INDEX {table}_{column} ON {table} ({column})"
        for table, columns in INDEXED.items()
        for column in columns
    ]


def insert_statement(table: str, columns: Iterable[str]) -> str:
    """Return the `INSERT` statement of a table; of two rows with one key, the first stays (R3)."""
    names = (TYPE, *columns)
    marks = ", ".join("?" * len(names))
    return f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608


def row_values(columns: Iterable[str], members: Members) -> tuple[SqlValue, ...]:
    """Return the values of a record or an entry in the order of the columns."""
    return tuple(_value(members.get(column)) for column in (TYPE, *columns))


def _value(value: JsonValue) -> SqlValue:
    if value is None or (isinstance(value, str) and value.isascii()):  # nearly all
        return value
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and not -_MAX_INTEGER <= value < _MAX_INTEGER:
        value = str(value)
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
