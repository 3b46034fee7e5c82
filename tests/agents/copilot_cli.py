"""Copilot CLI: Chat Completions or Responses without an account, hooks in `.github/hooks`.

The model's name decides the tools: Claude's create and edit files, GPT-5's apply patches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, assert_never

from typing_extensions import override

from tests.agents.driver import UNKNOWN, Driver, Limits
from tests.agents.edit_forms import merged, patch, unique_replacements
from tests.agents.scripted_model import Turn
from tests.agents.story import SECOND_OF_TWO, Create, Delegate, Read, Replace, Shell, Step
from tests.agents.wire_formats import ToolCall
from tests.requirements import require_agent


class CopilotCli(Driver):
    """The program `copilot` with a Claude model."""

    name = "copilot-cli"
    tool = "Copilot CLI"
    model = "claude-sonnet-4.5"
    recorded_model = UNKNOWN
    limits = Limits(
        has_subagent_prompt=True, ambiguous=frozenset({SECOND_OF_TWO}), places_in_file=True
    )
    interface: ClassVar[str] = "completions"

    @override
    def configure(self) -> None:
        trusted = {"trustedFolders": [str(self.sandbox.project)]}
        self.sandbox.write(self.sandbox.home / ".copilot/config.json", trusted)

    @override
    def variables(self) -> Mapping[str, str]:
        return {
            "COPILOT_PROVIDER_BASE_URL": f"{self.url}/v1",
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_PROVIDER_WIRE_API": self.interface,
            "COPILOT_MODEL": self.model,
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }

    @override
    def command(self, prompt: str, *, resumes: bool) -> Sequence[str | Path]:
        program = require_agent("@github/copilot-linux-*/copilot")
        mode = ("--allow-all-tools", "--allow-all-paths", "--no-color")
        return [program, *mode, *(["--continue"] if resumes else []), "-p", prompt]

    @override
    def calls(self, step: Step) -> Sequence[ToolCall]:
        match step:
            case Read(file):
                return [ToolCall("view", {"path": self.path(file)})]
            case Create() | Replace():
                return self._edit(step)
            case Shell(command):
                return [ToolCall("bash", {"command": command, "description": "a command"})]
            case Delegate(prompt):
                task = {"agent_type": "general-purpose", "name": "file", "mode": "sync"}
                return [ToolCall("task", {"description": "a file", "prompt": prompt, **task})]
            case _:
                assert_never(step)

    def _edit(self, step: Create | Replace) -> Sequence[ToolCall]:
        place = {"path": self.path(step.file)}
        if isinstance(step, Create):
            return [ToolCall("create", {**place, "file_text": step.text})]
        return [
            ToolCall("edit", {**place, "old_str": old, "new_str": new})
            for old, new in unique_replacements(step)
        ]


class CopilotCliWithPatches(CopilotCli):
    """The program `copilot` with a GPT-5 model."""

    model = "gpt-5.4"
    limits = replace(CopilotCli.limits, ambiguous=frozenset())
    interface = "responses"

    @override
    def turns(self, at_once: Sequence[Step]) -> Sequence[Turn]:
        replaced = [step for step in at_once if isinstance(step, Replace)]
        return super().turns([merged(replaced)] if len(replaced) > 1 else at_once)

    @override
    def _edit(self, step: Create | Replace) -> Sequence[ToolCall]:
        return [ToolCall("apply_patch", patch([step]))]
