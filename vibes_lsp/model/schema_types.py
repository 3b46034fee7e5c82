"""Field types that the record, context and config models share; strict, with unknown members kept (RFC 12.2, 12.3)."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
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


class Strict(BaseModel):
    """An object on disk: declared members are checked without coercion, all others survive a round trip."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True, protected_namespaces=())


def _timestamp(value: str) -> str:
    if parse_timestamp(value) is None:
        raise PydanticCustomError("timestamp", "not an ISO-8601 date and time")
    return value


Timestamp: TypeAlias = Annotated[
    str,
    AfterValidator(_timestamp),
    Field(json_schema_extra={"format": "date-time"}, description="ISO-8601, UTC"),
]
Digest: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
CommitHash: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{4,64}$")]
NonEmpty: TypeAlias = Annotated[str, StringConstraints(min_length=1)]
Number: TypeAlias = int | float
Fraction: TypeAlias = Annotated[Number, Field(ge=0, le=1)]
LineNumber: TypeAlias = Annotated[int, Field(ge=1)]

# An enum's words arrive as strings, which strict mode refuses: these accept the words, and nothing else.
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
