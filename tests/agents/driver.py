"""What the drivers of all agents have in common: the interface that the tests use."""

from __future__ import annotations

import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from tests.agents.sandbox import Sandbox
from tests.agents.scripted_model import Script, Turn
from tests.agents.story import Lines, Shell, Step, Steps, reasoning_of
from tests.agents.wire_formats import Answer, ToolCall

UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a trail lacks because the agent's payloads lack it: `docs/agents.md` lists the same.

    Attributes:
        has_prompts: Whether payloads have the prompts.
        has_reads: Whether the reading of files is reported.
        has_subagent_session: Whether a subagent's events are marked.
        has_subagent_prompt: Whether payloads have the prompt of a subagent.
        has_subagent_model: Whether payloads have the model of a subagent.
        has_end: Whether the end of a session is reported.
        has_reasoning: Whether the session file has the reasoning before a tool call.
        lacks_reasoning: Edits whose reasoning is not found, or only if the agent is quick enough.
        ambiguous: Edits whose lines no payload tells apart from others; they are recorded without.
        places_in_file: Whether payloads have no line numbers: lines are numbered as in the file
            when it is read, which may have a later edit already.
        reads_hook_output: Whether text that a hook prints gets into the prompt.
        adds_final_newline: Whether the agent ends each file that it writes with a newline.
    """

    has_prompts: bool = True
    has_reads: bool = True
    has_subagent_session: bool = True
    has_subagent_prompt: bool = False
    has_subagent_model: bool = True
    has_end: bool = True
    has_reasoning: bool = False
    lacks_reasoning: frozenset[Lines] = frozenset()
    ambiguous: frozenset[Lines] = frozenset()
    places_in_file: bool = False
    reads_hook_output: bool = False
    adds_final_newline: bool = False

    def findings(self, level: str) -> set[str]:
        """Return what `vibes check` reports, beside notes, at an assurance level."""
        return {
            check
            for check, is_found in {
                "session-open": not self.has_end,
                "prompts-absent": not self.has_prompts and level != "low",
                "reasoning-absent": not self.has_reasoning and level == "high",
            }.items()
            if is_found
        }


class Driver(ABC):
    """Runs one agent in a sandbox.

    Attributes:
        name: As `vibes init --agents` takes it.
        tool: Its recorded name.
        model: The model that it is configured to use.
        recorded_model: That model, or `unknown` if its payloads do not name it.
        limits: What its payloads lack.
    """

    name: ClassVar[str]
    tool: ClassVar[str]
    model: ClassVar[str]
    recorded_model: ClassVar[str]
    limits: ClassVar[Limits] = Limits()

    def __init__(self, sandbox: Sandbox, url: str) -> None:
        self.sandbox = sandbox
        self.url = url

    @abstractmethod
    def configure(self) -> None:
        """Write the settings that the agent needs to use the scripted model."""

    @abstractmethod
    def command(self, prompt: str, *, resumes: bool) -> Sequence[str | Path]:
        """Return the command that gives the agent a prompt and ends with its answer."""

    @abstractmethod
    def variables(self) -> Mapping[str, str]:
        """Return the environment variables that the agent needs."""

    @abstractmethod
    def calls(self, step: Step) -> Sequence[ToolCall]:
        """Return the calls that make the agent take a step."""

    def trust_hooks(self) -> None:  # noqa: B027  # most agents need nothing
        """Take the step by which a person allows the agent to run the project's hooks."""

    def finish(self) -> None:  # noqa: B027  # most agents leave nothing
        """End what the agent leaves running."""

    def give(self, prompt: str, *, resumes: bool = False) -> subprocess.CompletedProcess[str]:
        """Give the agent a prompt, and wait for its end."""
        return self.sandbox.run(self.command(prompt, resumes=resumes), self.variables())

    def turns(self, at_once: Sequence[Step]) -> Sequence[Turn]:
        """Return the turns of the model that make the agent take steps at once.

        Before a shell command the model waits, as a real one does, until the events so far are
        recorded: what a command writes is found by comparing files with what they were.
        """
        calls = tuple(call for step in at_once for call in self.calls(step))
        answer = Answer(calls=calls, reasoning=reasoning_of(at_once))

        def wait(_result: str) -> Answer:
            self.sandbox.wait_until_recorded()
            return answer

        return [wait if any(isinstance(step, Shell) for step in at_once) else answer]

    def script(self, steps: Mapping[str, Steps]) -> Script:
        """Return the script of the model for the steps that follow each prompt."""
        return {
            prompt: [*(turn for at_once in each for turn in self.turns(at_once)), Answer("Done.")]
            for prompt, each in steps.items()
        }

    def path(self, file: str) -> str:
        """Return the absolute path of a file of the project."""
        return str(self.sandbox.project / file)
