"""`vibes log`: the records of the log, filtered."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import click

from vibes_lsp.cli.options import (
    audit_dir_option,
    examples,
    json_option,
    limit_option,
    model_option,
    session_option,
    tool_option,
)
from vibes_lsp.cli.output import escape, is_terminal, print_json, print_line, print_table
from vibes_lsp.cli.project import open_trail
from vibes_lsp.index.log_columns import LogLineKind
from vibes_lsp.index.records import LogRecord, read_edge
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import integer
from vibes_lsp.model.paths import MAX_PATH, normal_path
from vibes_lsp.model.vocabulary import RecordType
from vibes_lsp.reports.authors import Authors

_MAX_WHAT = 300
_MAX_LINE = 2 * MAX_PATH
"""Limit where output is no terminal: no path is cut."""


@click.command(
    "log",
    epilog=examples(
        "vibes log --limit 5",
        "vibes log --file src/auth.py --model opus",
        "vibes log --type edge --json",
    ),
)
@audit_dir_option
@click.option(
    "--type",
    "kind",
    type=click.Choice([*(each.value for each in RecordType), "all"]),
    help="Type of the records.  [default: line and function]",
)
@click.option(
    "--file", "path", metavar="PATH", help="Path of the annotated file, relative to the project."
)
@model_option
@tool_option
@session_option
@limit_option("records", default=50)
@json_option
def command(  # noqa: PLR0917
    audit_dir: Path | None,
    kind: str | None,
    path: str | None,
    model: str | None,
    tool: str | None,
    session: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List log records, newest last."""
    trail = open_trail(audit_dir)
    authors = Authors(trail)
    matching = (
        record
        for record in _of_type(trail, kind)
        if (path is None or normal_path(record.text("file_path") or "") == normal_path(path))
        and (session is None or (record.text("session_id") or "").startswith(session))
        and _contains(authors.of(record.text("environment_hash")).model, model)
        and _contains(authors.of(record.text("environment_hash")).tool, tool)
    )
    found = 0
    newest: deque[LogRecord] = deque(maxlen=min(limit, sys.maxsize))
    for found, record in enumerate(matching, 1):  # noqa: B007  # the count is read after the loop
        newest.append(record)
    if as_json:
        print_json(
            {
                "records": [
                    {"line": record.line, "id": record.id, "record": record.members}
                    for record in newest
                ]
            }
        )
        return
    rows = [_row(record, authors) for record in newest]
    print_table(("line", "id", "when", "what"), rows, right=("line",))
    if not rows:
        print_line("no records")
    elif found > len(rows):
        print_line(f"newest {len(rows):,} of {found:,} records; use --limit for more")


def _of_type(trail: Trail, kind: str | None) -> Iterator[LogRecord]:
    if kind == "all":
        return trail.log.records_of(
            *(each for each in LogLineKind if each not in (LogLineKind.BLANK, LogLineKind.BROKEN))
        )
    if kind is None:
        return trail.log.records_of(LogLineKind.LINE, LogLineKind.FUNCTION)
    return trail.log.records_of(LogLineKind[kind.upper()])


def _contains(name: str, part: str | None) -> bool:
    return part is None or part.lower() in name.lower()


def _row(record: LogRecord, authors: Authors) -> tuple[object, ...]:
    when = (record.text("timestamp") or "")[:16].replace("T", " ")
    environment = record.text("environment_hash")
    author = f"  {escape(authors.of(environment).label, 60)}" if environment else ""
    return (
        record.line,
        record.id[:8],
        when,
        escape(_describe(record), _MAX_WHAT if is_terminal() else _MAX_LINE) + author,
    )


def _describe(record: LogRecord) -> str:
    """Return a record as one line of text."""
    match record.type:
        case RecordType.LINE:
            lines = f"{integer(record.members, 'line_start')}-{integer(record.members, 'line_end')}"
            return f"{record.text('action')} {record.text('file_path')}:{lines}"
        case RecordType.FUNCTION:
            return (
                f"{record.text('action')} {record.text('file_path')} {record.text('function_name')}"
            )
        case RecordType.SESSION:
            session = (record.text("session_id") or "")[:8]
            return f"session {record.text('event')} {session} {record.text('description') or ''}"
        case RecordType.EDGE:
            edge = read_edge(record)
            return f"{edge.source[:8]} {edge.type} {edge.target[:8]}"
        case RecordType.DELEGATION:
            parent = (record.text("parent_session_id") or "")[:8]
            child = (record.text("child_session_id") or "")[:8]
            return f"delegation {parent} to {child} {record.text('task_description') or ''}"
        case _:
            return escape(record.type, 20)
