"""`vibes query SQL`: one SELECT over the derived database (RFC 10.3)."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, directory_of, json_option
from vibes_lsp.cli.output import plain, print_json, print_line, print_table
from vibes_lsp.errors import BadQuery
from vibes_lsp.index.querying import MAX_ROWS, TIMEOUT, query

_MAX_CELL = 200


@click.command("query")
@click.argument("sql")
@click.option("--limit", type=click.IntRange(1, MAX_ROWS), default=MAX_ROWS, show_default=True, help="Most rows.")
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=TIMEOUT, show_default=True, metavar="SECONDS", help="Most time."
)
@audit_dir_option
@json_option
def command(sql: str, limit: int, timeout: float, audit_dir: Path | None, as_json: bool) -> None:  # noqa: FBT001
    """Run one SELECT; `-` reads it from standard input. audit.db is made anew when the trail has changed."""
    if not math.isfinite(timeout):  # which a range lets through, and which nothing would ever exceed
        raise click.BadParameter(f"{timeout} is no time to wait.", param_hint="'--timeout'")
    statement = sys.stdin.read() if sql == "-" else sql
    answer = query(directory_of(audit_dir), statement, limit=limit, timeout=timeout)
    if not answer.columns:  # blanks or a comment
        raise BadQuery("there is no SQL", hint="give one SELECT, as in `vibes query 'SELECT count(*) FROM line_annotations'`")
    if as_json:
        print_json(answer.as_json())
        return
    columns = [plain(column, _MAX_CELL) for column in answer.columns]
    print_table(columns, [["" if cell is None else str(cell)[:_MAX_CELL] for cell in row] for row in answer.rows])
    if answer.truncated:
        print_line(f"the first {len(answer.rows):,}; there are more")
