"""Show output that is longer than the terminal in the user's pager, chosen as git chooses it.

`GIT_PAGER`, then git's `core.pager`, then `PAGER` names the command; by default it is `less`. A
`core.pager` counts in the configuration of the user and the system only: a repository must not
name a program to run.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Final

from typing_extensions import override

_DEFAULT: Final = "less"
_NO_PAGERS: Final = ("", "cat")
_SETTINGS: Final = {"LESS": "FRX", "LV": "-c"}
"""Variables that git sets for a pager where the user has not: with them it shows colours."""
_NOT_RUN: Final = (126, 127)
"""Exit codes of a shell that cannot run a command."""
_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")


@contextmanager
def paged() -> Iterator[None]:
    """Show what is printed in the user's pager if it is longer than the terminal.

    Without a terminal for input, as in a git hook, a person cannot leave a pager: none is started.
    """
    terminal = sys.stdout
    if not (terminal.isatty() and sys.stdin.isatty()):
        yield
        return
    collected = _CollectedOutput()
    sys.stdout = collected
    is_whole = False
    try:
        yield
        is_whole = True
    finally:
        sys.stdout = terminal
        text = collected.getvalue()
        fits = _fits(text, os.get_terminal_size(terminal.fileno()))
        if fits or not is_whole or not _show(text):
            terminal.write(text)


class _CollectedOutput(io.StringIO):
    """Collects text that is printed as if to a terminal."""

    @override
    def isatty(self) -> bool:
        return True


def _fits(text: str, size: os.terminal_size) -> bool:
    """Return whether a text and a prompt after it have room on a terminal."""
    from rich.cells import cell_len  # noqa: PLC0415

    rows = 1
    for line in _STYLE.sub("", text).removesuffix("\n").split("\n"):
        rows += max(1, -(-cell_len(line) // max(size.columns, 1)))
        if rows > size.lines:
            return False
    return True


def _show(text: str) -> bool:
    """Show a text in the pager until the user leaves it; return False if no pager could run."""
    command = _pager()
    if command in _NO_PAGERS:
        return False
    sys.stdout.flush()
    try:
        process = subprocess.Popen(  # noqa: S602  # a command line of the user's own, as for git
            command,
            shell=True,
            stdin=subprocess.PIPE,
            env={**_SETTINGS, **os.environ},
        )
    except OSError:
        return False
    pipe: IO[bytes] = process.stdin  # type: ignore[assignment]  # stdin=PIPE
    with suppress(OSError, KeyboardInterrupt):  # the user left it before the end
        pipe.write(text.encode("utf-8", "backslashreplace"))
    with suppress(OSError):
        pipe.close()
    while process.returncode is None:
        with suppress(KeyboardInterrupt):  # Ctrl-C is for the pager
            process.wait()
    return process.returncode not in _NOT_RUN


def _pager() -> str:
    command = os.environ.get("GIT_PAGER")
    if command is None:
        from vibes_lsp.git.process import user_setting  # noqa: PLC0415  # short output needs no git

        command = user_setting("core.pager")
    if command is None:
        command = os.environ.get("PAGER")
    if command is None:
        command = _DEFAULT if shutil.which(_DEFAULT) else ""
    return command
