"""The five record types of the annotation log (RFC 7.2-7.7), as they are validated and written.

Members that the RFC requires but real logs lack for good reasons (`annotation_id` R3, `commit_hash` R4, the ends of an edge
in their older names R5) are optional here; checks of their own speak about them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from vibes_lsp.model.schema_types import (
    CommitHash,
    Digest,
    Fraction,
    LaxAction,
    LaxDelegationType,
    LaxEdgeType,
    LaxLevel,
    LaxNodeType,
    LaxSessionEvent,
    LineNumber,
    NonEmpty,
    Number,
    Strict,
    Timestamp,
)


class RiskFactor(Strict):
    """One signal of a stored risk score (RFC 10.4.4)."""

    signal: NonEmpty
    value: Fraction
    weight: Number
    reason: str | None = None


class Identified(Strict):
    """What every record has: an instant, and an id computed from its content (RFC 5.4)."""

    annotation_id: Digest | None = Field(
        default=None, description="SHA-256 of the record; always written (R3)"
    )
    timestamp: Timestamp


class Annotation(Identified):
    """The members that line and function records share (RFC 7.3, 7.4)."""

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


class LineRecord(Annotation):
    """A range of lines that an AI wrote, changed, removed or reviewed (RFC 7.3); lines are 1-based and inclusive."""

    type: Literal["line"]
    line_start: LineNumber
    line_end: LineNumber

    @field_validator("line_end")
    @classmethod
    def _ordered(cls, line_end: int, info: Any) -> int:
        line_start = info.data.get("line_start")
        if line_start is not None and line_end < line_start:
            raise PydanticCustomError("range", "the range ends before it starts")
        return line_end


class FunctionRecord(Annotation):
    """A function, method or class that an AI wrote or changed (RFC 7.4)."""

    type: Literal["function"]
    function_name: NonEmpty
    function_signature: str | None = None


class SessionRecord(Identified):
    """The start or the end of a session (RFC 7.5)."""

    type: Literal["session"]
    event: LaxSessionEvent
    session_id: NonEmpty
    environment_hash: Digest | None = Field(default=None, description="required on a start")
    assurance_level: LaxLevel | None = Field(default=None, description="required on a start")
    description: str | None = None
    parent_session_id: NonEmpty | None = None
    agent_name: str | None = None
    agent_type: str | None = None

    @model_validator(mode="after")
    def _start_is_complete(self) -> SessionRecord:
        if self.event == "start":
            for name in ("environment_hash", "assurance_level"):
                if getattr(self, name) is None:
                    raise PydanticCustomError(
                        "missing_on_start", "is required on a start", {"member": name}
                    )
        return self


class EdgeRecord(Identified):
    """A directed relation, read "source [edge_type] target" (RFC 7.6); the ends also in their older names, without types (R5)."""

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
    def _has_ends(self) -> EdgeRecord:
        for end in ("source", "target"):
            named = getattr(self, f"{end}_ref") is not None
            if not named and getattr(self, f"{end}_id") is None:
                raise PydanticCustomError("missing_end", "is required", {"member": f"{end}_ref"})
            if named and getattr(self, f"{end}_type") is None:
                raise PydanticCustomError("missing_end", "is required", {"member": f"{end}_type"})
        return self


class DelegationRecord(Identified):
    """A session handing work to another session (RFC 7.7)."""

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
