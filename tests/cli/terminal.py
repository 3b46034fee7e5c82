"""Runs `vibes` on a pseudo-terminal, reads what it shows and presses keys."""

from __future__ import annotations

import codecs
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

from tests.cli.run_vibes import SCRIPT, clean_environment
from tests.waiting import TIMEOUT

if sys.platform != "win32":
    import fcntl
    import pty
    import struct
    import termios

_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """A pseudo-terminal with a program on it.

    Attributes:
        shown: Output that was not waited for yet, without colours.
        whole: All output, with colours.
    """

    def __init__(self, screen: int, program: subprocess.Popen[bytes]) -> None:
        self._screen, self._program = screen, program
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.shown = self.whole = ""

    def wait_for(self, text: str) -> str:
        """Wait for a text; return the output up to its end since the last call."""
        while text not in self.shown:
            assert self._read(), f"{text!r} never came, but {self.shown!r}"
        before, found, self.shown = self.shown.partition(text)
        return before + found

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._screen, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the window, which signals the program."""
        _resize(self._screen, rows, columns)

    def suspend_and_resume(self) -> None:
        """Stop and resume the program as Ctrl-Z and `fg` do; a shell changes the mode between."""
        os.kill(self._program.pid, signal.SIGSTOP)
        os.waitpid(self._program.pid, os.WUNTRACED)
        mode = termios.tcgetattr(self._screen)
        mode[3] |= termios.ECHO | termios.ICANON
        termios.tcsetattr(self._screen, termios.TCSANOW, mode)
        os.kill(self._program.pid, signal.SIGCONT)
        deadline = time.monotonic() + TIMEOUT
        while self.echoes:
            assert time.monotonic() < deadline, "the program did not set the terminal mode again"
            select.select([], [], [], 0.01)

    @property
    def echoes(self) -> bool:
        """Whether the terminal echoes typed text, as a shell expects."""
        return bool(termios.tcgetattr(self._screen)[3] & termios.ECHO)

    def wait_for_exit(self) -> int:
        """Wait for the end of the program; return its exit code."""
        while self._read():
            pass
        return self._program.wait(TIMEOUT)

    def interrupt(self) -> None:
        """Press Ctrl-C until the program ends.

        Python loses the signal if it comes after the prompt of `input` and before the system call
        that waits for a line: a person presses the keys again.
        """
        deadline = time.monotonic() + TIMEOUT
        while self._program.poll() is None:
            assert time.monotonic() < deadline, f"Ctrl-C did not end it; {self.shown!r}"
            self.press("\x03")
            if select.select([self._screen], [], [], 0.2)[0] and not self._read():
                break
        self.wait_for_exit()

    def _read(self) -> bool:
        """Read more output; return whether there was any."""
        ready, _, _ = select.select([self._screen], [], [], TIMEOUT)
        assert ready, f"nothing more came after {self.shown!r}"
        try:
            data = os.read(self._screen, 1 << 16)
        except OSError:  # on Linux: the other end is closed
            data = b""
        text = self._decoder.decode(data)
        self.whole += text
        self.shown = _STYLE.sub("", (self.shown + text).replace("\r\n", "\n"))
        return bool(data)


def terminal(
    *arguments: str | Path, cwd: Path, **environment: str
) -> AbstractContextManager[Terminal]:
    """Run `vibes` on a terminal of 40 lines of 80 columns, in a session of its own for Ctrl-C."""
    return terminal_of(40, arguments, cwd, environment)


@contextmanager
def terminal_of(
    rows: int, arguments: Sequence[str | Path], cwd: Path, environment: Mapping[str, str]
) -> Iterator[Terminal]:
    """Run `vibes` as `terminal` does, on a terminal of some lines."""
    screen, line = pty.openpty()
    _resize(screen, rows, 80)
    program = subprocess.Popen(
        [sys.executable, "-c", _LEADER, str(SCRIPT), *map(str, arguments)],
        cwd=cwd,
        env=clean_environment({"TERM": "xterm", **environment}),
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
        program.wait(TIMEOUT)
        os.close(screen)


_LEADER: Final = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Makes the terminal control the session, so that it sends signals, and resets SIGINT, which may be
ignored where tests run."""


def _resize(screen: int, rows: int, columns: int) -> None:
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
