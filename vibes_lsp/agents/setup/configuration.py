"""The files that hook an agent up, and what must be in them; `hook_files` writes them."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, Protocol

from vibes_lsp.agents.agent import CodingAgent, Form, Scope, UserHome
from vibes_lsp.agents.setup.hook_configuration import HookConfiguration, HookState
from vibes_lsp.agents.setup.whole_files import WholeFile
from vibes_lsp.model.members import Members

PROGRAM: Final = "vibes"
"""The name in a project's configuration: it is shared, and each machine has its own path."""


class Configuration(Protocol):
    """What must be in a file. The methods are pure, and raise a `VibesError` for a wrong text."""

    def add(self, text: str | None) -> str:
        """Return the text with ours; None is a file that does not exist."""

    def remove(self, text: str) -> str | None:
        """Return the text without ours; None to delete the file."""

    def inspect(self, text: str) -> HookState:
        """Return whether ours is in the text."""


@dataclass(frozen=True, slots=True)
class ConfigurationFile:
    """A file that an agent reads, and what must be in it.

    Attributes:
        path: The file.
        scope: Whose file it is. Links of a project must not lead out of it; a person's own may.
        top: The project's folder, or the agent's in the home folder.
        configuration: What must be in it.
    """

    path: Path
    scope: Scope
    top: Path
    configuration: Configuration


def configuration_files(
    agent: CodingAgent, scope: Scope, project: Path, home: UserHome, *, program: str = PROGRAM
) -> list[ConfigurationFile]:
    """Return the files to write for an agent; none if it has no such configuration.

    Args:
        agent: The agent.
        scope: Whose configuration.
        project: The project's folder.
        home: The person's home.
        program: What the hooks run.
    """
    if scope is Scope.USER and not agent.user_file:
        return []
    top = project if scope is Scope.PROJECT else agent.home_folder(home)
    path = top / (agent.project_file if scope is Scope.PROJECT else agent.user_file)
    if agent.form is Form.EXECUTABLES:
        hook = WholeFile(
            f"{_commands(program)['sh']}\n",
            "#",
            first_line="#!/bin/sh\n",
            is_executable=True,
        )
        return [ConfigurationFile(path / event, scope, top, hook) for event in agent.events]
    if agent.form is Form.PLUGIN:
        return [ConfigurationFile(path, scope, top, _plugin(agent, program))]
    return [ConfigurationFile(path, scope, top, hook_configuration(agent, program))]


def hook_configuration(agent: CodingAgent, program: str = PROGRAM) -> HookConfiguration:
    """Return what the JSON configuration of an agent must contain."""
    commands = _commands(program)
    handler: Members = {name: text.format(**commands) for name, text in agent.handler.items()}
    entry: Members = {"hooks": [handler]} if agent.form is Form.GROUPS else handler
    return HookConfiguration(dict.fromkeys(agent.events, entry), agent.base)


def _commands(program: str) -> dict[str, str]:
    """Return the command for each shell; a path is used only in the shells of its system."""
    quoted = shlex.quote(program)
    is_windows = program[1:2] == ":"
    there = program if is_windows else PROGRAM
    plain = program if program == quoted else PROGRAM
    in_cmd = there.replace("/", "\\") if " " not in there else PROGRAM
    in_powershell = f"& '{there}'" if is_windows else PROGRAM
    return {
        # Some agents add what a hook prints to the prompt: also what a wrapper of ours prints.
        "sh": f"{quoted} hook >/dev/null 2>&1 || true",
        "any": f"{plain} hook; exit 0",
        "cmd": f'cmd /c "{in_cmd} hook >nul 2>&1 || exit 0"',
        "powershell": f"{in_powershell} hook; exit 0",  # also harmless in cmd, as `any` is
    }


def _plugin(agent: CodingAgent, program: str) -> WholeFile:
    name = f"{agent.slug}{Path(agent.project_file).suffix}"
    body = (files("vibes_lsp.agents.setup") / "plugins" / name).read_text(encoding="utf-8")
    body = body.replace('const program = "vibes"', f"const program = {json.dumps(program)}")
    # Amp reads a plugin only if its first line says that the person accepts changes of the API.
    first, rest = body.split("\n", 1) if body.startswith("// @") else ("", body)
    return WholeFile(rest, "//", first_line=f"{first}\n" if first else "")
