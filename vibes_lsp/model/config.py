"""Project policy, `config.json` (RFC 8.1) with its PRISM part (RFC 10.4.6)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from vibes_lsp.model.defaults import (
    BLOB_THRESHOLD,
    COMPRESS_THRESHOLD,
    DEFAULT_THRESHOLDS,
    DEFAULT_WEIGHTS,
)
from vibes_lsp.model.gitignore import MAX_PATTERN
from vibes_lsp.model.members import JsonValue, Members, mapping
from vibes_lsp.model.schemas import Fraction, LaxLevel, LaxRuleAction, NonEmpty, Number, StrictModel
from vibes_lsp.model.validation import Problem, problems_in
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


class ReviewRule(StrictModel):
    """A condition over signals and what it asks for (RFC 10.4.6, R20)."""

    condition: NonEmpty
    action: LaxRuleAction


class Baselines(StrictModel):
    """What counts as 1.0, of the signals that have no upper end (RFC 10.4.1)."""

    scope_files: Baseline | None = Field(
        default=None, description="files touched in a session; by default 20"
    )
    prompt_token_count: Baseline | None = Field(
        default=None, description="tokens of a prompt; by default 2000"
    )


class RiskScoring(StrictModel):
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


class Backfill(StrictModel):
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


class Redaction(StrictModel):
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


class Config(StrictModel):
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


def validate_config(members: Members) -> tuple[Config, list[Problem]]:
    """Return the policy that the members state, and what is wrong with them; a broken part, or a null, counts as not given."""
    problems = [
        Problem(name, "is required", "missing") for name in REQUIRED_MEMBERS if name not in members
    ]
    kept: Members = {
        name: value
        for name, value in members.items()
        if value is not None or name in REQUIRED_MEMBERS
    }
    while True:
        try:
            return Config.model_validate(kept), problems
        except ValidationError as error:
            problems.extend(problems_in(error))
            reduced = _without(
                kept,
                [
                    tuple(item["loc"])
                    for item in error.errors(include_url=False, include_input=False)
                ],
            )
            kept = reduced if reduced != kept else {}


_IN_PARTS: Final = ("redaction", "risk_scoring")
"""Members of which a broken part is dropped alone, so that one mistake does not switch off the rest."""


_LISTS: Final = ("tracked_extensions", "exclude_patterns")
"""Likewise, of an array at the top."""


def _without(members: Members, locations: Sequence[tuple[Any, ...]]) -> Members:
    """Drop what is broken: of what has parts only the weight, rule, pattern or extension concerned, elsewhere the top-level member."""
    kept = dict(members)
    for name in _LISTS:
        value = kept.get(name)
        wrong = {location[1] for location in locations if len(location) > 1 and location[0] == name}
        if isinstance(value, list) and wrong:
            kept[name] = [each for number, each in enumerate(value) if number not in wrong]
    for name in _IN_PARTS:
        whole = mapping(kept, name)
        inside = [
            location[1:] for location in locations if len(location) > 1 and location[0] == name
        ]
        if whole and inside:
            kept[name] = _without_parts(whole, inside)
    for location in locations:
        if not location:  # some name is no Unicode text, and pydantic does not say which
            kept = {name: value for name, value in kept.items() if _is_text(name)}
        elif len(location) == 1 or location[0] not in (*_IN_PARTS, *_LISTS):
            kept.pop(str(location[0]), None)
    return kept


def _without_parts(members: Members, locations: Sequence[tuple[Any, ...]]) -> Members:
    kept = dict(members)
    for name in dict.fromkeys(str(location[0]) for location in locations):
        parts = {location[1] for location in locations if location[0] == name and len(location) > 1}
        value, whole = kept.pop(name, None), any(location == (name,) for location in locations)
        if whole or not parts:
            continue
        rest: JsonValue = None
        if isinstance(value, dict):
            rest = {part: each for part, each in value.items() if part not in parts}
        elif isinstance(value, list):
            rest = [each for number, each in enumerate(value) if number not in parts]
        if rest:
            kept[name] = rest
    return kept


def _is_text(name: str) -> bool:
    return name == name.encode("utf-8", "ignore").decode()
