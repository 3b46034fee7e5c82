"""The question of `vibes init` on a terminal: which of the agents found to hook up."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)

from tests.cli.terminal import terminal

if TYPE_CHECKING:
    from tests.cli.agent_setup import Setup

QUESTION = "names separated by commas [all]: "


@pytest.fixture
def two_agents(setup: Setup) -> Setup:
    """Claude Code and Gemini CLI are on this machine."""
    setup.add_program("claude")
    (setup.home / ".gemini").mkdir()
    return setup


@pytest.mark.parametrize(
    ("typed", "hooked"),
    [
        ("\r", {".claude/settings.json", ".gemini/settings.json"}),
        ("all\r", {".claude/settings.json", ".gemini/settings.json"}),
        ("none\r", set()),
        ("gemini-cli\r", {".gemini/settings.json"}),
        ("claudius\rclaude-code\r", {".claude/settings.json"}),
    ],
)
def test_the_answer_decides(two_agents: Setup, typed: str, hooked: set[str]) -> None:
    with terminal("init", cwd=two_agents.project, **two_agents.environment) as screen:
        shown = screen.wait_for(QUESTION)
        assert "claude-code" in shown
        assert "codex" not in shown
        for answer in typed.split("\r")[:-1]:
            screen.press(f"{answer}\r")
        assert screen.wait_for_exit() == 0
        shown = screen.shown
    assert two_agents.files().keys() == {f"project/{name}" for name in hooked}
    assert ("unknown agent 'claudius'" in shown) == ("claudius" in typed)
    assert ("Try it: " in shown) == bool(hooked)
    assert (two_agents.project / ".ai-audit").is_dir()


def test_ctrl_c_at_the_question_creates_nothing(two_agents: Setup) -> None:
    with terminal("init", cwd=two_agents.project, **two_agents.environment) as screen:
        screen.wait_for(QUESTION)
        screen.interrupt()
    assert list(two_agents.project.iterdir()) == []


@pytest.mark.parametrize("options", [["--agents", "none"], ["--json"], ["--remove-git-hooks"]])
def test_an_option_answers_the_question(two_agents: Setup, options: list[str]) -> None:
    with terminal("init", *options, cwd=two_agents.project, **two_agents.environment) as screen:
        screen.wait_for_exit()
        assert QUESTION not in screen.shown
    assert two_agents.files() == {}


def test_agents_that_are_hooked_up_are_not_asked_about(two_agents: Setup) -> None:
    assert two_agents.run("--agents", "detected").code == 0
    with terminal("init", cwd=two_agents.project, **two_agents.environment) as screen:
        assert screen.wait_for_exit() == 0
        assert QUESTION not in screen.shown


def test_nothing_is_asked_without_a_terminal_or_without_agents(setup: Setup) -> None:
    assert QUESTION not in setup.run().out
    with terminal("init", cwd=setup.project, **setup.environment) as screen:
        assert screen.wait_for_exit() == 0
        assert QUESTION not in screen.shown
