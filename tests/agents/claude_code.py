"""Claude Code: Anthropic Messages, hooks in `.claude/settings.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_never

from typing_extensions import override

from tests.agents.driver import Driver, Limits
from tests.agents.story import Create, Delegate, Read, Replace, Shell, Step
from tests.agents.wire_formats import ToolCall
from tests.requirements import require_agent


class ClaudeCode(Driver):
    """The program `claude`."""

    name = "claude-code"
    tool = "Claude Code"
    model = recorded_model = "claude-sonnet-4-5"
    limits = Limits(has_reasoning=True)

    @override
    def configure(self) -> None:
        pass

    @override
    def variables(self) -> Mapping[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "dummy",
            "ANTHROPIC_MODEL": self.model,
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    @override
    def command(self, prompt: str, *, resumes: bool) -> Sequence[str | Path]:
        program = require_agent("@anthropic-ai/claude-code-linux-*/claude")
        mode = ("-p", "--permission-mode", "acceptEdits", "--allowedTools", "Bash")
        return [program, *mode, *(["--continue"] if resumes else []), "--", prompt]

    @override
    def calls(self, step: Step) -> Sequence[ToolCall]:
        match step:
            case Read(file):
                return [ToolCall("Read", {"file_path": self.path(file)})]
            case Create(file, text):
                return [ToolCall("Write", {"file_path": self.path(file), "content": text})]
            case Replace(file, old, new):
                replaced = {"old_string": old, "new_string": new, "replace_all": step.everywhere}
                return [ToolCall("Edit", {"file_path": self.path(file), **replaced})]
            case Shell(command):
                return [ToolCall("Bash", {"command": command, "description": "a command"})]
            case Delegate(prompt):
                task = {"subagent_type": "general-purpose", "run_in_background": False}
                return [ToolCall("Agent", {"description": "a file", "prompt": prompt, **task})]
            case _:
                assert_never(step)
