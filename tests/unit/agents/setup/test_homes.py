"""Agents of a user without a home folder, as in some containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from vibes_lsp.agents.agent import CodingAgent, Scope, UserHome
from vibes_lsp.agents.all_agents import AGENTS, detected_agents
from vibes_lsp.agents.installation import current_home
from vibes_lsp.agents.setup.agent_hooks import add_agent, inspect_agent
from vibes_lsp.agents.setup.hook_configuration import HookState
from vibes_lsp.errors import RefusedWrite


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> UserHome:
    def fail() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", fail)
    monkeypatch.setenv("PATH", str(tmp_path))
    for agent in AGENTS:
        monkeypatch.delenv(agent.variable or "UNUSED", raising=False)
    return current_home()


def test_no_agent_is_found(homeless: UserHome) -> None:
    assert detected_agents(homeless) == ()


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.slug)
def test_the_project_is_set_up_and_the_home_is_refused(
    homeless: UserHome, tmp_path: Path, agent: CodingAgent
) -> None:
    add_agent(agent, Scope.PROJECT, tmp_path, homeless)
    report = inspect_agent(agent, tmp_path, homeless)
    assert not report.is_installed
    assert report.state(Scope.PROJECT) is HookState.CURRENT
    assert report.state(Scope.USER) is HookState.ABSENT
    with pytest.raises(RefusedWrite):
        add_agent(agent, Scope.USER, tmp_path, homeless)
