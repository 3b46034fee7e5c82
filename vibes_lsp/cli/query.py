"""`vibes query`: the derived database audit.db (RFC 7.8, 10.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from vibes_lsp.cli.options import audit_dir_option, examples, json_option, limit_option
from vibes_lsp.cli.output import (
    console,
    escape,
    is_terminal,
    print_json,
    print_line,
    print_styled,
    progress,
)
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import audit_directory, fold_waiting_events, read_text_input
from vibes_lsp.cli.tables import print_table
from vibes_lsp.database.build import build_database
from vibes_lsp.database.query import MAX_ROWS, TIMEOUT, QueryResult, run_query
from vibes_lsp.errors import BadQuery
from vibes_lsp.model.paths import MAX_PATH

_MAX_CELL: Final = 200
_MAX_NAMES: Final = 300
_MIN_WIDTH: Final = 8
"""Width of a terminal's column below which it is not cut further."""
_GAP: Final = 3
"""Characters between two columns on a terminal."""


@click.command(
    "query",
    epilog=examples(
        "vibes query 'SELECT file_path, count(*) FROM line_annotations GROUP BY 1'",
        "cat report.sql | vibes query -",
        "vibes query --build",
    ),
)
@click.argument("sql", required=False, help="One SELECT, or - to read it from standard input.")
@click.option("--build", is_flag=True, help="Rebuild audit.db and print where it is.")
@limit_option("rows", default=MAX_ROWS, largest=MAX_ROWS)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="Maximum processor time.",
)
@audit_dir_option
@json_option
def command(
    *,
    sql: str | None,
    build: bool,
    limit: int,
    timeout: float,
    audit_dir: Path | None,
    as_json: bool,
) -> None:
    """Query the audit trail with SQL.

    Runs one SELECT on audit.db, which is rebuilt first when the audit trail has changed.
    """
    if not math.isfinite(timeout):  # FloatRange accepts nan and inf
        raise click.BadParameter(f"{timeout} is not a finite number.", param_hint="'--timeout'")
    if build == (sql is not None):
        raise click.UsageError("give one SELECT or --build" + (", not both" if build else ""))
    if sql is None:
        _build(audit_dir, as_json=as_json)
        return
    statement = read_text_input() if sql == "-" else sql
    directory = audit_directory(audit_dir)
    fold_waiting_events(directory)
    query_result = run_query(directory, statement, limit=limit, timeout=timeout)
    if not query_result.columns:  # blanks or a comment
        raise BadQuery(
            "empty query: expected one SELECT",
            hint="for example `vibes query 'SELECT count(*) FROM line_annotations'`",
        )
    if as_json:
        print_json(query_result.as_json())
        return
    with paged():
        _print(query_result)


def _build(audit_dir: Path | None, *, as_json: bool) -> None:
    """Rebuild audit.db from the log and the manifest, and print how many rows each table has."""
    directory = audit_directory(audit_dir)
    fold_waiting_events(directory)
    with progress() as step:
        built = build_database(directory, partial(step, "building audit.db"))
    if as_json:
        print_json({"path": str(built.path), "rows": built.rows})
        return
    print_line(escape(built.path))
    for table, count in built.rows.items():
        if count:
            print_line(f"  {table:24}  {count:,}")


def _print(query_result: QueryResult) -> None:
    longest = _MAX_CELL if is_terminal() else MAX_PATH
    columns = [escape(column, longest) for column in query_result.columns]
    width = console().width
    # on a terminal, no more columns than fit at a width of one character
    most = width // (1 + _GAP) + 1 if is_terminal() else len(columns)
    rows = [
        ["" if cell is None else escape(cell, longest) for cell in row[:most]]
        for row in query_result.rows
    ]
    widths = [longest] * len(columns)
    if is_terminal():
        cells = [[column, *(row[at] for row in rows)] for at, column in enumerate(columns[:most])]
        widths = _fit_widths(cells, width)
    print_table(_cut(columns, widths), [_cut(row, widths) for row in rows])
    if query_result.truncated:
        print_line(f"first {len(query_result.rows):,} rows; there are more")
    left_out = columns[len(widths) :]
    if left_out:
        names = escape(", ".join(left_out), _MAX_NAMES)
        shown = f"{len(left_out)} of {len(columns)} columns not shown; use --json for all: {names}"
        print_styled([(shown, "")])


def _fit_widths(columns: Sequence[Sequence[str]], most: int) -> list[int]:
    """Return the widths of the columns that fit side by side, from the first on.

    The widest columns are cut, but not below `_MIN_WIDTH`.
    """
    from rich.cells import cell_len  # noqa: PLC0415

    if len(columns) == 1:
        return [_MAX_CELL]  # a single column wraps instead
    wanted = [max(map(cell_len, column)) for column in columns]
    shown = next(
        (
            count
            for count in range(len(wanted), 1, -1)
            if _total_width(wanted[:count], _MIN_WIDTH) <= most
        ),
        1,
    )
    cap = next(
        (
            cap
            for cap in range(_MAX_CELL, _MIN_WIDTH, -1)
            if _total_width(wanted[:shown], cap) <= most
        ),
        _MIN_WIDTH,
    )
    return [min(width, cap) for width in wanted[:shown]]


def _total_width(wanted: Sequence[int], cap: int) -> int:
    return sum(min(width, cap) for width in wanted) + _GAP * (len(wanted) - 1)


def _cut(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Return the cells that have a width, cut to it."""
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415

    return [
        cell if cell_len(cell) <= width else set_cell_size(cell, width - 1).rstrip() + "…"
        for cell, width in zip(cells, widths, strict=False)
    ]
