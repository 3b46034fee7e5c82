"""A session of an agent: the scripted prompts are given to it, and its hooks record."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.agents.driver import Driver
from tests.agents.sandbox import Sandbox
from tests.agents.scripted_model import ModelRequest, ScriptedModel
from tests.agents.story import Steps
from tests.docs.code_blocks import code_blocks
from tests.requirements import REPOSITORY

_DOCUMENTED: Final = {
    "claude-code": ("Claude Code", ".claude/settings.json", "json"),
    "codex": ("Codex", ".codex/hooks.json", "json"),
    "gemini-cli": ("Gemini CLI", ".gemini/settings.json", "json"),
    "copilot-cli": ("Copilot CLI", ".github/hooks/vibes.json", "json"),
    "qwen-code": ("Qwen Code", ".qwen/settings.json", "json"),
    "opencode": ("opencode", ".opencode/plugins/vibes.js", "javascript"),
    "cline": ("Cline", ".cline/hooks", "sh"),
}
"""Heading on the page, file in the project and language of an agent's configuration."""


@dataclass(frozen=True)
class Session:
    """A session that has ended.

    Attributes:
        driver: The agent.
        runs: What the agent printed and returned for each prompt.
        requests: What the model was asked.
    """

    driver: Driver
    runs: Sequence[subprocess.CompletedProcess[str]]
    requests: Sequence[ModelRequest]

    @property
    def sandbox(self) -> Sandbox:
        """Where it ran."""
        return self.driver.sandbox


def run_session(
    agent: type[Driver],
    folder: Path,
    steps: Mapping[str, Steps],
    prompts: Sequence[str],
    *,
    level: str | None,
) -> Session:
    """Run an agent in a new sandbox: the second prompt continues the session of the first.

    Args:
        agent: The agent.
        folder: A folder for the sandbox, which is created.
        steps: What the agent is made to do after each prompt, its own and those of subagents.
        prompts: Its own prompts.
        level: Assurance level of the trail; None to have neither a trail nor hooks.
    """
    sandbox = Sandbox(folder)
    with ScriptedModel({}) as model:
        driver = agent(sandbox, model.url)
        model.script = driver.script(steps)
        driver.configure()
        if level is not None:
            sandbox.vibes("init", "--assurance-level", level)
            _configure_as_documented(driver)
            driver.trust_hooks()
        runs = [
            sandbox.run(driver.command(prompt, resumes=number > 0), driver.variables())
            for number, prompt in enumerate(prompts)
        ]
        driver.finish()
    return Session(driver, runs, model.requests)


def _configure_as_documented(agent: Driver) -> None:
    """Write the configuration that `docs/agents.md` shows for an agent."""
    heading, file, language = _DOCUMENTED[agent.name]
    page = (REPOSITORY / "docs/agents.md").read_text(encoding="utf-8")
    [configuration, *_] = code_blocks(page.partition(f"### {heading}\n")[2], language)
    folder = agent.sandbox.project
    if agent.name != "cline":
        agent.sandbox.write(folder / file, configuration)
        return
    for event in ("TaskStart", "PostToolUse", "TaskComplete"):
        agent.sandbox.write(folder / file / event, configuration)
        (folder / file / event).chmod(0o755)
