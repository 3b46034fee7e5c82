"""The part of `vibes init` that hooks up coding agents: choose them, and print what was done."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from vibes_lsp.agents.agent import CodingAgent, Scope, TrustState, UserHome
from vibes_lsp.agents.all_agents import AGENTS, UnknownAgent, detected_agents, find_agents
from vibes_lsp.agents.installation import current_home
from vibes_lsp.agents.setup.agent_hooks import AgentChange, add_agent, inspect_agent, remove_agent
from vibes_lsp.agents.setup.configuration import PROGRAM, ConfigurationFile
from vibes_lsp.agents.setup.hook_configuration import HookState
from vibes_lsp.agents.setup.hook_files import (
    ConfigurationChange,
    add_to_files,
    inspect_file,
    remove_from_files,
)
from vibes_lsp.agents.setup.instruction_block import instructions_for
from vibes_lsp.agents.setup.mcp_registration import server_files
from vibes_lsp.cli.output import escape, print_error, print_line, print_warning
from vibes_lsp.errors import VibesError
from vibes_lsp.maintenance.hook_installation import HookChange
from vibes_lsp.model.members import JsonValue, Members

_TEXTS = {
    HookChange.INSTALLED: "hooked up",
    HookChange.UPDATED: "hooked up",
    HookChange.KEPT: "already hooked up",
    HookChange.REMOVED: "hooks removed",
    HookChange.ABSENT: "no hooks of vibes",
}
_INSTRUCTION_TEXTS = {
    HookChange.INSTALLED: "written to",
    HookChange.UPDATED: "written to",
    HookChange.KEPT: "already in",
    HookChange.REMOVED: "removed from",
    HookChange.ABSENT: "not in",
}


_SERVER_TEXTS = {
    HookChange.INSTALLED: "added to",
    HookChange.UPDATED: "added to",
    HookChange.KEPT: "already in",
    HookChange.REMOVED: "removed from",
    HookChange.ABSENT: "not in",
}


@dataclass(frozen=True, slots=True)
class ServerChange:
    """What was done to an agent's list of MCP servers.

    Attributes:
        agent: The agent.
        file: The list; None if the agent has none that we write.
        is_other: Whether the list has another server of our name, which stays as it is.
    """

    agent: CodingAgent
    file: ConfigurationChange | None
    is_other: bool = False


@dataclass(frozen=True, slots=True)
class SetupChanges:
    """What was done for several agents and files, and what failed.

    Attributes:
        agents: The agents' configurations.
        instructions: The files with instructions.
        servers: The agents' lists of MCP servers.
        errors: What was refused, by the name of the agent or file.
    """

    agents: tuple[AgentChange, ...]
    instructions: tuple[ConfigurationChange, ...]
    errors: tuple[tuple[str, VibesError], ...]
    servers: tuple[ServerChange, ...] = ()

    def members(self) -> Members:
        """Return the result as JSON."""
        agents: list[JsonValue] = [_agent_members(change) for change in self.agents]
        files: list[JsonValue] = [_file_members(change) for change in self.instructions]
        errors: list[JsonValue] = [
            {"for": name, "error": error.message, "hint": error.hint} for name, error in self.errors
        ]
        servers: list[JsonValue] = [
            {"agent": server.agent.slug, **_file_members(server.file)}
            for server in self.servers
            if server.file is not None
        ]
        named: Members = {
            "agents": agents,
            "mcp": servers,
            "instructions": files,
            "errors": errors,
        }
        return {name: value for name, value in named.items() if value}


def choose_agents(names: str) -> tuple[CodingAgent, ...]:
    """Return the agents that an option names.

    Raises:
        UnknownAgent: No agent has one of these names.
    """
    match names.strip().lower():
        case "all":
            return AGENTS
        case "detected":
            return detected_agents(current_home())
        case "none":
            return ()
    return find_agents(names)


def ask_agents(project: Path, *, as_json: bool) -> tuple[CodingAgent, ...]:
    """Ask on a terminal which of the detected agents to hook up; elsewhere return none."""
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return ()
    detected = _agents_without_hooks(project)
    if not detected:
        return ()
    print_line("Coding agents on this machine:")
    for agent in detected:
        print_line(f"  {agent.slug:<16}{agent.name}")
    print_line("vibes can record what they do, by hooks in this project's configuration of each.")

    def answer(value: str) -> tuple[CodingAgent, ...]:
        if value.strip().lower() in ("all", "y", "yes"):
            return detected
        if value.strip().lower() in ("none", "n", "no"):
            return ()
        try:
            return find_agents(value)
        except UnknownAgent as error:
            raise click.UsageError(error.message) from error

    chosen: tuple[CodingAgent, ...] = click.prompt(
        "Hook up all, none, or names separated by commas", default="all", value_proc=answer
    )
    return chosen


def add_setup(
    agents: Sequence[CodingAgent],
    scope: Scope,
    instructions: Sequence[str],
    project: Path,
    *,
    program: str,
    mcp: bool = False,
) -> SetupChanges:
    """Hook up agents and write instructions; what is refused does not affect the rest.

    Args:
        agents: The agents.
        scope: Whose configuration.
        instructions: The files with instructions.
        project: The project's folder.
        program: The program, for a person's own configuration.
        mcp: Whether to register the MCP server as well.
    """
    home = current_home()
    wanted = PROGRAM if scope is Scope.PROJECT else program or PROGRAM
    if agents and wanted == PROGRAM and shutil.which(PROGRAM) is None:
        print_warning("`vibes` is not on PATH, so the hooks record nothing on this machine")
    done = _apply_changes(
        agents,
        lambda agent: add_agent(agent, scope, project, home, program=wanted),
        instructions,
        lambda name: add_to_files([_instruction_file(name, project)]),
    )
    if not mcp:
        return done
    added = _with_servers(
        done,
        agents,
        lambda agent: add_to_files(server_files(agent, scope, project, home, program=wanted)),
    )
    servers = tuple(
        replace(server, is_other=_has_other_server(server.agent, scope, project, home))
        for server in added.servers
    )
    return replace(added, servers=servers)


def _has_other_server(agent: CodingAgent, scope: Scope, project: Path, home: UserHome) -> bool:
    files = server_files(agent, scope, project, home)
    return any(inspect_file(file) is HookState.HANDWRITTEN for file in files)


def remove_setup(
    agents: Sequence[CodingAgent], scope: Scope, instructions: Sequence[str], project: Path
) -> SetupChanges:
    """Remove agents' hooks and MCP servers, and instructions; a refusal affects nothing else."""
    home = current_home()
    done = _apply_changes(
        agents,
        lambda agent: remove_agent(agent, scope, project, home),
        instructions,
        lambda name: remove_from_files([_instruction_file(name, project)]),
    )
    removed = _with_servers(
        done,
        agents,
        lambda agent: remove_from_files(server_files(agent, scope, project, home)),
    )
    had = [
        server
        for server in removed.servers
        if server.file is not None and server.file.change is HookChange.REMOVED
    ]
    return replace(removed, servers=tuple(had))


def _agents_without_hooks(project: Path) -> tuple[CodingAgent, ...]:
    """Return the agents on this machine that record nothing in a project yet."""
    home = current_home()
    return tuple(
        agent
        for agent in detected_agents(home)
        if not any(
            report.state(scope) in (HookState.CURRENT, HookState.HANDWRITTEN)
            for report in [inspect_agent(agent, project, home)]
            for scope in Scope
        )
    )


def _with_servers(
    done: SetupChanges,
    agents: Sequence[CodingAgent],
    change: Callable[[CodingAgent], tuple[ConfigurationChange, ...]],
) -> SetupChanges:
    """Return changes with those of the agents' lists of MCP servers."""
    servers: list[ServerChange] = []
    errors = list(done.errors)
    for agent in agents:
        try:
            servers.append(ServerChange(agent, next(iter(change(agent)), None)))
        except VibesError as error:
            errors.append((agent.slug, error))
    return replace(done, servers=tuple(servers), errors=tuple(errors))


def _instruction_file(name: str, project: Path) -> ConfigurationFile:
    path = Path(os.path.normpath(project / name))
    relative = _shown(path, project)
    return ConfigurationFile(path, Scope.PROJECT, project, instructions_for(relative))


def _apply_changes(
    agents: Sequence[CodingAgent],
    change_agent: Callable[[CodingAgent], AgentChange],
    instructions: Sequence[str],
    change_file: Callable[[str], tuple[ConfigurationChange, ...]],
) -> SetupChanges:
    done: list[AgentChange] = []
    files: list[ConfigurationChange] = []
    errors: list[tuple[str, VibesError]] = []
    for agent in agents:
        try:
            done.append(change_agent(agent))
        except VibesError as error:
            errors.append((agent.slug, error))
    for name in instructions:
        try:
            files += change_file(name)
        except VibesError as error:
            errors.append((name, error))
    return SetupChanges(tuple(done), tuple(files), tuple(errors))


def print_setup(done: SetupChanges, project: Path) -> None:
    """Print what was done for each agent, what it wants to be trusted, and what was refused."""
    for change in done.agents:
        for kind in dict.fromkeys(file.change for file in change.files):
            paths = [file.path for file in change.files if file.change is kind]
            names = ", ".join([_shown(paths[0], project), *(path.name for path in paths[1:])])
            print_line(f"{change.agent.name}: {_TEXTS[kind]} in {escape(names)}")
        trust = change.trust
        if trust is not None and trust.message:
            print_line(f"  trust {trust.state}: {escape(trust.message)}")
            if trust.hint and trust.state is not TrustState.GIVEN:
                print_line(f"  to do: {escape(trust.hint)}")
    for server in done.servers:
        name = server.agent.name
        if server.file is None:
            print_line(f"{name}: add the MCP server by hand, as docs/mcp.md says")
        elif server.is_other:
            path = escape(_shown(server.file.path, project))
            print_warning(f"{name}: {path} lists an MCP server vibes with other settings; it stays")
        else:
            text, path = _SERVER_TEXTS[server.file.change], _shown(server.file.path, project)
            print_line(f"{name}: MCP server {text} {escape(path)}")
    for file in done.instructions:
        print_line(
            f"instructions {_INSTRUCTION_TEXTS[file.change]} {escape(_shown(file.path, project))}"
        )
    for _, error in done.errors:
        print_error(error)


def print_next_step(done: SetupChanges, project: Path, wanted: str | None, *, is_new: bool) -> None:
    """Print the one thing to try next: let an agent work, hook up those here, or record by hand.

    Args:
        done: What was done.
        project: The project's folder.
        wanted: What `--agents` names; None without it.
        is_new: Whether the trail was created.
    """
    ready = [change.agent for change in done.agents if _is_ready(change)]
    named = ready or [change.agent for change in done.agents]
    if named:
        print_line(f"Try it: let {named[0].name} change a file, then run `vibes blame FILE`.")
    elif (
        wanted is None and not (done.instructions or done.errors) and _agents_without_hooks(project)
    ):
        print_line("Next: `vibes init --agents detected` makes your coding agents record.")
    elif wanted == "detected" and not done.errors:
        print_line("No coding agent was found on this machine; `--agents NAMES` hooks up others.")
    elif is_new and not done.errors:
        print_line("Try it: `vibes record annotate FILE:1-9 --tool chat --model some-model`")
        print_line("records that an AI wrote these lines; then run `vibes review`.")


def _is_ready(change: AgentChange) -> bool:
    """Return whether an agent on this machine runs its hooks without a further step."""
    return change.trust is not None and change.trust.state in (
        TrustState.GIVEN,
        TrustState.NOT_NEEDED,
    )


def _file_members(change: ConfigurationChange) -> Members:
    return {"file": str(change.path), "change": change.change.value}


def _agent_members(change: AgentChange) -> Members:
    files: list[JsonValue] = [_file_members(file) for file in change.files]
    made: Members = {"agent": change.agent.slug, "scope": change.scope.value, "files": files}
    if change.trust is not None:
        made["trust"] = {
            "state": change.trust.state.value,
            "message": change.trust.message,
            "hint": change.trust.hint,
        }
    return made


def _shown(path: Path, project: Path) -> str:
    return path.relative_to(project).as_posix() if path.is_relative_to(project) else str(path)
