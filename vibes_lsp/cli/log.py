"""`vibes log`: the records of the log, filtered."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice
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
from vibes_lsp.cli.output import escape, is_terminal, print_json, print_line
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import WAITING_HINT, now, open_trail, refuse_absent
from vibes_lsp.cli.tables import print_table
from vibes_lsp.model.ages import short_age
from vibes_lsp.model.paths import MAX_PATH, normal_path
from vibes_lsp.model.vocabulary import RecordType
from vibes_lsp.reports.authors import Authors
from vibes_lsp.reports.record_text import action_of, subject_of
from vibes_lsp.trail.records import LogRecord
from vibes_lsp.trail.rows import ANNOTATION_KINDS, LogLineKind
from vibes_lsp.trail.trail import Trail

_MAX_WHAT = 300
_MAX_ACTION = 20
_MAX_AUTHOR = 30
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
@click.option(
    "--type",
    "kind",
    type=click.Choice([*(record_type.value for record_type in RecordType), "all"]),
    help="Type of the records.  [default: line and function]",
)
@click.option(
    "--file", "path", metavar="PATH", help="Path of the annotated file, relative to the project."
)
@click.option(
    "--waiting", "only_waiting", is_flag=True, help="Only records that wait for a commit."
)
@model_option
@tool_option
@session_option
@limit_option("records", default=50)
@audit_dir_option
@json_option
def command(  # noqa: PLR0917
    kind: str | None,
    path: str | None,
    only_waiting: bool,
    model: str | None,
    tool: str | None,
    session: str | None,
    limit: int,
    audit_dir: Path | None,
    as_json: bool,
) -> None:
    """List log records, newest last."""
    trail = open_trail(audit_dir)
    authors = Authors(trail)
    is_filtered = only_waiting or not (path is model is tool is session is None)
    matching = (
        record
        for record in trail.log.records(_lines(trail, kind, path))
        if (record.is_waiting or not only_waiting)
        and (path is None or normal_path(record.text("file_path") or "") == normal_path(path))
        and (session is None or (record.text("session_id") or "").startswith(session))
        and _contains(authors.of(record.text("environment_hash")).model, model)
        and _contains(authors.of(record.text("environment_hash")).tool, tool)
    )
    newest = list(islice(matching, min(limit, sys.maxsize)))
    newest.reverse()
    if not newest:
        refuse_absent(path, trail.directory.project)
    if as_json:
        print_json(
            {
                "records": [
                    {"line": record.log_line, "id": record.id, "record": record.members}
                    for record in newest
                ]
            }
        )
        return
    if not newest:
        print_line("no records wait" if only_waiting else "no records")
        return
    rows = [_row(record, authors) for record in newest]
    with paged():
        print_table(
            ("id", "age", "action", "what", "model"),
            rows,
            right=("age",),
            whole="what",
            styles={"id": "dim", "age": "dim", "what": "bold"},
        )
        if is_filtered and next(matching, None) is not None:
            print_line(f"newest {len(rows):,} records; use --limit for more")
        elif not is_filtered and (total := _count(trail, kind)) > len(rows):
            print_line(
                f"newest {len(rows):,} of {total:,} records; use --limit for more"
                if len(rows) == limit
                else f"{total - len(rows):,} more cannot be read; see `vibes check`"
            )
        if only_waiting:
            print_line(WAITING_HINT)


def _kinds(kind: str | None) -> tuple[LogLineKind, ...]:
    if kind == "all":
        return tuple(set(LogLineKind) - {LogLineKind.BLANK, LogLineKind.BROKEN})
    return tuple(ANNOTATION_KINDS) if kind is None else (LogLineKind[kind.upper()],)


def _lines(trail: Trail, kind: str | None, path: str | None) -> Iterable[int]:
    """Return the lines to search, newest first."""
    kinds = _kinds(kind)
    if path is None or not ANNOTATION_KINDS.issuperset(kinds):
        return trail.log.lines_of(*kinds, newest_first=True)
    return reversed(trail.log.lines_about(path, *kinds))


def _count(trail: Trail, kind: str | None) -> int:
    return trail.count(*_kinds(kind))


def _contains(name: str, part: str | None) -> bool:
    return part is None or part.lower() in name.lower()


def _row(record: LogRecord, authors: Authors) -> tuple[object, ...]:
    environment = record.text("environment_hash")
    return (
        record.id[:8],
        short_age(record.moment, now()),
        escape(action_of(record), _MAX_ACTION),
        escape(subject_of(record), _MAX_WHAT if is_terminal() else _MAX_LINE),
        escape(authors.of(environment).short_label, _MAX_AUTHOR) if environment else "",
    )
