"""Codex: OpenAI Responses, hooks in `hooks.json` of its home folder, which a person must trust.

The model's name decides the tools. Current ones get "code mode": one free-form tool `exec`, which
takes JavaScript that calls the other tools. Older ones get these tools themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, assert_never

from typing_extensions import override

from tests.agents.codex_trust import trust_hooks
from tests.agents.driver import Driver, Limits
from tests.agents.edit_forms import merged, patch
from tests.agents.scripted_model import Turn
from tests.agents.story import Create, Delegate, Read, Replace, Shell, Step
from tests.agents.wire_formats import Answer, ToolCall
from tests.requirements import require_agent

_SETTINGS: Final = """
model = {model}
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = {url}
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[analytics]
enabled = false

[otel]
exporter = "none"

[features]
multi_agent = true

[projects.{project}]
trust_level = "trusted"
"""
_PATCHED_BY_SHELL: Final = "notes.md"


class Codex(Driver):
    """The program `codex` with a current model."""

    name = "codex"
    tool = "Codex"
    model = recorded_model = "gpt-6.1-sol"
    limits = Limits(
        has_reads=False, adds_final_newline=True, has_reasoning=True, places_in_file=True
    )

    @override
    def configure(self) -> None:
        settings = _SETTINGS.format(
            model=json.dumps(self.model),
            url=json.dumps(f"{self.url}/v1"),
            project=json.dumps(str(self.sandbox.project)),
        )
        self.sandbox.write(self.sandbox.home / ".codex/config.toml", settings)

    @override
    def variables(self) -> Mapping[str, str]:
        return {"SCRIPTED_KEY": "dummy"}

    @override
    def command(self, prompt: str, *, resumes: bool) -> Sequence[str | Path]:
        return [self._program(), "exec", *(["resume", "--last"] if resumes else []), prompt]

    @override
    def trust_hooks(self) -> None:
        environment = self.sandbox.environment(self.variables())
        trust_hooks(self._program(), self.sandbox.project, environment)

    def _program(self) -> Path:
        return require_agent("@openai/codex-linux-*/vendor/*/bin/codex")

    @override
    def turns(self, at_once: Sequence[Step]) -> Sequence[Turn]:
        replaced = [step for step in at_once if isinstance(step, Replace)]
        if replaced and replaced[0].file == _PATCHED_BY_SHELL:
            # Models do this; Codex applies such a patch itself, and calls no hook after it.
            command = f"apply_patch <<'EOF'\n{patch(replaced)}EOF\n"
            return super().turns([Shell(command)])
        if len(replaced) > 1:
            return super().turns([merged(replaced)])
        if isinstance(at_once[0], Delegate):
            return self._delegate(at_once[0].prompt)
        return super().turns(at_once)

    @override
    def calls(self, step: Step) -> Sequence[ToolCall]:
        match step:
            case Read(file):
                return [self._shell(f"cat {file}")]
            case Create() | Replace():
                return [self._patch(patch([step]))]
            case Shell(command):
                return [self._shell(command)]
            case Delegate():
                raise NotImplementedError
            case _:
                assert_never(step)

    def _shell(self, command: str) -> ToolCall:
        return _javascript("exec_command", {"cmd": command})

    def _patch(self, text: str) -> ToolCall:
        return _javascript("apply_patch", text)

    def _delegate(self, prompt: str) -> Sequence[Turn]:
        task = {"task_name": "a_file", "message": prompt}
        return [
            Answer(calls=(ToolCall("spawn_agent", task, "collaboration"),)),
            Answer(calls=(ToolCall("wait_agent", {"timeout_ms": 30_000}, "collaboration"),)),
        ]


class CodexWithTools(Codex):
    """The program `codex` with an older model."""

    model = recorded_model = "gpt-5.5"
    limits = replace(Codex.limits, has_subagent_prompt=True)

    @override
    def _shell(self, command: str) -> ToolCall:
        return ToolCall("exec_command", {"cmd": command})

    @override
    def _patch(self, text: str) -> ToolCall:
        return ToolCall("apply_patch", text)

    @override
    def _delegate(self, prompt: str) -> Sequence[Turn]:
        def wait(result: str) -> Answer:
            found = re.search(r'"agent_id":\s*"([^"]+)"', result)
            assert found is not None, result
            waited = {"targets": [found[1]], "timeout_ms": 30_000}
            return Answer(calls=(ToolCall("wait_agent", waited, "multi_agent_v1"),))

        started = ToolCall("spawn_agent", {"message": prompt}, "multi_agent_v1")
        return [Answer(calls=(started,)), wait]


def _javascript(tool: str, argument: object) -> ToolCall:
    return ToolCall("exec", f"text(await tools.{tool}({json.dumps(argument)}));", "functions")
