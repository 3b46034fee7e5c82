"""The part of `vibes init` that hooks up coding agents: choose them, and print what was done."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from vibes_lsp.agent_setup.agent_hooks import AgentChange, add_agent, inspect_agent, remove_agent
from vibes_lsp.agent_setup.agents import (
    AGENTS,
    PROGRAM,
    CodingAgent,
    Scope,
    UnknownAgent,
    current_home,
    find_agents,
)
from vibes_lsp.agent_setup.hook_configuration import HookState
from vibes_lsp.agent_setup.hook_files import detected_agents
from vibes_lsp.agent_setup.trust import TrustState
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


@dataclass(frozen=True, slots=True)
class AgentChanges:
    """What was done for several agents, and what failed."""

    changes: tuple[AgentChange, ...]
    errors: tuple[tuple[CodingAgent, VibesError], ...]

    @property
    def exit_code(self) -> int:
        """2 if an agent's configuration was refused."""
        return 2 if self.errors else 0

    def members(self) -> Members:
        """Return the result as JSON."""
        done: list[JsonValue] = [_members(change) for change in self.changes]
        failed: list[JsonValue] = [
            {"agent": agent.slug, "error": error.message, "hint": error.hint}
            for agent, error in self.errors
        ]
        return {"agents": [*done, *failed]}


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
    home = current_home()
    found = tuple(
        agent
        for agent in detected_agents(home)
        if not any(
            report.state(scope) in (HookState.CURRENT, HookState.HANDWRITTEN)
            for report in [inspect_agent(agent, project, home, runs_programs=False)]
            for scope in Scope
        )
    )
    if not found:
        return ()
    print_line("Coding agents on this machine:")
    for agent in found:
        print_line(f"  {agent.slug:<16}{agent.name}")
    print_line("vibes can record what they do, by hooks in this project's configuration of each.")

    def answer(value: str) -> tuple[CodingAgent, ...]:
        if value.strip().lower() in ("all", "y", "yes"):
            return found
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


def add_agents(
    agents: Sequence[CodingAgent], scope: Scope, project: Path, *, program: str
) -> AgentChanges:
    """Hook up agents; a refused configuration does not affect the others."""
    home = current_home()
    wanted = PROGRAM if scope is Scope.PROJECT else program or PROGRAM
    if agents and wanted == PROGRAM and shutil.which(PROGRAM) is None:
        print_warning("`vibes` is not on PATH, so the hooks record nothing on this machine")
    return _each(agents, lambda agent: add_agent(agent, scope, project, home, program=wanted))


def remove_agents(agents: Sequence[CodingAgent], scope: Scope, project: Path) -> AgentChanges:
    """Remove the hooks of agents; a refused configuration does not affect the others."""
    home = current_home()
    return _each(agents, lambda agent: remove_agent(agent, scope, project, home))


def _each(
    agents: Sequence[CodingAgent], change: Callable[[CodingAgent], AgentChange]
) -> AgentChanges:
    done, errors = [], []
    for agent in agents:
        try:
            done.append(change(agent))
        except VibesError as error:
            errors.append((agent, error))
    return AgentChanges(tuple(done), tuple(errors))


def print_agents(done: AgentChanges, project: Path) -> None:
    """Print what was done for each agent, and what it wants to be trusted."""
    for change in done.changes:
        for kind in dict.fromkeys(file.change for file in change.files):
            paths = [file.path for file in change.files if file.change is kind]
            names = ", ".join([_shown(paths[0], project), *(path.name for path in paths[1:])])
            print_line(f"{change.agent.name}: {_TEXTS[kind]} in {escape(names)}")
        trust = change.trust
        if trust is not None and trust.message:
            print_line(f"  trust {trust.state}: {escape(trust.message)}")
            if trust.hint and trust.state is not TrustState.GIVEN:
                print_line(f"  to do: {escape(trust.hint)}")
    for _, error in done.errors:
        print_error(error)


def print_next_step(done: AgentChanges) -> None:
    """Print the one thing to try after agents were hooked up."""
    change = next(iter(done.changes), None)
    if change is not None:
        print_line(
            f"Try it: let {change.agent.name} change a file, then run `vibes backfill` and"
            " `vibes blame FILE`."
        )


def _members(change: AgentChange) -> Members:
    files: list[JsonValue] = [
        {"file": str(file.path), "change": file.change.value} for file in change.files
    ]
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
