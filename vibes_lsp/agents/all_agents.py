"""All coding agents, found by their names or by a payload of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from vibes_lsp.agents import (
    amp,
    claude_code,
    cline,
    codex,
    copilot_cli,
    copilot_vscode,
    cursor,
    gemini_cli,
    opencode,
    qwen_code,
    windsurf,
)
from vibes_lsp.agents.agent import CodingAgent, UserHome
from vibes_lsp.agents.events import Agent, AgentEvent
from vibes_lsp.agents.installation import is_installed
from vibes_lsp.agents.sender import agent_of
from vibes_lsp.errors import VibesError
from vibes_lsp.model.members import Members

AGENTS: Final = (
    claude_code.AGENT,
    codex.AGENT,
    gemini_cli.AGENT,
    copilot_cli.AGENT,
    qwen_code.AGENT,
    opencode.AGENT,
    cline.AGENT,
    cursor.AGENT,
    windsurf.AGENT,
    copilot_vscode.AGENT,
    amp.AGENT,
)
"""All agents, in the order of the documentation."""

BY_SLUG: Final[Mapping[str, CodingAgent]] = {agent.slug: agent for agent in AGENTS}
BY_NAME: Final[Mapping[Agent, CodingAgent]] = {agent.agent: agent for agent in AGENTS}


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


def detected_agents(home: UserHome) -> tuple[CodingAgent, ...]:
    """Return the agents that this person has."""
    return tuple(agent for agent in AGENTS if is_installed(agent, home))


def read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for a payload that says nothing to record."""
    agent = agent_of(payload)
    return None if agent is None else BY_NAME[agent].read_event(payload)
