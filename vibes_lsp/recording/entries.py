"""Turning what callers say into manifest entries (RFC 6): private things go first, then the entry is hashed and written."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from vibes_lsp.anchors.text import replace_invalid
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.secrets import MaskingRules, mask_secrets
from vibes_lsp.model.vocabulary import CommandType, ContextType
from vibes_lsp.recording.arguments import (
    Command,
    Decision,
    DecisionOption,
    Model,
    Prompt,
    Reasoning,
    Tool,
    WrongArgument,
)
from vibes_lsp.recording.context import RecordingContext
from vibes_lsp.recording.paths import project_path, project_paths, without_project

SUMMARY_BYTES: Final = 1_024
"""What is kept of a command's output (RFC 6.4)."""
REDACTION: Final = "VIBES_REDACTION"
"""The variable by which whoever records may switch masking off (`off`); nothing in a project can."""
_MAX_OUTPUT: Final = 1 << 20
"""Characters of an output that are searched for secrets; far more than are kept."""


@dataclass(slots=True)
class Entries:
    """Writes the entries of one use case.

    Attributes:
        masked: Number of secrets masked so far.
        left_out: Files outside the project that were named.
    """

    situation: RecordingContext
    masked: int = 0
    left_out: list[str] = field(default_factory=list)

    def environment(self, tool: Tool, model: Model) -> str:
        """Write who generates (RFC 6.2), and return its hash."""
        return self.situation.entry(
            {
                "type": ContextType.ENVIRONMENT.value,
                "tool_name": tool.name,
                "tool_version": tool.version,
                "model_name": model.name,
                "model_version": model.version,
                "model_parameters": dict(model.parameters) if model.parameters else None,
                "tool_extensions": list(tool.extensions) or None,
            }
        )

    def prompt(self, prompt: Prompt) -> str:
        """Write a prompt (RFC 6.3), and return its hash."""
        files = self.files(prompt.context_files)
        if prompt.token_count is not None and prompt.token_count < 0:
            raise WrongArgument("prompt.token_count", "must not be negative")
        return self.situation.entry(
            {
                "type": ContextType.PROMPT.value,
                "prompt_text": self.clean(_something("prompt.text", prompt.text)),
                "prompt_type": str(prompt.type),
                "prompt_context_files": _json(files),
                "prompt_token_count": prompt.token_count,
            }
        )

    def reasoning(self, reasoning: Reasoning, model: str) -> str:
        """Write reasoning (RFC 6.5), and return its hash as stored.

        Args:
            reasoning: What is to be kept.
            model: The model that wrote, for reasoning that names none.
        """
        return self.situation.entry(
            {
                "type": ContextType.REASONING.value,
                "reasoning_text": self.clean(_something("reasoning.text", reasoning.text)),
                "reasoning_token_count": reasoning.token_count,
                "reasoning_model": reasoning.model or model,
            }
        )

    def command(self, command: Command) -> str:
        """Write a command (RFC 6.4), and return its hash."""
        output = command.output_summary
        return self.situation.entry(
            {
                "type": ContextType.COMMAND.value,
                "command_text": self.clean(_something("command.text", command.text)),
                "command_type": str(command.type),
                "command_exit_code": command.exit_code,
                "command_output_summary": None
                if output is None
                else _cut(self.clean(output[:_MAX_OUTPUT])),
                "working_directory": None
                if command.working_directory is None
                else self._folder(command.working_directory),
            }
        )

    def read(self, files: Sequence[str]) -> str:
        """Write that files of the project were read (RFC 6.4), and return the command's hash."""
        return self.command(Command(f"read {shlex.join(files)}", CommandType.FILE_READ))

    def decision(self, decision: Decision) -> str:
        """Write a decision (RFC 6.6), and return its hash."""
        return self.situation.entry(
            {
                "type": ContextType.DECISION.value,
                "decision_point": self.clean(decision.decision_point),
                "options": [self._option(each) for each in decision.options],
                "selected": decision.selected,
                "rationale": self.clean(decision.rationale),
                "confidence": None if decision.confidence is None else str(decision.confidence),
            }
        )

    def files(self, paths: Iterable[str]) -> list[str]:
        """Return files relative to the project; those outside are left out and remembered."""
        kept, left_out = project_paths(self.situation.project, paths)
        self.left_out += left_out
        return kept

    def clean(self, text: str) -> str:
        """Return a text without secrets and without absolute paths inside the project; bytes that were no text are replaced."""
        text = replace_invalid(without_project(text, self.situation.project))
        if os.environ.get(REDACTION) == "off":
            return text
        redaction = self.situation.config.config.redaction
        masked, count = mask_secrets(text, MaskingRules(redaction.mask, redaction.allow))
        self.masked += count
        return masked

    def clean_or_none(self, text: str | None) -> str | None:
        """As `clean`, for a text that may be missing."""
        return None if text is None else self.clean(text)

    def _folder(self, path: str) -> str | None:
        if without_project(path, self.situation.project) == "." or path in {"", ".", "./"}:
            return "."
        relative = project_path(self.situation.project, path)
        if relative is None:
            self.left_out.append(path)
        return relative

    def _option(self, option: DecisionOption) -> Members:
        members: Members = {"id": option.id, "description": self.clean(option.description)}
        for name, points in (("pros", option.pros), ("cons", option.cons)):
            if points:
                members[name] = [self.clean(point) for point in points]
        return members


def _something(member: str, text: str) -> str:
    if not text:
        raise WrongArgument(member, "must not be empty")
    return text


def _cut(text: str) -> str:
    """Return the first 1,024 bytes, cut on a character boundary."""
    return text.encode()[:SUMMARY_BYTES].decode("utf-8", "ignore")


def _json(texts: Iterable[str]) -> list[JsonValue] | None:
    return list(texts) or None
