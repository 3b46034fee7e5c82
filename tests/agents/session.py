"""A session of an agent: the scripted prompts are given to it, and its hooks record."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.agents.driver import Driver
from tests.agents.sandbox import Sandbox
from tests.agents.scripted_model import ModelRequest, ScriptedModel
from tests.agents.story import Steps


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


@contextmanager
def running_model(
    agent: type[Driver], folder: Path, steps: Mapping[str, Steps], *, level: str | None
) -> Iterator[tuple[Driver, ScriptedModel]]:
    """Prepare an agent in a new sandbox, with a model that runs until the end.

    Args:
        agent: The agent.
        folder: A folder for the sandbox, which is created.
        steps: What the agent is made to do after each prompt, its own and those of subagents.
        level: Assurance level of the trail; None to have neither a trail nor hooks.
    """
    sandbox = Sandbox(folder)
    with ScriptedModel() as model:
        driver = agent(sandbox, model.url)
        model.script = driver.script(steps)
        driver.configure()
        if level is not None:
            sandbox.vibes("init", "--assurance-level", level, "--agents", agent.name)
            driver.trust_hooks()
        try:
            yield driver, model
        finally:
            driver.finish()


def run_session(
    agent: type[Driver],
    folder: Path,
    steps: Mapping[str, Steps],
    prompts: Sequence[str],
    *,
    level: str | None,
    prepare: Callable[[Sandbox], None] | None = None,
) -> Session:
    """Run an agent in a new sandbox: the second prompt continues the session of the first.

    Args:
        agent: The agent.
        folder: A folder for the sandbox, which is created.
        steps: What the agent is made to do after each prompt, its own and those of subagents.
        prompts: Its own prompts.
        level: Assurance level of the trail; None to have neither a trail nor hooks.
        prepare: Called before the first prompt.
    """
    with running_model(agent, folder, steps, level=level) as (driver, model):
        if prepare is not None:
            prepare(driver.sandbox)
        runs = [driver.give(prompt, resumes=number > 0) for number, prompt in enumerate(prompts)]
    return Session(driver, runs, model.requests)
