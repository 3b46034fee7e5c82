"""A folder in which one agent runs: a project, a home folder, and an environment of its own.

An agent gets none of this machine's settings, and no way to the network: proxies lead to a closed
port, so that only 127.0.0.1 is reached.
"""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.agents.story import START
from tests.waiting import until
from vibes_lsp.patience import VARIABLE as PATIENCE

_VIBES: Final = Path(sysconfig.get_path("scripts"), "vibes")
_CLOSED_PORT: Final = "http://127.0.0.1:9"
_TIMEOUT: Final = 240
"""Seconds after which an agent is stopped."""


class Sandbox:
    """The folder, with a project that is committed to git.

    Attributes:
        home: The agent's home folder.
        project: The project.
        programs: A folder on PATH with `vibes`.
    """

    def __init__(self, folder: Path) -> None:
        self._temporary = folder / "tmp"
        self.home, self.project = folder / "home", folder / "project"
        self.programs = folder / "bin"
        for each in (self._temporary, self.home, self.project, self.programs):
            each.mkdir(parents=True)
        (self.programs / "vibes").symlink_to(_VIBES)
        for name, text in START.items():
            self.write(self.project / name, text)
        author = ("-c", "user.name=Test User", "-c", "user.email=test@example.org")
        for arguments in (
            ("init", "-q", "-b", "main"),
            ("add", "-A"),
            (*author, "commit", "-q", "-m", "start"),
        ):
            self.run(["git", *arguments]).check_returncode()

    def write(self, path: Path, content: str | Mapping[str, Any]) -> None:
        """Write a file with its folders: text, or an object as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=2) + "\n"
        path.write_text(text, encoding="utf-8")

    def replace_program(self, script: str | None) -> None:
        """Make `vibes` a shell script, or remove it."""
        program = self.programs / "vibes"
        program.unlink()
        if script is not None:
            self.write(program, f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Return all environment variables of a program in here."""
        return {
            "HOME": str(self.home),
            "TMPDIR": str(self._temporary),
            "PATH": os.pathsep.join(
                map(str, (self.programs, "/usr/local/bin", "/usr/bin", "/bin"))
            ),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            "HTTPS_PROXY": _CLOSED_PORT,
            "HTTP_PROXY": _CLOSED_PORT,
            PATIENCE: "unlimited,saving=15",
            **more,
        }

    def run(
        self, command: Sequence[str | Path], more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program in the project, without standard input."""
        return subprocess.run(
            list(map(str, command)),
            cwd=self.project,
            env=self.environment(more or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
        )

    def vibes(self, *arguments: str) -> str:
        """Run `vibes`; return what it prints.

        Raises:
            AssertionError: It failed.
        """
        done = self.run(["vibes", *arguments])
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def wait_until_recorded(self) -> None:
        """Wait until no event waits to be recorded."""
        events = self.project / ".ai-audit/spool/events"
        until(lambda: not any(events.glob("*.json")), "events to be recorded", lambda: str(events))

    def files(self) -> dict[str, str]:
        """Return the project's files that git tracks or would add, but those in hidden folders."""
        listed = self.run(["git", "ls-files", "-co", "--exclude-standard"]).stdout.splitlines()
        return {
            name: (self.project / name).read_text(encoding="utf-8")
            for name in listed
            if not name.startswith(".")
        }
