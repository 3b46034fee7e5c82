"""`vibes query SQL`: one SELECT over the derived database (RFC 10.3)."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from vibes_lsp.cli.options import audit_dir_option, directory_of, json_option
from vibes_lsp.cli.output import console, is_on_terminal, plain, print_json, print_line, print_table
from vibes_lsp.database.query import MAX_ROWS, TIMEOUT, QueryResult, query
from vibes_lsp.errors import BadQuery
from vibes_lsp.model.paths import MAX_PATH

_MAX_CELL: Final = 200
_MAX_NAMES: Final = 300
_NARROW: Final = 8
"""Columns of a terminal that a column of the answer has at least, if it wants them."""
_GAP: Final = 3
"""Columns of a terminal between two of the answer."""


@click.command("query")
@click.argument("sql")
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_ROWS),
    default=MAX_ROWS,
    show_default=True,
    help="Most rows.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="Most time.",
)
@audit_dir_option
@json_option
def command(sql: str, limit: int, timeout: float, audit_dir: Path | None, as_json: bool) -> None:
    """Run one SELECT; `-` reads it from standard input. audit.db is made anew when the trail has changed."""
    if not math.isfinite(
        timeout
    ):  # which a range lets through, and which nothing would ever exceed
        raise click.BadParameter(f"{timeout} is no time to wait.", param_hint="'--timeout'")
    statement = sys.stdin.read() if sql == "-" else sql
    answer = query(directory_of(audit_dir), statement, limit=limit, timeout=timeout)
    if not answer.columns:  # blanks or a comment
        raise BadQuery(
            "there is no SQL",
            hint="give one SELECT, as in `vibes query 'SELECT count(*) FROM line_annotations'`",
        )
    if as_json:
        print_json(answer.as_json())
        return
    _print(answer)


def _print(answer: QueryResult) -> None:
    longest = _MAX_CELL if is_on_terminal() else MAX_PATH
    columns = [plain(column, longest) for column in answer.columns]
    width = console().width
    # on a terminal no more columns than fit, however narrow they are
    most = width // (1 + _GAP) + 1 if is_on_terminal() else len(columns)
    rows = [
        ["" if cell is None else plain(cell, longest) for cell in row[:most]] for row in answer.rows
    ]
    widths = [longest] * len(columns)
    if is_on_terminal():
        cells = [[column, *(row[at] for row in rows)] for at, column in enumerate(columns[:most])]
        widths = _widths(cells, width)
    print_table(_cut(columns, widths), [_cut(row, widths) for row in rows])
    if answer.truncated:
        print_line(f"the first {len(answer.rows):,}; there are more")
    left_out = columns[len(widths) :]
    if left_out:
        print_line(
            f"{len(left_out)} of {len(columns)} columns are not shown; --json has all: {plain(', '.join(left_out), _MAX_NAMES)}"
        )


def _widths(columns: Sequence[Sequence[str]], most: int) -> list[int]:
    """Return how wide the columns are that fit beside one another, from the first on: the widest give way, but no further than they can be read."""
    from rich.cells import cell_len  # noqa: PLC0415

    if len(columns) == 1:
        return [_MAX_CELL]  # which is broken into lines
    wanted = [max(map(cell_len, column)) for column in columns]
    shown = next(
        (count for count in range(len(wanted), 1, -1) if _total(wanted[:count], _NARROW) <= most), 1
    )
    cap = next(
        (cap for cap in range(_MAX_CELL, _NARROW, -1) if _total(wanted[:shown], cap) <= most),
        _NARROW,
    )
    return [min(width, cap) for width in wanted[:shown]]


def _total(wanted: Sequence[int], cap: int) -> int:
    return sum(min(width, cap) for width in wanted) + _GAP * (len(wanted) - 1)


def _cut(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415

    return [
        cell if cell_len(cell) <= width else set_cell_size(cell, width - 1).rstrip() + "…"
        for cell, width in zip(
            cells, widths, strict=False
        )  # those that are not shown have no width
    ]
