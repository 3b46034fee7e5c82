"""The table of coding agents: how each is found, where it is configured, and what it calls."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Final, Protocol

from vibes_lsp.agents.setup.hook_configuration import HookConfiguration, HookState
from vibes_lsp.agents.setup.whole_files import WholeFile
from vibes_lsp.errors import VibesError
from vibes_lsp.model.members import Members

PROGRAM: Final = "vibes"
"""The name in a project's configuration: it is shared, and each machine has its own path."""


class Scope(StrEnum):
    """Whose configuration it is."""

    PROJECT = "project"
    USER = "user"


class TrustStep(StrEnum):
    """What an agent wants before it runs a hook.

    Attributes:
        NONE: Nothing.
        FOLDER: A person trusts the folder of the project.
        HOOKS: A person trusts the project, and each hook as it is written.
    """

    NONE = "none"
    FOLDER = "folder"
    HOOKS = "hooks"


class Form(StrEnum):
    """How an agent is configured.

    Attributes:
        GROUPS: JSON: for each event groups with a matcher and a list of hooks.
        ENTRIES: JSON: for each event a list of hooks.
        EXECUTABLES: A folder with an executable file for each event.
        PLUGIN: A file with a plugin.
    """

    GROUPS = "groups"
    ENTRIES = "entries"
    EXECUTABLES = "executables"
    PLUGIN = "plugin"


@dataclass(frozen=True, slots=True)
class UserHome:
    """The home folder of the person, and the variables that move agents' folders.

    Attributes:
        path: The folder.
        variables: The environment.
    """

    path: Path
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CodingAgent:
    """An agent that `vibes hook` records.

    Attributes:
        slug: Its name on the command line, and that of its page in the documentation.
        name: Its name.
        programs: Its programs.
        folder: Its folder in the home folder.
        variable: The environment variable that names another such folder; empty for none.
        form: How it is configured.
        project_file: Its configuration in a project: a file, or a folder of executables.
        user_file: The same, relative to `folder`; empty if there is none.
        events: The events that run the hook, none of which can stop a tool.
        handler: What a hook is in the configuration, with `{sh}`, `{cmd}` and `{powershell}` for
            the command in these shells.
        base: Other members that a new configuration needs.
        trust: What it wants before it runs a hook.
        tried: The version that was tried; empty if only its published description is known.
    """

    slug: str
    name: str
    programs: tuple[str, ...]
    folder: str
    form: Form
    project_file: str
    user_file: str
    events: tuple[str, ...]
    handler: Mapping[str, str] = field(default_factory=dict)
    variable: str = ""
    base: Members = field(default_factory=dict)
    trust: TrustStep = TrustStep.NONE
    tried: str = ""

    def home_folder(self, home: UserHome) -> Path:
        """Return the agent's own folder."""
        moved = home.variables.get(self.variable, "") if self.variable else ""
        return Path(moved) if moved else home.path / self.folder


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
            unmarked=_UNMARKED,
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


_UNMARKED: Final = (
    "#!/bin/sh\nvibes hook || true\n",
    "#!/bin/sh\nvibes hook >/dev/null 2>&1 || true\n",
)
"""What the documentation showed before there was a command to write it."""

_COMMAND: Final = {"type": "command", "command": "{sh}"}
_ANY_SHELL: Final = {"type": "command", "command": "{any}"}
"""For agents that run one command with sh, and on Windows with PowerShell, where `||` is new."""
_COPILOT: Final = {"type": "command", "bash": "{sh}", "powershell": "{powershell}"}
_CLAUDE_EVENTS: Final = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "SessionEnd",
)
_COPILOT_EVENTS: Final = (
    "sessionStart",
    "userPromptSubmitted",
    "postToolUse",
    "subagentStart",
    "subagentStop",
    "agentStop",
    "sessionEnd",
)

AGENTS: Final = (
    CodingAgent(
        "claude-code",
        "Claude Code",
        ("claude",),
        ".claude",
        Form.GROUPS,
        ".claude/settings.json",
        "settings.json",
        _CLAUDE_EVENTS,
        _COMMAND,
        variable="CLAUDE_CONFIG_DIR",
        trust=TrustStep.FOLDER,
        tried="2.1.330",
    ),
    CodingAgent(
        "codex",
        "Codex",
        ("codex",),
        ".codex",
        Form.GROUPS,
        ".codex/hooks.json",
        "hooks.json",
        (
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "SubagentStart",
            "SubagentStop",
            "Stop",
            "SessionEnd",
        ),
        {**_COMMAND, "commandWindows": "{cmd}"},
        variable="CODEX_HOME",
        trust=TrustStep.HOOKS,
        tried="0.169.0",
    ),
    CodingAgent(
        "gemini-cli",
        "Gemini CLI",
        ("gemini",),
        ".gemini",
        Form.GROUPS,
        ".gemini/settings.json",
        "settings.json",
        ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"),
        _ANY_SHELL,
        trust=TrustStep.FOLDER,
        tried="0.61.0",
    ),
    CodingAgent(
        "copilot-cli",
        "Copilot CLI",
        ("copilot",),
        ".copilot",
        Form.ENTRIES,
        ".github/hooks/vibes.json",
        "hooks/vibes.json",
        _COPILOT_EVENTS,
        _COPILOT,
        variable="COPILOT_HOME",
        base={"version": 1},
        trust=TrustStep.FOLDER,
        tried="1.0.102",
    ),
    CodingAgent(
        "qwen-code",
        "Qwen Code",
        ("qwen",),
        ".qwen",
        Form.GROUPS,
        ".qwen/settings.json",
        "settings.json",
        (
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "PostToolUseFailure",
            "SubagentStop",
            "Stop",
            "SessionEnd",
        ),
        _ANY_SHELL,
        trust=TrustStep.FOLDER,
        tried="0.24.4",
    ),
    CodingAgent(
        "opencode",
        "opencode",
        ("opencode",),
        ".config/opencode",
        Form.PLUGIN,
        ".opencode/plugins/vibes.js",
        "plugins/vibes.js",
        ("session.created", "chat.message", "tool.execute.after", "session.idle"),
        variable="OPENCODE_CONFIG_DIR",
        tried="1.18.33",
    ),
    CodingAgent(
        "cline",
        "Cline",
        ("cline",),
        ".cline",
        Form.EXECUTABLES,
        ".cline/hooks",
        "",
        ("TaskStart", "PostToolUse", "TaskComplete"),
        tried="3.0.65",
    ),
    CodingAgent(
        "cursor",
        "Cursor",
        ("cursor", "cursor-agent"),
        ".cursor",
        Form.ENTRIES,
        ".cursor/hooks.json",
        "hooks.json",
        (
            "sessionStart",
            "beforeSubmitPrompt",
            "afterFileEdit",
            "afterShellExecution",
            "postToolUse",
            "stop",
            "sessionEnd",
        ),
        {"command": "{any}"},
        base={"version": 1},
        trust=TrustStep.FOLDER,
    ),
    CodingAgent(
        "windsurf",
        "Windsurf",
        ("windsurf",),
        ".codeium/windsurf",
        Form.ENTRIES,
        ".windsurf/hooks.json",
        "hooks.json",
        ("pre_user_prompt", "post_read_code", "post_write_code", "post_run_command"),
        {"command": "{sh}", "powershell": "{powershell}"},
        trust=TrustStep.FOLDER,
    ),
    CodingAgent(
        "copilot-vscode",
        "Copilot in VS Code",
        ("code", "code-insiders"),
        ".vscode",
        Form.ENTRIES,
        ".github/hooks/vibes.json",  # the file of Copilot CLI, whose form VS Code reads too
        "",
        _COPILOT_EVENTS,
        _COPILOT,
        base={"version": 1},
        trust=TrustStep.FOLDER,
    ),
    CodingAgent(
        "amp",
        "Amp",
        ("amp",),
        ".config/amp",
        Form.PLUGIN,
        ".amp/plugins/vibes.ts",
        "plugins/vibes.ts",
        ("session.start", "agent.start", "tool.result", "agent.end"),
    ),
)
"""All agents, in the order of the documentation."""

BY_SLUG: Final[Mapping[str, CodingAgent]] = {agent.slug: agent for agent in AGENTS}


class UnknownAgent(VibesError):
    """No agent has the given name."""

    code = "unknown-agent"


def find_agents(names: str) -> tuple[CodingAgent, ...]:
    """Return the agents of a list of slugs, separated by commas.

    Raises:
        UnknownAgent: No agent has one of these names.
    """
    slugs = [name.strip().lower() for name in names.split(",") if name.strip()]
    wrong = [slug for slug in slugs if slug not in BY_SLUG]
    if wrong or not slugs:
        known = ", ".join(BY_SLUG)
        raise UnknownAgent(
            f"unknown agent {wrong[0] if wrong else names!r}: expected all, detected, none or a"
            f" list of {known}"
        )
    return tuple(BY_SLUG[slug] for slug in dict.fromkeys(slugs))


def current_home() -> UserHome:
    """Return the home of the person that runs this program."""
    try:
        path = Path.home()
    except RuntimeError:  # in a container, a user may have no home: nothing is found or written
        path = Path(os.devnull)
    return UserHome(path, os.environ)
