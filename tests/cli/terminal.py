"""A person at a terminal: runs `vibes` on a pseudo-terminal, reads what is shown, and presses keys."""

from __future__ import annotations

import codecs
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.cli.running import SCRIPT, surroundings

if sys.platform != "win32":
    import fcntl
    import pty
    import struct
    import termios

_PATIENCE: Final = 60
"""Seconds after which something that was promised counts as never coming; no test waits for them to pass."""
_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """A pseudo-terminal with a program on it.

    Attributes:
        shown: All that the program has written and that was not yet waited for, without colours.
        whole: All that it has written, colours and all.
    """

    def __init__(self, screen: int, program: subprocess.Popen[bytes]) -> None:
        self._screen, self._program = screen, program
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.shown = self.whole = ""

    def see(self, text: str) -> str:
        """Wait until a text is shown; return all that was shown since the last time, up to its end."""
        while text not in self.shown:
            assert self._read(), f"{text!r} never came, but {self.shown!r}"
        before, found, self.shown = self.shown.partition(text)
        return before + found

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._screen, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the window; the program is told."""
        _resize(self._screen, rows, columns)

    def suspend_and_resume(self) -> None:
        """Stop the program and let it go on, as Ctrl-Z and `fg` do in a shell, which has the terminal to itself meanwhile."""
        os.kill(self._program.pid, signal.SIGSTOP)
        os.waitpid(self._program.pid, os.WUNTRACED)
        mode = termios.tcgetattr(self._screen)
        mode[3] |= termios.ECHO | termios.ICANON
        termios.tcsetattr(self._screen, termios.TCSANOW, mode)
        os.kill(self._program.pid, signal.SIGCONT)
        deadline = time.monotonic() + _PATIENCE
        while self.echoes:
            assert time.monotonic() < deadline, "it never took the terminal back"
            select.select([], [], [], 0.01)

    @property
    def echoes(self) -> bool:
        """Whether the terminal shows what is typed, as a shell expects to find it."""
        return bool(termios.tcgetattr(self._screen)[3] & termios.ECHO)

    def end(self) -> int:
        """Wait until the program ends; return its exit code."""
        while self._read():
            pass
        return self._program.wait(_PATIENCE)

    def _read(self) -> bool:
        """Take in more of what is shown; say whether there was any."""
        ready, _, _ = select.select([self._screen], [], [], _PATIENCE)
        assert ready, f"nothing more came after {self.shown!r}"
        try:
            data = os.read(self._screen, 1 << 16)
        except OSError:  # as Linux says that the other end is closed
            data = b""
        text = self._decoder.decode(data)
        self.whole += text
        self.shown = _STYLE.sub("", (self.shown + text).replace("\r\n", "\n"))
        return bool(data)


@contextmanager
def terminal(*arguments: str | Path, cwd: Path, **environment: str) -> Iterator[Terminal]:
    """Run `vibes` on a terminal of 40 lines of 80 columns, in a session of its own: Ctrl-C reaches it and nothing else."""
    screen, line = pty.openpty()
    _resize(screen, 40, 80)
    program = subprocess.Popen(
        [sys.executable, "-c", _LEADER, str(SCRIPT), *map(str, arguments)],
        cwd=cwd,
        env=surroundings({"TERM": "xterm", **environment}),
        stdin=line,
        stdout=line,
        stderr=line,
        start_new_session=True,
    )
    os.close(line)
    try:
        yield Terminal(screen, program)
    finally:
        program.kill()
        program.wait(_PATIENCE)
        os.close(screen)


_LEADER: Final = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Makes the terminal the session's own, so that it sends signals, and has Ctrl-C end what it becomes, as a shell does; tests may run where it is ignored."""


def _resize(screen: int, rows: int, columns: int) -> None:
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
