"""Prints tables: aligned everywhere, fitted to a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final

from vibes_lsp.cli.output import (
    console,
    escape,
    is_plain,
    print_line,
    print_text,
    terminal_width,
)

if TYPE_CHECKING:
    from rich.text import Text

_UNBOUNDED: Final = 1 << 20
_MAX_FITTED: Final = 1_000
"""Rows of a table up to which it is fitted to the terminal."""
_MAX_PADDED: Final = 60
"""Columns up to which cells of longer tables are aligned."""
_BETWEEN: Final = "  "
"""Between the columns of a table."""
_MIN_PROSE: Final = 10
"""Columns from which on a cell wraps; with less, it is cut."""


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    right: Sequence[str] = (),
    whole: str | None = None,
    styles: Mapping[str, str | Mapping[str, str]] | None = None,
) -> None:
    """Print rows under headings, fitted to the terminal; in a pipe or file, each on one line.

    So are very many rows on a terminal: fitting takes long. What does not fit is cut at the right.

    Args:
        columns: The headings.
        rows: Cells, which are escaped here.
        right: Headings of the right-aligned columns.
        whole: Heading of a column that is never cut, such as one of paths; by default the last
            column wraps.
        styles: Styles of columns, by heading; or styles by the last word of a cell.
    """
    cells = [list(map(escape, row)) for row in rows]
    width = terminal_width()
    if is_plain() or len(cells) > _MAX_FITTED:
        at_most = _UNBOUNDED if is_plain() else _MAX_PADDED
        _print_plain_table(columns, cells, frozenset(right), at_most)
        return
    from rich.text import Text  # noqa: PLC0415

    widths = [max(map(_width, column)) for column in zip(columns, *cells, strict=True)]
    total = sum(widths) + len(_BETWEEN) * (len(widths) - 1)
    wraps, place = False, None
    if width is not None and total > width:
        left = widths[-1] - (total - width)
        if whole is not None:
            place = list(columns).index(whole)
            widths[place] = max(min(widths[place], width // 2), widths[place] - (total - width))
        elif left >= _MIN_PROSE:
            wraps, widths[-1] = True, left
    heading = [Text(column, "bold") for column in columns]
    print_text(_table_line(heading, widths, right, columns), width)
    print_line("─" * (total if width is None else min(total, width)))
    of_columns = [(styles or {}).get(column, "") for column in columns]
    for row in cells:
        styled = [
            Text(cell, style if isinstance(style, str) else _cell_style(cell, style))
            for cell, style in zip(row, of_columns, strict=True)
        ]
        *leading, last = styled
        wrapped = [last]
        if wraps and last.cell_len > widths[-1]:
            wrapped = list(last.wrap(console(), widths[-1]))
        room = width
        if width is not None and place is not None:
            end = sum(widths[:place]) + place * len(_BETWEEN) + styled[place].cell_len
            room = max(width, end + 2)
        for part in wrapped:
            print_text(_table_line([*leading, part], widths, right, columns), room)
            leading = [Text() for _ in leading]


def _table_line(
    cells: Sequence[Text], widths: Sequence[int], right: Sequence[str], columns: Sequence[str]
) -> Text:
    """Return cells in their columns."""
    from rich.text import Text  # noqa: PLC0415

    for cell, size, column in zip(cells, widths, columns, strict=True):
        cell.rstrip()
        pad = max(size - cell.cell_len, 0)
        if column in right:
            cell.pad_left(pad)
        else:
            cell.pad_right(pad)
    return Text(_BETWEEN).join(cells)


def _cell_style(cell: str, styles: Mapping[str, str]) -> str:
    return styles.get(cell.rpartition(" ")[2], "")


def _print_plain_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: AbstractSet[str],
    at_most: int,
) -> None:
    """Print a table whose rows are not fitted, in a fiftieth of the time."""
    longest = (max(map(_width, column)) for column in zip(columns, *rows, strict=True))
    widths = [min(width, at_most) for width in longest]
    rule = "─" * (sum(widths) + len(_BETWEEN) * (len(widths) - 1))
    pads = [str.rjust if name in right else str.ljust for name in columns]
    sizes = zip(columns, widths, strict=True)
    template = _BETWEEN.join(f"%{'' if name in right else '-'}{size}s" for name, size in sizes)
    print_line((template % tuple(columns)).rstrip())
    print_line(rule)
    for row in rows:
        if "".join(row).isascii():
            print_line((template % tuple(row)).rstrip())
            continue
        padded = (
            pad(cell, size + len(cell) - _width(cell))
            for pad, cell, size in zip(pads, row, widths, strict=True)
        )
        print_line(_BETWEEN.join(padded).rstrip())


def _width(cell: str) -> int:
    """Return how many columns an escaped text takes."""
    if cell.isascii():
        return len(cell)
    from rich.cells import cell_len  # noqa: PLC0415

    return cell_len(cell)
