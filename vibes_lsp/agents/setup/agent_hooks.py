"""Hook up an agent, remove its hooks, and report its state: for `vibes init` and `vibes doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vibes_lsp.agents.agent import (
    CodingAgent,
    Scope,
    Trust,
    TrustState,
    TrustStep,
    UserHome,
)
from vibes_lsp.agents.installation import find_program, is_installed
from vibes_lsp.agents.setup.configuration import (
    PROGRAM,
    ConfigurationFile,
    configuration_files,
)
from vibes_lsp.agents.setup.hook_configuration import HookState
from vibes_lsp.agents.setup.hook_files import (
    ConfigurationChange,
    add_to_files,
    inspect_file,
    remove_from_files,
)
from vibes_lsp.errors import RefusedWrite


@dataclass(frozen=True, slots=True)
class AgentChange:
    """What was done for an agent.

    Attributes:
        agent: The agent.
        scope: Whose configuration was changed.
        files: What was done to each file.
        trust: Whether the agent runs the hooks now; None after a removal, and for an agent that is
            not on this machine.
    """

    agent: CodingAgent
    scope: Scope
    files: tuple[ConfigurationChange, ...]
    trust: Trust | None = None


@dataclass(frozen=True, slots=True)
class HookedFile:
    """A configuration file of an agent, as it is.

    Attributes:
        scope: Whose configuration it is.
        path: The file.
        state: Whether it runs `vibes hook`; None if the file cannot be read.
        problem: Why it cannot be read; empty if it can.
    """

    scope: Scope
    path: Path
    state: HookState | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class AgentReport:
    """The state of an agent on this machine and in a project.

    Attributes:
        agent: The agent.
        program: Its program on PATH; None without one.
        has_folder: Whether it has a folder in the home folder.
        files: Its configuration files, in the project and in the home folder.
        trust: Whether it runs the hooks of each scope that has some.
    """

    agent: CodingAgent
    program: Path | None
    has_folder: bool
    files: tuple[HookedFile, ...]
    trust: dict[Scope, Trust]

    @property
    def is_installed(self) -> bool:
        """Whether this person has the agent."""
        return self.program is not None or self.has_folder

    def state(self, scope: Scope) -> HookState:
        """Return whether the configuration of a scope runs `vibes hook`."""
        states = [file.state for file in self.files if file.scope is scope]
        known = [state for state in states if state not in (None, HookState.ABSENT)]
        if not known:
            return HookState.ABSENT
        if len(known) < len(states) or HookState.OUTDATED in known:
            return HookState.OUTDATED
        return HookState.HANDWRITTEN if HookState.HANDWRITTEN in known else HookState.CURRENT


def add_agent(
    agent: CodingAgent, scope: Scope, project: Path, home: UserHome, *, program: str = PROGRAM
) -> AgentChange:
    """Write our hooks into an agent's configuration and check whether it runs them.

    Raises:
        RefusedWrite: A file cannot be read, parsed or written, or there is no such configuration.
    """
    files = configuration_files(agent, scope, project, home, program=program)
    if not files:
        raise RefusedWrite(
            f"{agent.name} has no user configuration for hooks",
            hint="hook it up in a project, without --user",
        )
    is_here = is_installed(agent, home)  # before its folder is created
    changes = add_to_files(files)
    trust = _check_trust(agent, scope, project, home) if is_here else None
    return AgentChange(agent, scope, changes, trust)


def remove_agent(agent: CodingAgent, scope: Scope, project: Path, home: UserHome) -> AgentChange:
    """Remove our hooks from an agent's configuration.

    Raises:
        RefusedWrite: A file cannot be read, parsed or written.
    """
    files = configuration_files(agent, scope, project, home)
    return AgentChange(agent, scope, remove_from_files(files))


def inspect_agent(agent: CodingAgent, project: Path, home: UserHome) -> AgentReport:
    """Return the state of an agent in a project; nothing is written."""
    installed = find_program(agent, home)
    reports: list[HookedFile] = []
    trust = {}
    for scope in Scope:
        files = configuration_files(agent, scope, project, home)
        own = [_inspect(scope, file) for file in files]
        if any(hooked.state not in (None, HookState.ABSENT) for hooked in own):
            trust[scope] = _check_trust(agent, scope, project, home)
        reports += own
    has_folder = agent.home_folder(home).is_dir()
    return AgentReport(agent, installed, has_folder, tuple(reports), trust)


def _inspect(scope: Scope, file: ConfigurationFile) -> HookedFile:
    try:
        return HookedFile(scope, file.path, inspect_file(file))
    except RefusedWrite as error:
        return HookedFile(scope, file.path, None, error.message)


def _check_trust(agent: CodingAgent, scope: Scope, project: Path, home: UserHome) -> Trust:
    """Return whether an agent runs our hooks in a project; nothing is trusted for a person."""
    if agent.trust is TrustStep.NONE:
        return Trust(TrustState.NOT_NEEDED)
    if agent.check_trust is None:
        return Trust(
            TrustState.UNKNOWN,
            f"{agent.name} may ask to trust the folder",
            f"open the folder in {agent.name} and trust it if it asks",
        )
    return agent.check_trust(scope, project.resolve(), home)
