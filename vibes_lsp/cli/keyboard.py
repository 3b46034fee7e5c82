"""Reads single keys and lines from a terminal; input typed before a question is discarded."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

if sys.platform == "win32":
    import msvcrt
else:
    import signal
    import termios
    import tty

_MAX_KEY_BYTES = 64
"""Bytes that one key sends at most; more is pasted text."""


def is_interactive() -> bool:
    """Return whether both input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


if sys.platform == "win32":

    @contextmanager
    def key_reader() -> Iterator[Callable[[], str]]:
        """Yield a function that waits for a key and returns its character.

        It returns "" for a key without a character and for several at once. Print the question
        inside the context: keys pressed before it are discarded.
        """
        while msvcrt.kbhit():
            msvcrt.getwch()
        yield _read_key

    def _read_key() -> str:
        typed = msvcrt.getwch()
        if typed == "\x03":
            raise KeyboardInterrupt
        if typed in {"\x04", "\x1a"}:
            raise EOFError
        if typed in {"\x00", "\xe0"}:  # first half of a key without a character
            msvcrt.getwch()
            return ""
        return typed

else:

    @contextmanager
    def key_reader() -> Iterator[Callable[[], str]]:
        """Yield a function that waits for a key and returns its character.

        It returns "" for a key without a character and for several at once. Print the question
        inside the context: keys pressed before it are discarded.
        """
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        # a shell sets the terminal back to line mode before it resumes a program
        resumed = signal.signal(signal.SIGCONT, lambda *_: tty.setcbreak(terminal))
        try:
            tty.setcbreak(terminal, termios.TCSAFLUSH)
            yield lambda: _read_key(terminal)
        finally:
            signal.signal(signal.SIGCONT, resumed or signal.SIG_DFL)
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    def _read_key(terminal: int) -> str:
        typed = os.read(terminal, _MAX_KEY_BYTES)
        if typed in {b"", b"\x04"}:
            raise EOFError
        text = typed.decode("utf-8", "replace")
        return text if len(text) == 1 and text.isprintable() else ""


def read_line() -> str:
    """Return a typed line.

    Raises:
        EOFError: The user ended the input instead (Ctrl-D).
    """
    line = sys.stdin.buffer.readline()
    if not line:
        raise EOFError
    return line.decode("utf-8", "replace").strip()
