"""A project and a home folder in which `vibes init` sets up agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cli.run_vibes import vibes
from vibes_lsp.agents.all_agents import AGENTS

if TYPE_CHECKING:
    from tests.cli.run_vibes import CommandResult


class Setup:
    """A project and a home folder, with nothing of any agent.

    Attributes:
        project: The project.
        home: The home folder.
        programs: A folder on PATH.
    """

    def __init__(self, folder: Path) -> None:
        self.project, self.home, self.programs = (
            folder / name for name in ("project", "home", "programs")
        )
        for each in (self.project, self.home, self.programs):
            each.mkdir()

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which only agents of this home and these programs are found."""
        moved = {agent.variable: "" for agent in AGENTS if agent.variable}
        path = os.pathsep.join([str(self.programs), "/usr/bin", "/bin"])
        return {"HOME": str(self.home), "PATH": path, **moved}

    def run(self, *options: str, **environment: str) -> CommandResult:
        return vibes("init", *options, cwd=self.project, **{**self.environment, **environment})

    def write(self, name: str, text: str) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return path

    def add_program(self, name: str, script: str = "") -> None:
        program = self.programs / name
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)

    def files(self) -> dict[str, bytes]:
        """Return the files of project and home, without the audit trail."""
        return {
            path.relative_to(top.parent).as_posix(): path.read_bytes()
            for top in (self.project, self.home)
            for path in sorted(top.rglob("*"))
            if path.is_file() and ".ai-audit" not in path.parts
        }
