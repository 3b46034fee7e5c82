"""Project policy, `config.json` (RFC 8.1) with its PRISM part (RFC 10.4.6)."""

from __future__ import annotations

import sys
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError

from vibes_lsp.model.defaults import (
    BLOB_THRESHOLD,
    COMPRESS_THRESHOLD,
    DEFAULT_THRESHOLDS,
    DEFAULT_WEIGHTS,
)
from vibes_lsp.model.gitignore import MAX_PATTERN
from vibes_lsp.model.schema_types import Fraction, LaxLevel, LaxRuleAction, NonEmpty, Number, Strict
from vibes_lsp.model.vocabulary import (
    AssuranceLevel,
    BackfillWhen,
    Band,
    Signal,
    Tier,
    is_custom_signal,
)


def _weight(value: Number) -> Number:
    if not 0 <= value <= sys.float_info.max:
        raise PydanticCustomError("weight", "a weight is a number from 0 up")
    return value


Weight: TypeAlias = Annotated[
    Number, AfterValidator(_weight), Field(json_schema_extra={"minimum": 0})
]
Bytes: TypeAlias = Annotated[int, Field(ge=0)]
LaxWhen: TypeAlias = Annotated[BackfillWhen, Field(strict=False)]
LaxBand: TypeAlias = Annotated[Band, Field(strict=False)]
LaxTier: TypeAlias = Annotated[Tier, Field(strict=False)]


def _signal(name: str) -> str:
    if name not in set(Signal) and not is_custom_signal(name):
        raise PydanticCustomError(
            "signal", "no signal of the standard, and no name with a namespace, as in org:name"
        )
    return name


def _baseline(value: Number) -> Number:
    if not 0 < value <= sys.float_info.max:
        raise PydanticCustomError("baseline", "a baseline is a number above 0")
    return value


SignalName: TypeAlias = Annotated[str, AfterValidator(_signal)]
Baseline: TypeAlias = Annotated[
    Number, AfterValidator(_baseline), Field(json_schema_extra={"exclusiveMinimum": 0})
]
Pattern: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class ReviewRule(Strict):
    """A condition over signals and what it asks for (RFC 10.4.6, R20)."""

    condition: NonEmpty
    action: LaxRuleAction


class Baselines(Strict):
    """What counts as 1.0, of the signals that have no upper end (RFC 10.4.1)."""

    scope_files: Baseline | None = Field(
        default=None, description="files touched in a session; by default 20"
    )
    prompt_token_count: Baseline | None = Field(
        default=None, description="tokens of a prompt; by default 2000"
    )


class RiskScoring(Strict):
    """How PRISM scores here (RFC 10.4.6); absent or disabled means off (R27)."""

    enabled: bool = False
    algorithm: NonEmpty = "weighted_average"
    weights: dict[SignalName, Weight] = Field(default_factory=lambda: dict(DEFAULT_WEIGHTS))
    thresholds: dict[LaxBand, Fraction] = Field(default_factory=lambda: dict(DEFAULT_THRESHOLDS))
    review_rules: list[ReviewRule] = Field(default_factory=list)
    baselines: Baselines = Field(default_factory=Baselines)
    capability_tiers: dict[Pattern, LaxTier] = Field(
        default_factory=dict, description="tiers of models by patterns of their names (R22)"
    )

    @field_validator("thresholds")
    @classmethod
    def _ascending(cls, thresholds: dict[Band, Number]) -> dict[Band, Number]:
        whole = {**DEFAULT_THRESHOLDS, **thresholds}
        bounds = [whole[band] for band in Band]
        if bounds != sorted(bounds):
            raise PydanticCustomError("thresholds", "the bands' bounds do not ascend")
        return thresholds


class Backfill(Strict):
    """How commits get into the log (R4)."""

    when: LaxWhen = BackfillWhen.NEXT_COMMIT


def _not_off(value: bool) -> bool:  # noqa: FBT001  # pydantic passes the value alone
    if not value:
        raise PydanticCustomError(
            "redaction",
            "a project cannot switch masking off; whoever records can, by VIBES_REDACTION=off",
        )
    return value


def _pattern(value: str) -> str:
    words = value.replace("*", "")
    if not 4 <= len(words) <= 200 or len(value) > 220:
        raise PydanticCustomError("pattern", "a pattern has 4 to 200 characters beside its *")
    if "\n" in value or "\r" in value or ("*" in value and len(value.split()) != 1):
        raise PydanticCustomError(
            "pattern", "a pattern has no line break, and one with * no white space"
        )
    return value


MaskPattern: TypeAlias = Annotated[
    str, AfterValidator(_pattern), Field(json_schema_extra={"minLength": 4, "maxLength": 220})
]
AllowedText: TypeAlias = Annotated[str, Field(min_length=1, max_length=2_000)]


class Redaction(Strict):
    """What is masked beyond the known formats of secrets, and what is none; nothing here can switch masking off.

    Attributes:
        enabled: True.
        mask: Texts that are masked; `*` stands for any characters but white space.
        allow: Exact texts that look like secrets and are none; only what lies within one of them is let through.
    """

    enabled: Annotated[bool, AfterValidator(_not_off), Field(json_schema_extra={"const": True})] = (
        True
    )
    mask: list[MaskPattern] = Field(default_factory=list, max_length=100)
    allow: list[AllowedText] = Field(default_factory=list, max_length=1_000)


ExcludePattern: TypeAlias = Annotated[str, StringConstraints(max_length=MAX_PATTERN)]


class Config(Strict):
    """What a project decided about its audit trail."""

    standard: Literal["VIBES"] = "VIBES"
    standard_version: str = "1.0"
    assurance_level: LaxLevel = AssuranceLevel.MEDIUM
    project_name: str = ""
    tracked_extensions: list[str] | None = None
    exclude_patterns: list[ExcludePattern] = Field(default_factory=list)
    compress_reasoning_threshold_bytes: Bytes = COMPRESS_THRESHOLD
    external_blob_threshold_bytes: Bytes = BLOB_THRESHOLD
    durability: Literal["normal", "full"] = "normal"
    redaction: Redaction = Field(default_factory=Redaction)
    risk_scoring: RiskScoring | None = None
    backfill: Backfill = Field(default_factory=Backfill)


REQUIRED_MEMBERS: Final = ("standard", "standard_version", "assurance_level", "project_name")
"""What RFC 8.1 requires; a reader falls back on the defaults above and reports the absence."""
