"""A coding agent: the type of the constants in the modules of the agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from vibes_lsp.agents.events import Agent, AgentEvent
from vibes_lsp.agents.session_files import CurrentSession, PastSessions
from vibes_lsp.model.members import Members

IN_SH: Final = {"type": "command", "command": "{sh}"}
IN_ANY_SHELL: Final = {"type": "command", "command": "{any}"}
"""For agents that run one command with sh, and on Windows with PowerShell, where `||` is new."""


class Scope(StrEnum):
    """Whose configuration it is."""

    PROJECT = "project"
    USER = "user"


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


class TrustState(StrEnum):
    """Whether an agent runs our hooks.

    Attributes:
        GIVEN: A person trusted what it wants to be trusted.
        MISSING: It does not run them before a person trusts something.
        UNKNOWN: It could not be found out.
        NOT_NEEDED: It wants nothing.
    """

    GIVEN = "given"
    MISSING = "missing"
    UNKNOWN = "unknown"
    NOT_NEEDED = "not needed"


@dataclass(frozen=True, slots=True)
class Trust:
    """The state of an agent's trust.

    Attributes:
        state: Whether it runs our hooks.
        message: What was found; empty if nothing is wanted.
        hint: What a person does to trust them; empty if nothing.
    """

    state: TrustState
    message: str = ""
    hint: str = ""


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
class ServerList:
    """Where an agent lists its MCP servers.

    Attributes:
        project_file: Its file in a project; empty if there is none.
        user_file: The same in the agent's folder.
        member: The JSON member with the servers; empty for Codex's TOML.
        base: Other members of an entry.
        user_base: Other members of an entry in `user_file`.
        is_one_list: Whether program and arguments are one list.
    """

    project_file: str
    user_file: str
    member: str = "mcpServers"
    base: Members = field(default_factory=dict)
    user_base: Members = field(default_factory=dict)
    is_one_list: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingAgent:
    """An agent that `vibes hook` records.

    Attributes:
        agent: Its name.
        slug: Its name on the command line, and that of its page in the documentation.
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
        read_event: Returns what happened by a payload of it; None for nothing to record.
        check_trust: Returns whether it runs our hooks, by whose they are, the project with links
            resolved and the person's home; None where that cannot be found out.
        servers: Its list of MCP servers; None if we write none.
        session: How the session file is read that its events name; None if none is.
        past_sessions: How the files of all its sessions are read; None if none are.
    """

    agent: Agent
    slug: str
    programs: tuple[str, ...]
    folder: str
    form: Form
    project_file: str
    user_file: str = ""
    events: tuple[str, ...]
    handler: Mapping[str, str] = field(default_factory=dict)
    variable: str = ""
    base: Members = field(default_factory=dict)
    trust: TrustStep = TrustStep.NONE
    tried: str = ""
    read_event: Callable[[Members], AgentEvent | None]
    check_trust: Callable[[Scope, Path, UserHome], Trust] | None = None
    servers: ServerList | None = None
    session: CurrentSession | None = None
    past_sessions: PastSessions | None = None

    @property
    def name(self) -> str:
        """Its name, as it is recorded."""
        return self.agent.value

    def home_folder(self, home: UserHome) -> Path:
        """Return the agent's own folder."""
        moved = home.variables.get(self.variable, "") if self.variable else ""
        return Path(moved) if moved else home.path / self.folder
