"""opencode: Chat Completions; it runs no hook commands, but our plugin in `.opencode/plugins`.

The model's name decides the tools: GPT's apply patches, others write and edit files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from typing_extensions import override

from tests.agents.driver import Driver, Limits
from tests.agents.edit_forms import merged, patch
from tests.agents.scripted_model import Turn
from tests.agents.story import Create, Delegate, Read, Replace, Shell, Step
from tests.agents.wire_formats import ToolCall
from tests.requirements import require_agent


class OpenCode(Driver):
    """The program `opencode`."""

    name = "opencode"
    tool = "opencode"
    model = recorded_model = "scripted-1"
    limits = Limits(has_subagent_prompt=True, has_end=False)

    @override
    def configure(self) -> None:
        limit = {"context": 100_000, "output": 8_000}
        settings = {
            "autoupdate": False,
            "share": "disabled",
            "model": f"scripted/{self.model}",
            "small_model": f"scripted/{self.model}",
            "enabled_providers": ["scripted"],
            "provider": {
                "scripted": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "scripted",
                    "options": {"baseURL": f"{self.url}/v1", "apiKey": "dummy"},
                    "models": {self.model: {"name": self.model, "tool_call": True, "limit": limit}},
                }
            },
        }
        self.sandbox.write(self.sandbox.home / ".config/opencode/opencode.json", settings)
        # Without a network, its attempts to install types for plugins would take a minute.
        self.sandbox.write(self.sandbox.home / ".npmrc", "fetch-retries=0\noffline=true\n")

    @override
    def variables(self) -> Mapping[str, str]:
        return {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        }

    @override
    def command(self, prompt: str, *, resumes: bool) -> Sequence[str | Path]:
        program = require_agent("opencode-linux-*/bin/opencode")
        return [program, "run", *(["--continue"] if resumes else []), prompt]

    @override
    def calls(self, step: Step) -> Sequence[ToolCall]:
        match step:
            case Read(file):
                return [ToolCall("read", {"filePath": self.path(file)})]
            case Create() | Replace():
                return self._edit(step)
            case Shell(command):
                return [ToolCall("bash", {"command": command, "description": "a command"})]
            case Delegate(prompt):
                task = {"description": "a file", "prompt": prompt, "subagent_type": "general"}
                return [ToolCall("task", task)]
            case _:
                assert_never(step)

    def _edit(self, step: Create | Replace) -> Sequence[ToolCall]:
        place = {"filePath": self.path(step.file)}
        if isinstance(step, Create):
            return [ToolCall("write", {**place, "content": step.text})]
        replaced = {"oldString": step.old, "newString": step.new, "replaceAll": step.everywhere}
        return [ToolCall("edit", {**place, **replaced})]


class OpenCodeWithPatches(OpenCode):
    """The program `opencode` with a GPT model."""

    model = recorded_model = "gpt-5.4"
    limits = replace(OpenCode.limits, adds_final_newline=True)

    @override
    def turns(self, at_once: Sequence[Step]) -> Sequence[Turn]:
        replaced = [step for step in at_once if isinstance(step, Replace)]
        return super().turns([merged(replaced)] if len(replaced) > 1 else at_once)

    @override
    def _edit(self, step: Create | Replace) -> Sequence[ToolCall]:
        return [ToolCall("apply_patch", {"patchText": patch([step])})]
