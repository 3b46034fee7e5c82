"""An Emacs of a test's own, in a terminal: nobody's configuration but the test's, and all that is known of it is what it shows."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from tests.editors.terminal import Terminal, environment

_EARLY: Final = """
(setq native-comp-jit-compilation nil native-comp-deferred-compilation nil) ; there may be no assembler
(setq xterm-extra-capabilities nil) ; else the terminal is asked, and an answer that comes late counts as typed
"""
_MODE_LINE: Final = re.compile(r"^-\S{3}:\S{3}.{1,2}F\d+ .*$", re.MULTILINE)
_PROBLEM: Final = re.compile(r"^ +(\d+) +\d+ +(?:error|warning|note) +(.*)$", re.MULTILINE)
_T = TypeVar("_T")


class Emacs:
    """One Emacs; a context manager.

    Args:
        program: Which one.
        folder: Where it starts.
        file: What it opens, from there.
        init: The user's `init.el`.
    """

    def __init__(self, program: Path, folder: Path, file: str, init: str) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="vibes-emacs-"))
        settings = self._home / ".emacs.d"
        settings.mkdir()
        (settings / "early-init.el").write_text(_EARLY, encoding="utf-8")
        (settings / "init.el").write_text(init, encoding="utf-8")
        command = [str(program), "--no-window-system", file]
        self.terminal = Terminal(
            command, folder, environment(HOME=str(self._home)), columns=150
        )  # wider, it puts windows side by side

    def __enter__(self) -> Self:
        self.terminal.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.terminal.__exit__(kind, error, trace)
        shutil.rmtree(self._home, ignore_errors=True)

    def until(self, ask: Callable[[], _T | None], what: str) -> _T:
        """Return the first answer that is something."""
        return self.terminal.until(ask, what)

    def account(self) -> str:
        """Return what there is to see."""
        return self.terminal.account()

    def picture(self, name: str) -> Path:
        """Leave what is on the screen in a file."""
        return self.terminal.picture(name)

    # --- going about

    def command(self, name: str) -> None:
        """Run a command by its name."""
        self.terminal.keys("M-x")
        self.terminal.text(name)
        self.terminal.keys("Enter")

    def open(self, file: Path) -> None:
        """Open a file, and wait until it shows."""
        self.terminal.keys("C-x", "C-f", "C-a", "C-k")
        self.terminal.text(str(file))
        self.terminal.keys("Enter")
        self.until(lambda: self.mode_line(file.name), f"{file.name} in a window")

    def switch(self, buffer: str) -> None:
        """Show another buffer in the window, and wait until it shows."""
        self.terminal.keys("C-x", "b")
        self.terminal.text(buffer)
        self.terminal.keys("Enter")
        self.until(lambda: self.mode_line(buffer), f"{buffer} in a window")

    def go_to(self, line: int) -> None:
        """Put the cursor on a 1-based line."""
        self.terminal.keys("M-g", "g")
        self.terminal.text(str(line))
        self.terminal.keys("Enter")

    def alone(self) -> None:
        """Close all windows but that of the cursor."""
        self.terminal.keys("C-x", "1")
        self.until(lambda: len(_MODE_LINE.findall(self.terminal.screen())) == 1, "one window")

    def choose_action(self, title: str) -> None:
        """Ask for the code actions at the cursor, and pick one by its title."""
        self.command("eglot-code-actions")
        self.terminal.shows("Pick an action")
        self.terminal.text(title)
        self.terminal.keys("Enter")

    # --- reading

    def mode_line(self, buffer: str) -> str | None:
        """Return the mode line of the window that shows a buffer, None where none does."""
        lines = _MODE_LINE.findall(self.terminal.screen())
        return next((line for line in lines if buffer in line.split()), None)

    def problems(self) -> list[tuple[int, str]] | None:
        """Return lines and messages of the list of problems, None where no window shows it."""
        _, heading, below = self.terminal.screen().partition(" Line Col Type ")
        return (
            [(int(line), message) for line, message in _PROBLEM.findall(_MODE_LINE.split(below)[0])]
            if heading
            else None
        )
