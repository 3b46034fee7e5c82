"""Schemas that validate log records and manifest entries (RFC 6.1-6.7), and their field types.

Those of records are made from `model.record_schema`.

Members that the RFC requires but real logs lack for good reasons are optional here:
`annotation_id` (R3), `commit_hash` (R4) and the ends of an edge under their older names (R5).
Separate checks report those.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias, Union

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from vibes_lsp.model.record_schema import RECORD_SCHEMAS, Member, MemberType, RecordSchema
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import (
    AssuranceLevel,
    CommandType,
    Confidence,
    PromptType,
    RecordType,
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
LaxLevel: TypeAlias = Annotated[AssuranceLevel, Field(strict=False)]
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


class _LineRecord(StrictModel):
    """The rule about the lines of a record: they are 1-based and inclusive."""

    @field_validator("line_end", check_fields=False)
    @classmethod
    def _check_order(cls, line_end: int, info: Any) -> int:
        line_start = info.data.get("line_start")
        if line_start is not None and line_end < line_start:
            raise PydanticCustomError("range", "the range ends before it starts")
        return line_end


class _SessionRecord(StrictModel):
    """The rule about what the start of a session has."""

    @model_validator(mode="after")
    def _check_start(self) -> _SessionRecord:
        members = vars(self)
        if members["event"] == SessionEvent.START:
            for name in ("environment_hash", "assurance_level"):
                if members[name] is None:
                    raise PydanticCustomError(
                        "missing_on_start", "is required when a session starts", {"member": name}
                    )
        return self


class _EdgeRecord(StrictModel):
    """The rule about the names of an edge's ends (R5)."""

    @model_validator(mode="after")
    def _check_ends(self) -> _EdgeRecord:
        members = vars(self)
        for end in ("source", "target"):
            named = members[f"{end}_ref"] is not None
            if not named and members[f"{end}_id"] is None:
                raise PydanticCustomError("missing_end", "is required", {"member": f"{end}_ref"})
            if named and members[f"{end}_type"] is None:
                raise PydanticCustomError("missing_end", "is required", {"member": f"{end}_type"})
        return self


_VALUES: Final[dict[MemberType, Any]] = {
    MemberType.TEXT: str,
    MemberType.NAME: NonEmpty,
    MemberType.TIMESTAMP: Timestamp,
    MemberType.DIGEST: Digest,
    MemberType.COMMIT: CommitHash,
    MemberType.LINE: LineNumber,
    MemberType.FRACTION: Fraction,
    MemberType.BOOLEAN: bool,
    MemberType.LINE_HASHES: LineHashes,
    MemberType.TEXTS: list[str],
    MemberType.FACTORS: list[RiskFactor],
    MemberType.OBJECT: dict[str, Any],
}
_RULES: Final[dict[RecordType, type[StrictModel]]] = {
    RecordType.LINE: _LineRecord,
    RecordType.SESSION: _SessionRecord,
    RecordType.EDGE: _EdgeRecord,
}


def _record_model(schema: RecordSchema) -> type[StrictModel]:
    """Return the model that validates a type of record."""
    fields: dict[str, Any] = {"type": (Literal[schema.type.value], ...)}
    for member in schema.members:
        fields[member.name] = _field(member)
        if member.older_name is not None:
            fields[member.older_name] = (NonEmpty | None, None)
    return create_model(
        f"{schema.type.capitalize()}Record",
        __base__=_RULES.get(schema.type, StrictModel),
        __module__=__name__,
        __doc__=schema.description,
        **fields,
    )


def _field(member: Member) -> tuple[Any, Any]:
    """Return type and default of a member."""
    value: Any = (
        _VALUES[member.type]
        if isinstance(member.type, MemberType)
        # Strict mode rejects strings where an enum is expected; this accepts its values only.
        else Annotated[member.type, Field(strict=False)]
    )
    described = f"{member.description}; an extension ({member.section})"
    description = (described if member.is_extension else member.description) or None
    if member.is_required:
        return value, Field(description=description) if description else ...
    return value | None, Field(default=None, description=description)


_MODELS: Final = tuple(map(_record_model, RECORD_SCHEMAS.values()))
_RECORD: Final[Any] = Union[_MODELS]  # noqa: UP007  # made at run time
Record: Final[Any] = Annotated[_RECORD, Field(discriminator="type")]


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
