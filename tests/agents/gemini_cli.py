"""Gemini CLI: Gemini's generateContent, hooks in `.gemini/settings.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_never

from typing_extensions import override

from tests.agents.driver import Driver, Limits
from tests.agents.story import AT_ONCE, BY_SUBAGENT, Create, Delegate, Read, Replace, Shell, Step
from tests.agents.wire_formats import ToolCall
from tests.requirements import TOOLS, require_agent


class GeminiCli(Driver):
    """The program `gemini`."""

    name = "gemini-cli"
    tool = "Gemini CLI"
    model = recorded_model = "gemini-2.5-pro"
    limits = Limits(
        has_subagent_session=False, has_reasoning=True, lacks_reasoning=BY_SUBAGENT | AT_ONCE
    )

    @override
    def configure(self) -> None:
        settings = {
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "security": {
                "auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": False},
            },
        }
        self.sandbox.write(self.sandbox.home / ".gemini/settings.json", settings)

    @override
    def variables(self) -> Mapping[str, str]:
        return {
            "GEMINI_API_KEY": "dummy",
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }

    @override
    def command(self, prompt: str, *, resumes: bool) -> Sequence[str | Path]:
        program = require_agent("@google/gemini-cli/bundle/gemini.js")
        mode = ("-m", self.model, "--approval-mode", "yolo")
        return [
            TOOLS / "node",
            program,
            *mode,
            *(["--resume", "latest"] if resumes else []),
            "-p",
            prompt,
        ]

    @override
    def calls(self, step: Step) -> Sequence[ToolCall]:
        match step:
            case Read(file):
                return [ToolCall("read_file", {"file_path": file})]
            case Create(file, text):
                return [ToolCall("write_file", {"file_path": file, "content": text})]
            case Replace(file, old, new):
                replaced = {"old_string": old, "new_string": new, "instruction": "as scripted"}
                everywhere = {"allow_multiple": True} if step.everywhere else {}
                return [
                    ToolCall("replace", {"file_path": self.path(file), **replaced, **everywhere})
                ]
            case Shell(command):
                return [ToolCall("run_shell_command", {"command": command})]
            case Delegate(prompt):
                return [ToolCall("invoke_agent", {"agent_name": "generalist", "prompt": prompt})]
            case _:
                assert_never(step)
