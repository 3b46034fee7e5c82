"""Qwen Code: Chat Completions, hooks in `.qwen/settings.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_never

from typing_extensions import override

from tests.agents.driver import Driver, Limits
from tests.agents.story import BY_SUBAGENT, Create, Delegate, Read, Replace, Shell, Step
from tests.agents.wire_formats import ToolCall
from tests.requirements import TOOLS, require_agent


class QwenCode(Driver):
    """The program `qwen`."""

    name = "qwen-code"
    tool = "Qwen Code"
    model = recorded_model = "qwen3-coder-plus"
    limits = Limits(
        has_subagent_model=False,
        has_end=False,
        has_reasoning=True,
        lacks_reasoning=BY_SUBAGENT,
        reads_hook_output=True,
    )

    @override
    def configure(self) -> None:
        settings = {
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        }
        self.sandbox.write(self.sandbox.home / ".qwen/settings.json", settings)

    @override
    def variables(self) -> Mapping[str, str]:
        return {
            "OPENAI_API_KEY": "dummy",
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_MODEL": self.model,
        }

    @override
    def command(self, prompt: str, *, resumes: bool) -> Sequence[str | Path]:
        program = require_agent("@qwen-code/qwen-code/cli-entry.js")
        mode = ("--auth-type", "openai", "--approval-mode", "yolo")
        return [TOOLS / "node", program, *mode, *(["--continue"] if resumes else []), "-p", prompt]

    @override
    def calls(self, step: Step) -> Sequence[ToolCall]:
        match step:
            case Read(file):
                return [ToolCall("read_file", {"file_path": self.path(file)})]
            case Create(file, text):
                return [ToolCall("write_file", {"file_path": self.path(file), "content": text})]
            case Replace(file, old, new):
                replaced = {"old_string": old, "new_string": new, "replace_all": step.everywhere}
                return [ToolCall("edit", {"file_path": self.path(file), **replaced})]
            case Shell(command):
                return [ToolCall("run_shell_command", {"command": command, "is_background": False})]
            case Delegate(prompt):
                task = {"subagent_type": "general-purpose", "run_in_background": False}
                return [ToolCall("agent", {"description": "a file", "prompt": prompt, **task})]
            case _:
                assert_never(step)
