"""All that the command line prints: data to standard output, progress and errors to standard error.

Text from a trail is untrusted: what nobody can see, or what turns writing around, is shown escaped, never sent to the terminal.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import override

from vibes_lsp.errors import VibesError
from vibes_lsp.model.escaping import INVISIBLE

if TYPE_CHECKING:
    from rich.console import Console

_MAX_MESSAGE: Final = 1000

KIND_MARKS: Final[Mapping[str, tuple[str, str]]] = {
    "ai": ("+", "green"),
    "claimed": ("?", "dim"),
    "edited": ("~", "yellow"),
    "human": (" ", "dim"),
}
"""Mark and style of a line of code, by whose it is."""

_UNBOUNDED: Final = 1 << 20
"""Columns of what is no terminal."""

_TAB: Final = 4
"""Columns of code between two stops of a tab."""


class ReaderGone(Exception):
    """Whoever read standard output has closed it."""


def plain(value: object, limit: int | None = None) -> str:
    """Return a value as text that is safe on a terminal, on one line, cut to `limit` characters with an ellipsis."""
    text = str(value)
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    return INVISIBLE.sub(_escaped, text)


def plain_code(line: str, limit: int | None = None) -> str:
    """Return a line of code as `plain` does, with its tabs as wide as they look."""
    return plain(line.expandtabs(_TAB), limit)


def _escaped(match: re.Match[str]) -> str:
    if match[0] in "\n\t\r":
        return " "
    code = ord(match[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def print_line(text: str = "") -> None:
    """Print one line of our own making; parts that come from a trail must have gone through `plain`."""
    print(text)


def ask(text: str) -> None:
    """Print a question of our own making; the answer is typed behind it."""
    print(text, end="", flush=True)


def print_json(value: Mapping[str, Any]) -> None:
    r"""Print a result as indented JSON; what nobody can see comes out escaped, as `\u202e`, so that it acts on nothing that shows it.

    Args:
        value: The result; a member that is an iterator is printed as a list, one element at a time, for what is too long to be held.
    """
    sys.stdout.flush()
    for piece in _pieces(value):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _pieces(value: Mapping[str, Any]) -> Iterator[bytes]:
    ascii_only = sys.stdout.isatty()  # a terminal acts on more than ASCII
    yield b"{"
    for number, (name, member) in enumerate(value.items()):
        yield (b",\n  " if number else b"\n  ") + _printed(name, ascii_only=ascii_only) + b": "
        if isinstance(member, Iterator):
            yield b"["
            begun = False
            for element in member:
                yield (b",\n    " if begun else b"\n    ") + _printed(
                    element, ascii_only=ascii_only
                ).replace(b"\n", b"\n    ")
                begun = True
            yield b"\n  ]" if begun else b"]"
        else:
            yield _printed(member, ascii_only=ascii_only).replace(b"\n", b"\n  ")
    yield b"\n}\n" if value else b"}\n"


def _printed(value: Any, *, ascii_only: bool) -> bytes:
    import msgspec  # noqa: PLC0415

    try:
        if not ascii_only:
            return _seen(msgspec.json.format(msgspec.json.encode(value), indent=2))
    except (
        UnicodeEncodeError,
        OverflowError,
        RecursionError,
        ValueError,
    ):  # what only the slower encoder can print
        pass
    return _seen(
        json.dumps(value, indent=2, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    )


def _seen(printed: bytes) -> bytes:
    """Return JSON of the same value in which what nobody can see is escaped; the line ends between members stay."""
    if printed.isascii() and b"\x7f" not in printed:
        return printed
    return INVISIBLE.sub(_escaped_in_json, printed.decode("utf-8", "surrogatepass")).encode()


def _escaped_in_json(match: re.Match[str]) -> str:
    if match[0] == "\n":
        return match[0]
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def print_error(error: VibesError) -> None:
    """Print an error as the one line that scripts and people read: what is wrong, and what to do."""
    hint = f"; {error.hint}" if error.hint else ""
    print(plain(f"vibes: {plain(error.message, _MAX_MESSAGE)}{hint}"), file=sys.stderr)


def print_warning(message: str) -> None:
    """Print a warning beside the answer."""
    print(plain(f"vibes: warning: {message}"), file=sys.stderr)


def print_usage_error(message: str) -> None:
    """Print what was wrong with the command line."""
    print(plain(f"vibes: {message}", _MAX_MESSAGE), file=sys.stderr)


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    right: Sequence[str] = (),
    wrap: str | None = None,
) -> None:
    """Print rows under headings, within the terminal's width; into a pipe or a file, each row on one line.

    Args:
        columns: The headings.
        rows: Cells; their text is made safe here.
        right: Headings of the columns to align right.
        wrap: Heading of the column that gives way when it gets narrow; the last one by default.
    """
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    flexible = wrap or columns[-1]
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in right else "left",
            no_wrap=column != flexible,
            overflow="fold" if column == flexible else "ellipsis",
        )
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    if is_on_terminal():
        console().print(table)
        return
    with (wide := console(_UNBOUNDED)).capture() as capture:
        wide.print(table)
    for line in capture.get().splitlines():
        print_line(line.rstrip())


def styled(parts: Sequence[tuple[str, str]]) -> None:
    """Print one line of parts, each with a style of rich's (`bold red`, `dim`); colour only on a terminal."""
    from rich.text import Text  # noqa: PLC0415

    console().print(Text.assemble(*((text, style) for text, style in parts)), soft_wrap=True)


def is_on_terminal() -> bool:
    """Return whether somebody reads along whose lines have a width; `FORCE_COLOR` with `COLUMNS` counts as a terminal."""
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR") and os.environ.get("COLUMNS"))


def console(width: int | None = None) -> Console:
    """Return rich's console for standard output."""
    from rich.console import Console  # noqa: PLC0415

    class Standard(Console):
        @override
        def on_broken_pipe(self) -> None:  # rich would end the program with 1
            raise ReaderGone

    plainly = bool(os.environ.get("NO_COLOR"))  # rich would leave out the colours alone
    return Standard(
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        color_system=None if plainly else "auto",
    )


@contextmanager
def progress() -> Iterator[Any]:
    """Give a function `(what, done, total)` that shows progress on standard error, when that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        tasks: dict[str, Any] = {}

        def step(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)

        yield step
