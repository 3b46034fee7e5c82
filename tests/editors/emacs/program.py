"""An Emacs with a fresh configuration in a terminal; its state is read from the screen."""

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
        program: The executable.
        folder: Working directory.
        file: File to open, relative to `folder`.
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
        )  # in a wider terminal, Emacs splits windows side by side

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
        """Call `ask` until its result is truthy, and return that."""
        return self.terminal.until(ask, what)

    def diagnostics(self) -> str:
        """Return the text of the screen."""
        return self.terminal.diagnostics()

    def picture(self, name: str) -> Path:
        """Save the screen to a file."""
        return self.terminal.picture(name)

    # --- actions

    def command(self, name: str) -> None:
        """Run a command by its name."""
        self.terminal.keys("M-x")
        self.terminal.text(name)
        self.terminal.keys("Enter")

    def open(self, file: Path) -> None:
        """Open a file and wait until it is visible."""
        self.terminal.keys("C-x", "C-f", "C-a", "C-k")
        self.terminal.text(str(file))
        self.terminal.keys("Enter")
        self.until(lambda: self.mode_line(file.name), f"{file.name} in a window")

    def switch(self, buffer: str) -> None:
        """Switch to another buffer and wait until it is visible."""
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
        """Close all other windows."""
        self.terminal.keys("C-x", "1")
        self.until(lambda: len(_MODE_LINE.findall(self.terminal.screen())) == 1, "one window")

    def choose_action(self, title: str) -> None:
        """Request code actions at the cursor and pick one by its title."""
        self.command("eglot-code-actions")
        self.terminal.shows("Pick an action")
        self.terminal.text(title)
        self.terminal.keys("Enter")

    # --- reading

    def mode_line(self, buffer: str) -> str | None:
        """Return the mode line of the window that shows a buffer, else None."""
        lines = _MODE_LINE.findall(self.terminal.screen())
        return next((line for line in lines if buffer in line.split()), None)

    def problems(self) -> list[tuple[int, str]] | None:
        """Return line and message of each listed problem; None if the list is not visible."""
        _, heading, below = self.terminal.screen().partition(" Line Col Type ")
        return (
            [(int(line), message) for line, message in _PROBLEM.findall(_MODE_LINE.split(below)[0])]
            if heading
            else None
        )
