"""Schemas of log records (RFC 7.2-7.7) and manifest entries (RFC 6.1-6.7), and their field types.

Members that the RFC requires but real logs lack for good reasons are optional here:
`annotation_id` (R3), `commit_hash` (R4) and the ends of an edge under their older names (R5).
Separate checks report those.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import (
    Action,
    AssuranceLevel,
    CommandType,
    Confidence,
    DelegationType,
    EdgeType,
    NodeType,
    PromptType,
    RuleAction,
    SessionEvent,
)


class StrictModel(BaseModel):
    """Base of all schemas: members are checked without coercion, unknown ones kept (RFC 12.2)."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True, protected_namespaces=())


def _check_timestamp(value: str) -> str:
    if parse_timestamp(value) is None:
        raise PydanticCustomError("timestamp", "expected an ISO 8601 date and time")
    return value


Timestamp: TypeAlias = Annotated[
    str,
    AfterValidator(_check_timestamp),
    Field(json_schema_extra={"format": "date-time"}, description="ISO 8601, UTC"),
]
DIGEST_PATTERN: Final = r"^[0-9a-f]{64}$"
COMMIT_HASH_PATTERN: Final = r"^[0-9a-f]{4,64}$"
LINE_HASHES_PATTERN: Final = r"^(?:[0-9a-f]{8})+$"
Digest: TypeAlias = Annotated[str, StringConstraints(pattern=DIGEST_PATTERN)]
CommitHash: TypeAlias = Annotated[str, StringConstraints(pattern=COMMIT_HASH_PATTERN)]
LineHashes: TypeAlias = Annotated[str, StringConstraints(pattern=LINE_HASHES_PATTERN)]
NonEmpty: TypeAlias = Annotated[str, StringConstraints(min_length=1)]
Number: TypeAlias = int | float


def _name_bounds(schema: dict[str, Any]) -> None:
    """Call the bounds of a union of numbers as JSON Schema does; pydantic uses its own words."""
    schema["minimum"], schema["maximum"] = schema.pop("ge"), schema.pop("le")


Fraction: TypeAlias = Annotated[Number, Field(ge=0, le=1, json_schema_extra=_name_bounds)]
LineNumber: TypeAlias = Annotated[int, Field(ge=1)]

# Strict mode rejects strings where an enum is expected; these accept its values and nothing else.
LaxAction: TypeAlias = Annotated[Action, Field(strict=False)]
LaxLevel: TypeAlias = Annotated[AssuranceLevel, Field(strict=False)]
LaxSessionEvent: TypeAlias = Annotated[SessionEvent, Field(strict=False)]
LaxEdgeType: TypeAlias = Annotated[EdgeType, Field(strict=False)]
LaxNodeType: TypeAlias = Annotated[NodeType, Field(strict=False)]
LaxDelegationType: TypeAlias = Annotated[DelegationType, Field(strict=False)]
LaxPromptType: TypeAlias = Annotated[PromptType, Field(strict=False)]
LaxCommandType: TypeAlias = Annotated[CommandType, Field(strict=False)]
LaxConfidence: TypeAlias = Annotated[Confidence, Field(strict=False)]
LaxRuleAction: TypeAlias = Annotated[RuleAction, Field(strict=False)]


class RiskFactor(StrictModel):
    """One signal of a stored risk score (RFC 10.4.4)."""

    signal: NonEmpty
    value: Fraction
    weight: Number
    reason: str | None = None


class BaseRecord(StrictModel):
    """Members of every record: a timestamp, and an id computed from its content (RFC 5.4)."""

    annotation_id: Digest | None = Field(
        default=None, description="SHA-256 of the record; always written (R3)"
    )
    timestamp: Timestamp


class Annotation(BaseRecord):
    """Members that line and function records share (RFC 7.3, 7.4)."""

    file_path: NonEmpty = Field(description="relative to the project root, forward slashes")
    environment_hash: Digest
    command_hash: Digest | None = None
    prompt_hash: Digest | None = None
    reasoning_hash: Digest | None = None
    decision_hash: Digest | None = None
    action: LaxAction
    commit_hash: CommitHash | None = Field(
        default=None, description="null until the change is committed (R4)"
    )
    session_id: NonEmpty | None = None
    assurance_level: LaxLevel
    anchor_context: str | None = Field(
        default=None, description="first three lines, at most 256 bytes (R14)"
    )
    anchor_hash: Digest | None = None
    file_content_hash: Digest | None = None
    risk_score: Fraction | None = None
    risk_factors: list[RiskFactor] | None = None
    line_hashes: LineHashes | None = Field(
        default=None,
        description="first 8 hex digits of the SHA-256 of each line as the edit wrote it; zeros "
        "for a line with a masked secret; an extension (R32)",
    )
    edit: NonEmpty | None = Field(
        default=None,
        description="the id that recording returned, where this record is one hunk of an edit; "
        "an extension (R32)",
    )
    sure: bool | None = Field(
        default=None,
        description="false where less than half of the edit's block still stood; "
        "an extension (R32)",
    )
    evidence: NonEmpty | None = Field(
        default=None,
        description="`compared`: a file that came into being while a command ran; "
        "an extension (R32)",
    )


class LineRecord(Annotation):
    """Lines that an AI wrote, changed, removed or reviewed (RFC 7.3).

    Lines are 1-based and inclusive.
    """

    type: Literal["line"]
    line_start: LineNumber
    line_end: LineNumber

    @field_validator("line_end")
    @classmethod
    def _check_order(cls, line_end: int, info: Any) -> int:
        line_start = info.data.get("line_start")
        if line_start is not None and line_end < line_start:
            raise PydanticCustomError("range", "the range ends before it starts")
        return line_end


class FunctionRecord(Annotation):
    """A function, method or class that an AI wrote or changed (RFC 7.4)."""

    type: Literal["function"]
    function_name: NonEmpty
    function_signature: str | None = None


class SessionRecord(BaseRecord):
    """The start or the end of a session (RFC 7.5)."""

    type: Literal["session"]
    event: LaxSessionEvent
    session_id: NonEmpty
    environment_hash: Digest | None = Field(
        default=None, description="required when a session starts"
    )
    assurance_level: LaxLevel | None = Field(
        default=None, description="required when a session starts"
    )
    description: str | None = None
    parent_session_id: NonEmpty | None = None
    agent_name: str | None = None
    agent_type: str | None = None

    @model_validator(mode="after")
    def _check_start(self) -> SessionRecord:
        if self.event == "start":
            for name in ("environment_hash", "assurance_level"):
                if getattr(self, name) is None:
                    raise PydanticCustomError(
                        "missing_on_start", "is required when a session starts", {"member": name}
                    )
        return self


class EdgeRecord(BaseRecord):
    """A directed relation, read as: source [edge_type] target (RFC 7.6).

    The ends may also have their older names, `source_id` and `target_id`, without types (R5).
    """

    type: Literal["edge"]
    edge_type: LaxEdgeType
    source_ref: NonEmpty | None = None
    source_type: LaxNodeType | None = None
    target_ref: NonEmpty | None = None
    target_type: LaxNodeType | None = None
    source_id: NonEmpty | None = None
    target_id: NonEmpty | None = None
    session_id: NonEmpty | None = None
    metadata: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _check_ends(self) -> EdgeRecord:
        for end in ("source", "target"):
            named = getattr(self, f"{end}_ref") is not None
            if not named and getattr(self, f"{end}_id") is None:
                raise PydanticCustomError("missing_end", "is required", {"member": f"{end}_ref"})
            if named and getattr(self, f"{end}_type") is None:
                raise PydanticCustomError("missing_end", "is required", {"member": f"{end}_type"})
        return self


class DelegationRecord(BaseRecord):
    """Work that one session hands to another (RFC 7.7)."""

    type: Literal["delegation"]
    parent_session_id: NonEmpty
    child_session_id: NonEmpty
    task_description: str | None = None
    delegated_files: list[str] | None = None
    delegation_type: LaxDelegationType | None = None
    parent_environment_hash: Digest | None = None
    child_environment_hash: Digest | None = None


Record: TypeAlias = Annotated[
    LineRecord | FunctionRecord | SessionRecord | EdgeRecord | DelegationRecord,
    Field(discriminator="type"),
]


class BaseContext(StrictModel):
    """Members of every entry; `created_at` is not part of its hash (RFC 5.2)."""

    created_at: Timestamp


class EnvironmentContext(BaseContext):
    """Tool, model and parameters (RFC 6.2)."""

    type: Literal["environment"]
    tool_name: str
    tool_version: str
    model_name: str
    model_version: str
    model_parameters: dict[str, Any] | None = None
    tool_extensions: list[str] | None = None


class PromptContext(BaseContext):
    """What the AI was asked (RFC 6.3)."""

    type: Literal["prompt"]
    prompt_text: str
    prompt_type: LaxPromptType
    prompt_context_files: list[str] | None = None


class CommandContext(BaseContext):
    """A tool invocation or shell command (RFC 6.4)."""

    type: Literal["command"]
    command_text: str
    command_type: LaxCommandType
    command_exit_code: int | None = None
    command_output_summary: str | None = None
    working_directory: str | None = None


class ReasoningContext(BaseContext):
    """How the AI reasoned: inline, compressed or in a blob (RFC 6.5, 6.7, R8).

    RFC 6.5 requires `reasoning_model`, but the examples of RFC 6.7 lack it: a separate check
    reports it.
    """

    type: Literal["reasoning"]
    reasoning_text: str | None = None
    reasoning_text_compressed: str | None = None
    compressed: bool | None = None
    external: bool | None = None
    blob_path: str | None = None
    reasoning_token_count: int | None = None
    reasoning_model: str | None = None


class OptionEntry(StrictModel):
    """One alternative of a decision (RFC 6.6)."""

    id: NonEmpty
    description: str
    pros: list[str] | None = None
    cons: list[str] | None = None


class DecisionContext(BaseContext):
    """A choice between alternatives (RFC 6.6)."""

    type: Literal["decision"]
    decision_point: str
    options: list[OptionEntry]
    selected: str
    rationale: str
    confidence: LaxConfidence | None = None

    @model_validator(mode="after")
    def _check_selected(self) -> DecisionContext:
        if self.selected not in {option.id for option in self.options}:
            raise PydanticCustomError(
                "selected", "expected the id of one of the options", {"member": "selected"}
            )
        return self


ContextEntry: TypeAlias = Annotated[
    EnvironmentContext | PromptContext | CommandContext | ReasoningContext | DecisionContext,
    Field(discriminator="type"),
]


class ManifestFrame(StrictModel):
    """The frame of `manifest.json` (RFC 6.1)."""

    standard: Literal["VIBES"]
    version: str
    entries: dict[str, ContextEntry]
