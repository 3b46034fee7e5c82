"""One key at a time from a terminal, and lines: what was typed before a question counts for none."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

if sys.platform == "win32":
    import msvcrt
else:
    import select
    import signal
    import termios
    import tty

_LONGEST = 64
"""Bytes that one key sends at most; more is something pasted."""


def is_terminal() -> bool:
    """Whether somebody is there to read and to type."""
    return sys.stdin.isatty() and sys.stdout.isatty()


if sys.platform == "win32":

    @contextmanager
    def listening() -> Iterator[Callable[[], str]]:
        """Give a function that waits for a key: its character, nothing for a key that has none or for several at once.

        Ask the question within: what is typed before is forgotten, what is typed after is not.
        """
        while msvcrt.kbhit():
            msvcrt.getwch()
        yield _key

    def _key() -> str:
        typed = msvcrt.getwch()
        if typed == "\x03":
            raise KeyboardInterrupt
        if typed in {"\x04", "\x1a"}:
            raise EOFError
        if typed in {"\x00", "\xe0"}:  # a key without a character says in a second one which
            msvcrt.getwch()
            return ""
        return typed

else:

    @contextmanager
    def listening() -> Iterator[Callable[[], str]]:
        """Give a function that waits for a key: its character, nothing for a key that has none or for several at once.

        Ask the question within: what is typed before is forgotten, what is typed after is not.
        """
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        resumed = signal.signal(
            signal.SIGCONT, lambda *_: tty.setcbreak(terminal)
        )  # a shell gives lines back to whoever it resumes
        try:
            with _signals() as signals:
                tty.setcbreak(terminal, termios.TCSAFLUSH)
                yield lambda: _key(terminal, signals)
        finally:
            signal.signal(signal.SIGCONT, resumed or signal.SIG_DFL)
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    @contextmanager
    def _signals() -> Iterator[int]:
        """Give a descriptor that can be read once a signal has come: one that comes right before a read does not end it."""
        waking, woken = os.pipe()
        os.set_blocking(woken, False)
        former = signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        try:
            yield waking
        finally:
            signal.set_wakeup_fd(former)
            os.close(waking)
            os.close(woken)

    def _key(terminal: int, signals: int) -> str:
        while signals in select.select([terminal, signals], [], [])[0]:
            os.read(signals, _LONGEST)  # Ctrl-C raises here, if not before
        typed = os.read(terminal, _LONGEST)
        if typed in {b"", b"\x04"}:
            raise EOFError
        text = typed.decode("utf-8", "replace")
        return text if len(text) == 1 and text.isprintable() else ""


def read_line() -> str:
    """Return a line that is typed, which the terminal lets one edit.

    Raises:
        EOFError: The end of input was typed instead.
    """
    line = sys.stdin.buffer.readline()
    if not line:
        raise EOFError
    return line.decode("utf-8", "replace").strip()
