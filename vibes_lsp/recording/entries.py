"""Write manifest entries (RFC 6): private content is removed, then the entry is hashed and written.

Here are also the use cases that record entries only: prompts, commands, reads and decisions.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from vibes_lsp.anchors.text import replace_invalid
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.secrets import mask_secrets
from vibes_lsp.model.vocabulary import (
    AssuranceLevel,
    CommandType,
    ContextType,
    EdgeType,
    NodeType,
)
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
from vibes_lsp.recording.context import Draft, Node, RecordingContext
from vibes_lsp.recording.paths import project_path, project_paths, without_project
from vibes_lsp.recording.requests import RecordCommand, RecordDecision, RecordPrompt, RecordRead
from vibes_lsp.recording.results import RecordedCommand, RecordedDecision, RecordedPrompt

SUMMARY_BYTES: Final = 1_024
"""How much of a command's output is recorded (RFC 6.4)."""
REDACTION: Final = "VIBES_REDACTION"
"""An environment variable: `off` disables masking. Nothing in a project can."""
_MAX_OUTPUT: Final = 1 << 20
"""Characters of an output that are searched for secrets; far more than are recorded."""


def lines_with_secrets(context: RecordingContext, lines: Sequence[str]) -> frozenset[int]:
    """Return the 0-based numbers of the lines in which a secret would be masked."""
    if os.environ.get(REDACTION) == "off":
        return frozenset()
    redaction = context.config.config.redaction
    masked, count = mask_secrets("\n".join(lines), redaction)
    if not count:
        return frozenset()
    kept = set(masked.split("\n"))
    return frozenset(number for number, line in enumerate(lines) if line not in kept)


@dataclass(slots=True)
class Entries:
    """Writes the entries of one use case.

    Attributes:
        context: The trail.
        masked: Number of secrets masked so far.
        left_out: Files outside the project that were named.
    """

    context: RecordingContext
    masked: int = 0
    left_out: list[str] = field(default_factory=list)

    def environment(self, tool: Tool, model: Model) -> str:
        """Write an environment (RFC 6.2) and return its hash."""
        return self.context.entry(
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
        """Write a prompt (RFC 6.3) and return its hash."""
        files = self.files(prompt.context_files)
        if prompt.token_count is not None and prompt.token_count < 0:
            raise WrongArgument("prompt.token_count", "must not be negative")
        return self.context.entry(
            {
                "type": ContextType.PROMPT.value,
                "prompt_text": self.clean(_not_empty("prompt.text", prompt.text)),
                "prompt_type": str(prompt.type),
                "prompt_context_files": _json(files),
                "prompt_token_count": prompt.token_count,
            }
        )

    def reasoning(self, reasoning: Reasoning, model: str) -> str:
        """Write reasoning (RFC 6.5) and return its hash as stored.

        Args:
            reasoning: The reasoning.
            model: The model that wrote, for reasoning that names none.
        """
        return self.context.entry(
            {
                "type": ContextType.REASONING.value,
                "reasoning_text": self.clean(_not_empty("reasoning.text", reasoning.text)),
                "reasoning_token_count": reasoning.token_count,
                "reasoning_model": reasoning.model or model,
            }
        )

    def command(self, command: Command) -> str:
        """Write a command (RFC 6.4) and return its hash."""
        output = command.output_summary
        return self.context.entry(
            {
                "type": ContextType.COMMAND.value,
                "command_text": self.clean(_not_empty("command.text", command.text)),
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
        """Write that files of the project were read (RFC 6.4) and return the command's hash."""
        return self.command(Command(f"read {shlex.join(files)}", CommandType.FILE_READ))

    def decision(self, decision: Decision | RecordDecision) -> str:
        """Write a decision (RFC 6.6) and return its hash."""
        return self.context.entry(
            {
                "type": ContextType.DECISION.value,
                "decision_point": self.clean(decision.decision_point),
                "options": [self._option(option) for option in decision.options],
                "selected": decision.selected,
                "rationale": self.clean(decision.rationale),
                "confidence": None if decision.confidence is None else str(decision.confidence),
            }
        )

    def files(self, paths: Iterable[str]) -> list[str]:
        """Return files relative to the project; those outside are added to `left_out`."""
        inside, left_out = project_paths(self.context.project, paths)
        self.left_out += left_out
        return inside

    def clean(self, text: str) -> str:
        """Return a text with secrets masked, project paths relative, lone surrogates replaced."""
        text = replace_invalid(without_project(text, self.context.project))
        if os.environ.get(REDACTION) == "off":
            return text
        redaction = self.context.config.config.redaction
        masked, count = mask_secrets(text, redaction)
        self.masked += count
        return masked

    def clean_or_none(self, text: str | None) -> str | None:
        """As `clean`, for a text that may be missing."""
        return None if text is None else self.clean(text)

    def _folder(self, path: str) -> str | None:
        if without_project(path, self.context.project) == "." or path in {"", ".", "./"}:
            return "."
        relative = project_path(self.context.project, path)
        if relative is None:
            self.left_out.append(path)
        return relative

    def _option(self, option: DecisionOption) -> Members:
        members: Members = {"id": option.id, "description": self.clean(option.description)}
        for name, points in (("pros", option.pros), ("cons", option.cons)):
            if points:
                members[name] = [self.clean(point) for point in points]
        return members


def _not_empty(member: str, text: str) -> str:
    if not text:
        raise WrongArgument(member, "must not be empty")
    return text


def _cut(text: str) -> str:
    """Return the first 1,024 bytes, cut on a character boundary."""
    return text.encode()[:SUMMARY_BYTES].decode("utf-8", "ignore")


def _json(texts: Iterable[str]) -> list[JsonValue] | None:
    return list(texts) or None


def record_prompt(context: RecordingContext, request: RecordPrompt) -> tuple[Draft, RecordedPrompt]:
    """Return the edge from a session to its prompt; it causes the session's next work (RFC 9.1).

    Raises:
        UnknownId: The session was never started.
    """
    context.session(request.session_id)
    draft = Draft(context.timestamp, request.session_id)
    if context.level == AssuranceLevel.LOW:
        return draft, RecordedPrompt(None, withheld=("prompt",))
    entries = Entries(context)
    key = entries.prompt(request.prompt)
    session = Node(request.session_id, NodeType.SESSION)
    draft.edge(EdgeType.CAUSED_BY, session, Node(key, NodeType.CONTEXT))
    return draft, RecordedPrompt(
        key, tuple(draft.edges), entries.masked, left_out=tuple(entries.left_out)
    )


def record_command(
    context: RecordingContext, request: RecordCommand
) -> tuple[Draft, RecordedCommand]:
    """Return the edge from a command to the session that ran it.

    Raises:
        UnknownId: The session was never started.
    """
    context.session(request.session_id)
    entries = Entries(context)
    key = entries.command(request.command)
    draft = Draft(context.timestamp, request.session_id)
    session = Node(request.session_id, NodeType.SESSION)
    draft.edge(EdgeType.CAUSED_BY, Node(key, NodeType.CONTEXT), session)
    return draft, RecordedCommand(key, tuple(draft.edges), entries.masked, tuple(entries.left_out))


def record_read(context: RecordingContext, request: RecordRead) -> tuple[Draft, RecordedCommand]:
    """Return the edge from a session to the files of the project that it has read.

    Raises:
        UnknownId: The session was never started.
        WrongArgument: No file is inside the project.
    """
    context.session(request.session_id)
    entries = Entries(context)
    files = entries.files(request.files)
    if not files:
        raise WrongArgument("files", "expected at least one file inside the project")
    key = entries.read(files)
    draft = Draft(context.timestamp, request.session_id)
    session = Node(request.session_id, NodeType.SESSION)
    draft.edge(EdgeType.INFORMED_BY, session, Node(key, NodeType.CONTEXT))
    return draft, RecordedCommand(key, tuple(draft.edges), entries.masked, tuple(entries.left_out))


def record_decision(
    context: RecordingContext, request: RecordDecision
) -> tuple[Draft, RecordedDecision]:
    """Return a decision; annotations refer to it by its hash."""
    entries = Entries(context)
    key = entries.decision(request)
    return Draft(context.timestamp), RecordedDecision(key, entries.masked)
