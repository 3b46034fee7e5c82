"""Code on a terminal: escaped, in syntax colours and cut to the width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from vibes_lsp.cli.output import console, escape_code

if TYPE_CHECKING:
    from rich.text import Text

_MAX_LENGTH: Final = 500
"""Characters of a line that are shown."""
_MAX_COLORED: Final = 5_000
"""Lines of a file that get syntax colours; more would take more than a second."""


def code_lines(path: str, lines: Sequence[str], *, is_cut: bool = True) -> list[Text]:
    """Return lines of a file for a terminal, in syntax colours if it has any.

    Args:
        path: The file's path, whose extension names the language.
        lines: Its lines.
        is_cut: Whether long lines are cut; else a text that has one gets no colours.
    """
    from rich.text import Text  # noqa: PLC0415

    plain = plain_code_lines(lines, is_cut=is_cut)
    is_long = len(plain) > _MAX_COLORED or any(len(line) > _MAX_LENGTH for line in plain)
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
    return [escape_code(line, _MAX_LENGTH if is_cut else None) for line in lines]
