"""The five context types of the manifest (RFC 6.2-6.7) and the manifest's own frame, as validated and written."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vibes_lsp.model.schema_types import (
    LaxCommandType,
    LaxConfidence,
    LaxPromptType,
    NonEmpty,
    Strict,
    Timestamp,
)


class Context(Strict):
    """What every entry has; the instant is no part of its hash (RFC 5.2)."""

    created_at: Timestamp


class EnvironmentContext(Context):
    """Tool, model and parameters (RFC 6.2)."""

    type: Literal["environment"]
    tool_name: str
    tool_version: str
    model_name: str
    model_version: str
    model_parameters: dict[str, Any] | None = None
    tool_extensions: list[str] | None = None


class PromptContext(Context):
    """What the AI was asked (RFC 6.3)."""

    type: Literal["prompt"]
    prompt_text: str
    prompt_type: LaxPromptType
    prompt_context_files: list[str] | None = None


class CommandContext(Context):
    """A tool invocation or shell command (RFC 6.4)."""

    type: Literal["command"]
    command_text: str
    command_type: LaxCommandType
    command_exit_code: int | None = None
    command_output_summary: str | None = None
    working_directory: str | None = None


class ReasoningContext(Context):
    """How the AI reasoned: inline, compressed or in a blob (RFC 6.5, 6.7, R8).

    `reasoning_model` is required by RFC 6.5 and absent from RFC 6.7's own examples, so a check of its own asks for it.
    """

    type: Literal["reasoning"]
    reasoning_text: str | None = None
    reasoning_text_compressed: str | None = None
    compressed: bool | None = None
    external: bool | None = None
    blob_path: str | None = None
    reasoning_token_count: int | None = None
    reasoning_model: str | None = None


class OptionEntry(Strict):
    """One alternative of a decision (RFC 6.6)."""

    id: NonEmpty
    description: str
    pros: list[str] | None = None
    cons: list[str] | None = None


class DecisionContext(Context):
    """A choice between alternatives (RFC 6.6)."""

    type: Literal["decision"]
    decision_point: str
    options: list[OptionEntry]
    selected: str
    rationale: str
    confidence: LaxConfidence | None = None

    @model_validator(mode="after")
    def _selected_is_an_option(self) -> DecisionContext:
        if self.selected not in {option.id for option in self.options}:
            raise PydanticCustomError(
                "selected", "names none of the options", {"member": "selected"}
            )
        return self


ContextEntry: TypeAlias = Annotated[
    EnvironmentContext | PromptContext | CommandContext | ReasoningContext | DecisionContext,
    Field(discriminator="type"),
]


class ManifestFrame(Strict):
    """The frame of `manifest.json` (RFC 6.1)."""

    standard: Literal["VIBES"]
    version: str
    entries: dict[str, ContextEntry]
