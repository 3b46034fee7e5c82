"""Prints everything: data to standard output, progress and errors to standard error.

Colours (`print_styled`) and JSON are made here, tables in `cli.tables`. Text from an audit trail is
untrusted: `escape` replaces invisible characters and those that change the direction of writing, so
that a terminal never acts on them.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import override

from vibes_lsp.errors import VibesError
from vibes_lsp.model.escaping import INVISIBLE, without_pipeline_commands

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from vibes_lsp.checks.finding import Finding

_MAX_MESSAGE: Final = 1000
_MAX_FINDING: Final = 400

KIND_MARKS: Final[Mapping[str, tuple[str, str]]] = {
    "ai": ("+", "green"),
    "claimed": ("?", "dim"),
    "edited": ("~", "yellow"),
    "unrecorded": (" ", "dim"),
}
"""Mark and style of a line of code, by its `LineKind`."""

_SEVERITY_STYLES: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}

_FORCING: Final = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Environment variables by which rich takes any output for a terminal."""
_WORD: Final = re.compile(r"\S+")
_MIN_WRAPPED: Final = 20
"""Columns that the rest of a broken line has at least."""

_REFRESH_SECONDS: Final = 0.1
_TAB: Final = 4
"""Columns between two tab stops."""

BAND_STYLES: Final[Mapping[str, str]] = {
    "critical": "bold red",
    "high": "red",
    "medium": "yellow",
    "low": "green",
}
"""Style of a risk band."""

_MAX_CODE: Final = 500
"""Characters of a line that are shown."""
_MAX_COLORED: Final = 5_000
"""Lines of a file that get syntax colours; more would take more than a second."""
_has_printed = False


class OutputClosed(Exception):
    """The reader of standard output has closed it."""


def escape(value: object, limit: int | None = None) -> str:
    """Return a value as one line of text that is safe on a terminal.

    Args:
        value: Untrusted text, or what `str` makes text of.
        limit: The length at which it is cut, with an ellipsis.
    """
    text = str(value)
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    if "##" in text or "::" in text:
        text = without_pipeline_commands(text)
    if text.isascii() and text.isprintable():  # as most are: a tenth of the time
        return text
    return INVISIBLE.sub(_escape_of, text)


def escape_code(line: str, limit: int | None = None) -> str:
    """Return a line of code as `escape` does, with tabs expanded."""
    return escape(line.expandtabs(_TAB), limit)


def _escape_of(match: re.Match[str]) -> str:
    if match[0] in "\n\t\r":
        return " "
    code = ord(match[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def has_printed() -> bool:
    """Whether anything was printed to standard output since `forget_output`."""
    return _has_printed


def forget_output() -> None:
    """Begin the output of a command."""
    _set_printed(printed=False)


def _note_output() -> None:
    _set_printed(printed=True)


def _set_printed(*, printed: bool) -> None:
    global _has_printed  # noqa: PLW0603  # one process prints for one command line
    _has_printed = printed


def print_line(text: str = "") -> None:
    """Print one line; parts from an audit trail must be escaped already."""
    _note_output()
    print(text)


def print_question(text: str) -> None:
    """Print a question without a line end; the answer is typed after it."""
    _note_output()
    print(text, end="", flush=True)


def print_json(value: Mapping[str, Any]) -> None:
    r"""Print a result as indented JSON, with invisible characters escaped, as in `\u202e`.

    Args:
        value: The result. A member that is an iterator is printed as a list, one element at a
            time, so that it need not fit in memory.
    """
    _note_output()
    sys.stdout.flush()
    for chunk in _json_chunks(value):
        sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def print_json_lines(lines: Iterable[bytes]) -> None:
    """Print JSON values that are encoded already, one a line, with invisible characters escaped."""
    _note_output()
    sys.stdout.flush()
    for line in lines:
        sys.stdout.buffer.write(_escape_json(line) + b"\n")
    sys.stdout.buffer.flush()


def print_responses(responses: Iterable[bytes]) -> None:
    """Write the responses of a protocol, each as soon as it is there, and nothing else."""
    _note_output()
    for response in responses:
        sys.stdout.buffer.write(response)
        sys.stdout.buffer.flush()


def _json_chunks(value: Mapping[str, Any]) -> Iterator[bytes]:
    ascii_only = sys.stdout.isatty()  # a terminal also interprets some non-ASCII characters
    yield b"{"
    for number, (name, member) in enumerate(value.items()):
        yield (b",\n  " if number else b"\n  ") + _encode_json(name, ascii_only=ascii_only) + b": "
        if isinstance(member, Iterator):
            yield b"["
            begun = False
            for element in member:
                yield (b",\n    " if begun else b"\n    ") + _encode_json(
                    element, ascii_only=ascii_only
                ).replace(b"\n", b"\n    ")
                begun = True
            yield b"\n  ]" if begun else b"]"
        else:
            yield _encode_json(member, ascii_only=ascii_only).replace(b"\n", b"\n  ")
    yield b"\n}\n" if value else b"}\n"


def _encode_json(value: Any, *, ascii_only: bool) -> bytes:
    import msgspec  # noqa: PLC0415

    try:
        if not ascii_only:
            return _escape_json(msgspec.json.format(msgspec.json.encode(value), indent=2))
    except (UnicodeEncodeError, OverflowError, RecursionError, ValueError):
        pass  # the slower encoder below can print it
    return _escape_json(
        json.dumps(value, indent=2, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    )


def _escape_json(printed: bytes) -> bytes:
    """Return JSON of the same value without invisible characters but line ends, and commands."""
    if printed.isascii() and not any(part in printed for part in (b"\x7f", b"##", b"::")):
        return printed
    text = without_pipeline_commands(printed.decode("utf-8", "surrogatepass"))
    return INVISIBLE.sub(_json_escape_of, text).encode()


def _json_escape_of(match: re.Match[str]) -> str:
    if match[0] == "\n":
        return match[0]
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def print_error(error: VibesError) -> None:
    """Print an error on one line: what is wrong, and what to do."""
    hint = f"; {error.hint}" if error.hint else ""
    print(escape(f"vibes: {escape(error.message, _MAX_MESSAGE)}{hint}"), file=sys.stderr)


def print_warning(message: str) -> None:
    """Print a warning to standard error."""
    print(escape(f"vibes: warning: {message}"), file=sys.stderr)


def print_note(message: str) -> None:
    """Print to standard error what a person at the terminal can do next."""
    print(escape(f"vibes: {message}"), file=sys.stderr)


def print_usage_error(message: str, *, hint: str = "") -> None:
    """Print what is wrong with the command line, as `print_error` does."""
    one_line = " ".join(map(str.strip, message.split("\n"))).removesuffix(".")
    text = f"{one_line}; {hint}" if hint else one_line
    print(escape(f"vibes: {text[:1].lower()}{text[1:]}", _MAX_MESSAGE), file=sys.stderr)


def print_styled(parts: Sequence[tuple[str, str]], *, indent: int | None = None) -> None:
    """Print one line of parts, each with a rich style (`bold red`, `dim`).

    Colours appear on a terminal only, and not when `NO_COLOR` is set.

    Args:
        parts: Text, escaped already, and style of each part.
        indent: Columns before the rest of a line that a terminal has no room for; by default two
            more than before its beginning.
    """
    if is_plain():
        print_line("".join(text for text, _ in parts))
        return
    from rich.text import Text  # noqa: PLC0415

    line = Text.assemble(*((text, style) for text, style in parts))
    width = terminal_width()
    if width is not None:
        plain = line.plain
        default = len(plain) - len(plain.lstrip()) + 2
        line = _wrap(line, width, default if indent is None else indent)
    _note_output()
    console().print(line, soft_wrap=True)


def _wrap(line: Text, width: int, indent: int) -> Text:
    """Break a line between words; a word that is too long, such as a path, stays whole."""
    from rich.cells import cell_len  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    indent = min(indent, max(width - _MIN_WRAPPED, 0))
    column, end, breaks = 0, 0, []
    for word in _WORD.finditer(line.plain):
        cells = cell_len(line.plain[end : word.end()])
        if column and column + cells > width:
            breaks.append(word.start())
            column, cells = indent, cell_len(word[0])
        column, end = column + cells, word.end()
    parts = line.divide(breaks)
    for part in parts:
        part.rstrip()
    return Text("\n" + " " * indent).join(parts)


def print_text(text: Text, width: int | None = None) -> None:
    """Print a line of styled text, whose parts are escaped already.

    Args:
        text: The line.
        width: Columns at which it is cut, with an ellipsis; None for the whole line.
    """
    text.rstrip()
    if width is not None:
        text.truncate(width, overflow="ellipsis")
    if is_plain():
        print_line(text.plain)
        return
    _note_output()
    console().print(text, soft_wrap=True)


def terminal_width() -> int | None:
    """Return the columns of the terminal; None if output does not go to one."""
    return console().width if is_terminal() else None


def print_finding(finding: Finding) -> None:
    """Print a finding on one line: place, severity, check id and message."""
    print_styled(
        [
            (escape(finding.location), "bold"),
            (": ", ""),
            (finding.severity.value, _SEVERITY_STYLES[finding.severity.value]),
            (f"[{finding.check.id}] ", "dim"),
            (escape(finding.message, _MAX_FINDING), ""),
        ]
    )


def is_terminal() -> bool:
    """Return whether output goes to a terminal; `FORCE_COLOR` with `COLUMNS` counts as one."""
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR") and os.environ.get("COLUMNS"))


def is_plain() -> bool:
    """Whether output has neither colours nor a width: rich takes ten times as long to print it."""
    return not any(map(os.environ.get, _FORCING)) and not sys.stdout.isatty()


def console(width: int | None = None) -> Console:
    """Return a rich console for standard output."""
    from rich.console import Console  # noqa: PLC0415

    class Standard(Console):
        @override
        def on_broken_pipe(self) -> None:  # rich would exit with 1
            raise OutputClosed

    # rich would still print bold and dim if only its own option were set
    return Standard(
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
    )


@contextmanager
def progress() -> Iterator[Any]:
    """Yield a function `(task, done, total)` that shows progress on a terminal."""
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
        auto_refresh=False,
    ) as bar:
        tasks: dict[str, Any] = {}
        shown = 0.0

        def step(task: str, done: int, total: int) -> None:
            nonlocal shown
            if task not in tasks:
                tasks[task] = bar.add_task(task, total=total)
            bar.update(tasks[task], completed=done)
            if time.monotonic() - shown > _REFRESH_SECONDS:
                bar.refresh()
                shown = time.monotonic()

        yield step


def code_lines(path: str, lines: Sequence[str], *, is_cut: bool = True) -> list[Text]:
    """Return lines of a file for a terminal, in syntax colours if it has any.

    Args:
        path: The file's path, whose extension names the language.
        lines: Its lines.
        is_cut: Whether long lines are cut; else a text that has one gets no colours.
    """
    from rich.text import Text  # noqa: PLC0415

    plain = plain_code_lines(lines, is_cut=is_cut)
    is_long = len(plain) > _MAX_COLORED or any(len(line) > _MAX_CODE for line in plain)
    if console().color_system is None or is_long:
        return [Text(line) for line in plain]
    from rich.syntax import Syntax  # noqa: PLC0415

    # The ANSI theme uses the terminal's own colours, which are readable on its background.
    syntax = Syntax("", Syntax.guess_lexer(path), theme="ansi_dark")
    colored = syntax.highlight("\n".join(plain)).split("\n", allow_blank=True)[: len(plain)]
    is_same = [line.plain for line in colored] == plain
    return list(colored) if is_same else [Text(line) for line in plain]


def plain_code_lines(lines: Sequence[str], *, is_cut: bool = True) -> list[str]:
    """Return lines of a file for output without colours."""
    return [escape_code(line, _MAX_CODE if is_cut else None) for line in lines]
