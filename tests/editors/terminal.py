"""A terminal that runs one program in its own tmux server."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self, TypeVar

from tests.requirements import REPOSITORY, require_editor
from tests.waiting import until

PICTURES: Final = REPOSITORY / "build/pictures"
"""Folder for the screens of failed tests."""
SCRIPTS: Final = Path(sysconfig.get_path("scripts"))
"""Folder of the `vibes-lsp` program."""
_T = TypeVar("_T")


def environment(scripts: Path = SCRIPTS, /, **more: str) -> dict[str, str]:
    """Return environment variables with UTF-8 and with `scripts` first on PATH."""
    return {
        **os.environ,
        "LC_ALL": "C.UTF-8",
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        **more,
    }


class Terminal:
    """Runs one program; a context manager.

    Args:
        command: The program and its arguments.
        folder: Working directory.
        environment: All environment variables.
        columns: Width of the terminal.
        lines: Height of the terminal.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        *,
        columns: int = 240,
        lines: int = 45,
    ) -> None:
        self._tmux = require_editor("tmux")
        self._home = Path(
            tempfile.mkdtemp(prefix="vibes-tmux-")
        )  # short, because socket paths have a length limit
        self._command = command
        self._folder = folder
        self._environment = dict(environment)
        self._size = ("-x", str(columns), "-y", str(lines))

    def __enter__(self) -> Self:
        clean = {**self._environment, "TERM": "xterm-256color"}
        clean.pop("TMUX", None)
        settings = [
            "set-option",
            "-g",
            "remain-on-exit",
            "on",
            ";",
            "set-option",
            "-s",
            "escape-time",
            "0",
            ";",
        ]
        session = [
            "new-session",
            "-d",
            "-s",
            "editor",
            "-c",
            str(self._folder),
            *self._size,
            shlex.join(self._command),
        ]
        self._run("start-server", ";", *settings, *session, environment=clean)
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._base(), "kill-server"], capture_output=True, check=False)
        shutil.rmtree(self._home, ignore_errors=True)

    def _base(self) -> list[str]:
        return [str(self._tmux), "-u", "-S", str(self._home / "socket"), "-f", "/dev/null"]

    def _run(self, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(
            [*self._base(), *arguments],
            env=environment or self._environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"tmux {arguments[0]}: {done.stderr}"
        return done.stdout

    def screen(self) -> str:
        """Return the text of the screen."""
        return self._run("capture-pane", "-p", "-t", "editor")

    def coloured_screen(self) -> str:
        """Return the text of the screen with its colours, as escape sequences."""
        return self._run("capture-pane", "-p", "-e", "-N", "-t", "editor")

    def keys(self, *keys: str) -> None:
        """Press keys, by tmux's names for them, or type text."""
        self._run("send-keys", "-t", "editor", *keys)

    def text(self, text: str) -> None:
        """Type literal text."""
        self._run("send-keys", "-t", "editor", "-l", text)

    def until(self, ask: Callable[[], _T | None], what: str) -> _T:
        """Call `ask` until its result is truthy; report the screen on timeout."""
        return until(ask, what, self.screen)

    def shows(self, *expected: str) -> str:
        """Wait until all texts are on the screen together; return the screen."""

        def seen() -> str | None:
            screen = self.screen()
            return screen if all(each in screen for each in expected) else None

        return self.until(seen, f"{expected} on the screen")

    def diagnostics(self) -> str:
        """Return the text of the screen."""
        return self.screen()

    def picture(self, name: str) -> Path:
        """Save the screen to a file."""
        file = PICTURES / "failed" / f"{name}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.screen(), encoding="utf-8")
        return file
