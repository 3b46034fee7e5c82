"""What the pages on coding agents take from the package: the table of agents, and each configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from vibes_lsp.agents.agent import CodingAgent, Form, Scope, TrustStep, UserHome
from vibes_lsp.agents.all_agents import AGENTS
from vibes_lsp.agents.setup.configuration import configuration_files

_TRUST: Final = {
    TrustStep.NONE: "none",
    TrustStep.FOLDER: "the folder",
    TrustStep.HOOKS: "the folder and each hook",
}
_LANGUAGES: Final = {Form.GROUPS: "json", Form.ENTRIES: "json", Form.EXECUTABLES: "sh"}
_PLUGIN_LANGUAGES: Final = {".js": "javascript", ".ts": "typescript"}


def blocks() -> dict[str, list[str]]:
    """Return the blocks of the pages on agents, by their names."""
    made = {"agents": _overview()}
    for agent in AGENTS:
        made[f"facts-{agent.slug}"] = _facts(agent)
        made[f"configuration-{agent.slug}"] = _configuration(agent)
    return made


def _overview() -> list[str]:
    lines = [
        "| agent | name for `--agents` | tried with | configuration in a project | wants you to trust |"
    ]
    lines.append("|---|---|---|---|---|")
    lines += [
        f"| [{agent.name}](agents-reference.md#{_anchor(agent)}) | `{agent.slug}` | {agent.tried or 'its documentation'} |"
        f" {_files(agent)} | {_TRUST[agent.trust]} |"
        for agent in AGENTS
    ]
    return lines


def _facts(agent: CodingAgent) -> list[str]:
    variable = f", or `${agent.variable}/{agent.user_file}`" if agent.variable else ""
    user = f"`~/{agent.folder}/{agent.user_file}`{variable}" if agent.user_file else "none"
    programs = " or ".join(f"`{name}`" for name in agent.programs)
    return [
        "| | |",
        "|---|---|",
        f"| name for `--agents` | `{agent.slug}` |",
        f"| found by | the program {programs}, or the folder `~/{agent.folder}` |",
        f"| configuration in a project | {_files(agent)} |",
        f"| configuration with `--user` | {user} |",
        f"| events | {_named(agent.events)} |",
    ]


def _configuration(agent: CodingAgent) -> list[str]:
    language = _LANGUAGES.get(agent.form) or _PLUGIN_LANGUAGES[Path(agent.project_file).suffix]
    home = UserHome(Path("/home"))
    file = configuration_files(agent, Scope.PROJECT, Path("/project"), home)[0]
    return [f"```{language}", *file.configuration.add(None).splitlines(), "```"]


def _anchor(agent: CodingAgent) -> str:
    return agent.name.lower().replace(" ", "-")


def _files(agent: CodingAgent) -> str:
    if agent.form is not Form.EXECUTABLES:
        return f"`{agent.project_file}`"
    return f"`{agent.project_file}/` with {_named(agent.events)}"


def _named(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
