"""Cline CLI: Chat Completions, executable files in `.cline/hooks`."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_never

from typing_extensions import override

from tests.agents.driver import UNKNOWN, Driver, Limits
from tests.agents.edit_forms import unique_replacements
from tests.agents.story import SECOND_OF_TWO, Create, Delegate, Read, Replace, Shell, Step
from tests.agents.wire_formats import ToolCall
from tests.requirements import require_agent


class Cline(Driver):
    """The program `cline`."""

    name = "cline"
    tool = "Cline"
    model = "scripted-1"
    recorded_model = UNKNOWN
    limits = Limits(has_prompts=False, ambiguous=frozenset({SECOND_OF_TWO}), places_in_file=True)

    @override
    def configure(self) -> None:
        access = ("-p", "openai", "-k", "dummy", "-m", self.model, "-b", f"{self.url}/v1")
        self._run("auth", *access).check_returncode()

    @override
    def variables(self) -> Mapping[str, str]:
        return {"CLINE_TELEMETRY_DISABLED": "1", "CLINE_NO_AUTO_UPDATE": "1", "DO_NOT_TRACK": "1"}

    @override
    def command(self, prompt: str, *, resumes: bool) -> Sequence[str | Path]:
        return [self._program(), "--json", "-P", "openai", "-m", self.model, prompt]

    @override
    def finish(self) -> None:
        self._run("hub", "stop")  # a process that stays behind otherwise

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.sandbox.run([self._program(), *arguments], self.variables())

    def _program(self) -> Path:
        return require_agent("@cline/cli-linux-*/bin/cline")

    @override
    def calls(self, step: Step) -> Sequence[ToolCall]:
        match step:
            case Read(file):
                return [ToolCall("read_files", {"files": [{"path": self.path(file)}]})]
            case Create(file, text):
                return [ToolCall("editor", {"path": self.path(file), "new_text": text})]
            case Replace(file):
                return [
                    ToolCall("editor", {"path": self.path(file), "old_text": old, "new_text": new})
                    for old, new in unique_replacements(step)
                ]
            case Shell(command):
                return [ToolCall("run_commands", {"commands": [command]})]
            case Delegate(prompt):
                task = {"systemPrompt": "You write files.", "task": prompt}
                return [ToolCall("spawn_agent", task)]
            case _:
                assert_never(step)
