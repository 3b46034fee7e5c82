"""The SQL schema of `audit.db`: its tables, columns and indexes (RFC 7.8)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from vibes_lsp.model.members import JsonValue, Members

SqlValue: TypeAlias = str | int | float | None

SCHEMA_VERSION: Final = 2
"""Increased with every change of the tables."""
CREATE_SOURCE: Final = "CREATE TABLE made_of (source TEXT)"
"""The table that identifies the files from which a database was built."""
_ANNOTATION: Final = (
    "file_path", "environment_hash", "command_hash", "prompt_hash", "reasoning_hash",
    "decision_hash", "action", "timestamp", "commit_hash", "session_id", "assurance_level",
    "annotation_id", "anchor_context", "anchor_hash", "file_content_hash", "risk_score",
    "risk_factors",
)  # fmt: skip
DERIVED_COLUMNS: Final = ("log_line", "lineage_id", "is_current")
"""Columns of annotations that are not members of records: the line of the log, the id of the first
record of the edit, and whether the record is current and not history, by the log alone (R7)."""

RECORDS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "line": ("line_annotations", ("line_start", "line_end", *_ANNOTATION, *DERIVED_COLUMNS)),
    "function": (
        "function_annotations",
        ("function_name", "function_signature", *_ANNOTATION, *DERIVED_COLUMNS),
    ),
    "session": (
        "sessions",
        (
            "session_id", "event", "timestamp", "environment_hash", "assurance_level",
            "description", "parent_session_id", "agent_name", "agent_type", "annotation_id",
        ),
    ),
    "edge": (
        "edges",
        (
            "edge_type", "source_ref", "source_type", "target_ref", "target_type", "timestamp",
            "session_id", "metadata", "annotation_id",
        ),
    ),
    "delegation": (
        "delegations",
        (
            "parent_session_id", "child_session_id", "timestamp", "task_description",
            "delegated_files", "delegation_type", "parent_environment_hash",
            "child_environment_hash", "annotation_id",
        ),
    ),
}  # fmt: skip
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
"""The first column of every table, which the queries of the standard name (RFC 10.2)."""
_NUMBERS: Final = frozenset(
    {
        "line_start",
        "line_end",
        "risk_score",
        "command_exit_code",
        "reasoning_token_count",
        *DERIVED_COLUMNS,
    }
    - {"lineage_id"}
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
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and not -_MAX_INTEGER <= value < _MAX_INTEGER:
        value = str(value)
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
