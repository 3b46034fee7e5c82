"""Prints tables: aligned everywhere, fitted to a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from vibes_lsp.cli.output import (
    escape,
    is_plain,
    print_line,
    print_styled,
    print_text,
    terminal_width,
)

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
    cells = [list(columns), *(list(map(escape, row)) for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    is_fitted = not is_plain() and len(rows) <= _MAX_FITTED
    if not (is_fitted or is_plain()):
        widths = [min(size, _MAX_PADDED) for size in widths]
    total = sum(widths) + len(_BETWEEN) * (len(widths) - 1)
    width = terminal_width() if is_fitted else None
    excess = 0 if width is None else max(total - width, 0)
    wraps = excess > 0 and whole is None and widths[-1] - excess >= _MIN_PROSE
    place = None
    if width is not None and excess and whole is not None:
        place = list(columns).index(whole)
        widths[place] = max(min(widths[place], width // 2), widths[place] - excess)
    for number, row in enumerate(cells):
        padded = [
            _padded(cell.rstrip(), size, is_right=column in right)
            for cell, size, column in zip(row, widths, columns, strict=True)
        ]
        padded[-1] = padded[-1].rstrip()
        if not is_fitted:
            print_line(_BETWEEN.join(padded).rstrip())
        else:
            of_cells = ["bold"] * len(row) if number == 0 else _styles(columns, row, styles or {})
            parts = list(zip(padded, of_cells, strict=True))
            room = width
            if width is not None and place is not None:
                room = max(width, _width(_BETWEEN.join(padded[: place + 1])) + 2)
            _print_row(parts, room, indent=total - widths[-1] if wraps else None)
        if number == 0:
            print_line("─" * (total - excess))


def _padded(cell: str, size: int, *, is_right: bool) -> str:
    space = " " * (size - _width(cell))
    return space + cell if is_right else cell + space


def _styles(
    columns: Sequence[str], row: Sequence[str], styles: Mapping[str, str | Mapping[str, str]]
) -> list[str]:
    """Return the style of each cell of a row."""
    of_columns = [styles.get(column, "") for column in columns]
    return [
        style if isinstance(style, str) else style.get(cell.rpartition(" ")[2], "")
        for cell, style in zip(row, of_columns, strict=True)
    ]


def _print_row(parts: Sequence[tuple[str, str]], room: int | None, *, indent: int | None) -> None:
    """Print padded cells with their styles.

    Args:
        parts: The cells.
        room: Columns at which the row is cut.
        indent: Columns before the rest of a last cell that wraps; None if it is cut.
    """
    from rich.text import Text  # noqa: PLC0415

    first, *others = parts
    line = [first, *(part for cell in others for part in ((_BETWEEN, ""), cell))]
    if indent is None:
        print_text(Text.assemble(*line), room)
    else:
        print_styled(line, indent=indent)


def _width(cell: str) -> int:
    """Return how many columns an escaped text takes."""
    if cell.isascii():
        return len(cell)
    from rich.cells import cell_len  # noqa: PLC0415

    return cell_len(cell)
