"""Schema and validation of `config.json` (RFC 8.1), its PRISM part included (RFC 10.4.6)."""

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


def _check_weight(value: Number) -> Number:
    if not 0 <= value <= sys.float_info.max:
        raise PydanticCustomError("weight", "expected a number of at least 0")
    return value


Weight: TypeAlias = Annotated[
    Number, AfterValidator(_check_weight), Field(json_schema_extra={"minimum": 0})
]
Bytes: TypeAlias = Annotated[int, Field(ge=0)]
LaxBackfillWhen: TypeAlias = Annotated[BackfillWhen, Field(strict=False)]
LaxBand: TypeAlias = Annotated[Band, Field(strict=False)]
LaxTier: TypeAlias = Annotated[Tier, Field(strict=False)]


def _check_signal(name: str) -> str:
    if name not in set(Signal) and not is_custom_signal(name):
        raise PydanticCustomError(
            "signal",
            "unknown signal: expected one of the RFC, or a name with a namespace such as org:name",
        )
    return name


def _check_baseline(value: Number) -> Number:
    if not 0 < value <= sys.float_info.max:
        raise PydanticCustomError("baseline", "expected a number above 0")
    return value


SignalName: TypeAlias = Annotated[str, AfterValidator(_check_signal)]
Baseline: TypeAlias = Annotated[
    Number, AfterValidator(_check_baseline), Field(json_schema_extra={"exclusiveMinimum": 0})
]
ModelPattern: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class ReviewRule(StrictModel):
    """A condition over signals and the action it requires (RFC 10.4.6, R20)."""

    condition: NonEmpty = Field(
        description="an expression over signals, such as `scope_lines > 200 AND action_type ="
        " 'create'`: AND, OR, NOT, IN, comparisons, numbers and quoted strings"
    )
    action: LaxRuleAction = Field(
        description="what the gate does with an edit for which the condition holds"
    )


class Baselines(StrictModel):
    """The quantities that count as 1.0, for signals without an upper bound (RFC 10.4.1)."""

    scope_files: Baseline | None = Field(
        default=None, description="files touched in a session; by default 20"
    )
    prompt_token_count: Baseline | None = Field(
        default=None, description="tokens of a prompt; by default 2000"
    )


class RiskScoring(StrictModel):
    """How PRISM computes risk in this project (RFC 10.4.6); off when absent or disabled (R27)."""

    enabled: bool = Field(
        default=False, description="whether risks are computed, stored with records, and gated"
    )
    algorithm: NonEmpty = Field(
        default="weighted_average",
        description="how signals become a score; of an unknown algorithm only stored scores show",
    )
    weights: dict[SignalName, Weight] = Field(
        default_factory=lambda: dict(DEFAULT_WEIGHTS),
        description="how much each signal counts; a signal without a weight counts nothing",
        json_schema_extra={
            "default": dict(DEFAULT_WEIGHTS),
            "propertyNames": {"anyOf": [{"enum": list(Signal)}, {"pattern": ".:."}]},
        },
    )
    thresholds: dict[LaxBand, Fraction] = Field(
        default_factory=lambda: dict(DEFAULT_THRESHOLDS),
        description="the lowest score of each band; they ascend from low to critical",
        json_schema_extra={
            "default": {str(band): bound for band, bound in DEFAULT_THRESHOLDS.items()}
        },
    )
    review_rules: list[ReviewRule] = Field(
        default_factory=list, description="what the gate requires besides the bands"
    )
    baselines: Baselines = Field(
        default_factory=Baselines,
        description="the quantities that count as 1.0, for signals without an upper bound",
    )
    capability_tiers: dict[ModelPattern, LaxTier] = Field(
        default_factory=dict, description="model tiers by name pattern (R22)"
    )

    @field_validator("thresholds")
    @classmethod
    def _check_ascending(cls, thresholds: dict[Band, Number]) -> dict[Band, Number]:
        whole = {**DEFAULT_THRESHOLDS, **thresholds}
        bounds = [whole[band] for band in Band]
        if bounds != sorted(bounds):
            raise PydanticCustomError(
                "thresholds", "expected bounds that ascend from low to critical"
            )
        return thresholds


class Backfill(StrictModel):
    """How commit hashes get into the log (R4)."""

    when: LaxBackfillWhen = Field(
        default=BackfillWhen.NEXT_COMMIT,
        description="`next-commit`: with the commit after; `landed`: once the default branch has"
        " the commit; `manual`: by `vibes backfill` only",
    )


def _check_enabled(value: bool) -> bool:  # noqa: FBT001  # pydantic passes the value alone
    if not value:
        raise PydanticCustomError(
            "redaction",
            "a project cannot turn masking off; a recording program can, with VIBES_REDACTION=off",
        )
    return value


def _check_mask_pattern(value: str) -> str:
    words = value.replace("*", "")
    if not 4 <= len(words) <= 200 or len(value) > 220:
        raise PydanticCustomError("pattern", "expected 4 to 200 characters besides *")
    if "\n" in value or "\r" in value or ("*" in value and len(value.split()) != 1):
        raise PydanticCustomError(
            "pattern", "expected no line break, and no white space in a pattern with *"
        )
    return value


MaskPattern: TypeAlias = Annotated[
    str,
    AfterValidator(_check_mask_pattern),
    Field(json_schema_extra={"minLength": 4, "maxLength": 220}),
]
AllowedText: TypeAlias = Annotated[str, Field(min_length=1, max_length=2_000)]


class Redaction(StrictModel):
    """Texts to mask besides known secrets, and texts to keep; masking cannot be turned off."""

    enabled: Annotated[
        bool, AfterValidator(_check_enabled), Field(json_schema_extra={"const": True})
    ] = Field(default=True, description="always true: a project cannot turn masking off")
    mask: list[MaskPattern] = Field(
        default_factory=list,
        max_length=100,
        description="texts to mask; `*` matches any characters but white space",
    )
    allow: list[AllowedText] = Field(
        default_factory=list,
        max_length=1_000,
        description="exact texts that look like secrets but are not; only matches inside them stay",
    )


ExcludePattern: TypeAlias = Annotated[str, StringConstraints(max_length=MAX_PATTERN)]


class Config(StrictModel):
    """A project's policy for its audit trail."""

    standard: Literal["VIBES"] = Field(default="VIBES", description="always VIBES")
    standard_version: str = Field(
        default="1.0", description="the version of the standard that the trail is written to"
    )
    assurance_level: LaxLevel = Field(
        default=AssuranceLevel.MEDIUM,
        description="how much is recorded: `low` tool and model, `medium` also prompts and"
        " commands, `high` also reasoning and decisions",
    )
    project_name: str = Field(default="", description="the name of the project in reports")
    tracked_extensions: list[str] | None = Field(
        default=None, description='endings of the files to record, such as ".py"; by default all'
    )
    exclude_patterns: list[ExcludePattern] = Field(
        default_factory=list, description="files that are not recorded, as in .gitignore"
    )
    compress_reasoning_threshold_bytes: Bytes = Field(
        default=COMPRESS_THRESHOLD,
        description="bytes of reasoning above which it is stored compressed",
    )
    external_blob_threshold_bytes: Bytes = Field(
        default=BLOB_THRESHOLD,
        description="bytes of reasoning above which it is stored in a file of its own",
    )
    durability: Literal["normal", "full"] = Field(
        default="normal",
        description="`full` flushes every record to the disk at once, `normal` when idle, at a"
        " commit and at the end of a session; neither loses records when a program is killed",
    )
    redaction: Redaction = Field(
        default_factory=Redaction, description="which texts are masked before they are recorded"
    )
    risk_scoring: RiskScoring | None = Field(
        default=None, description="how PRISM computes risk; without it there are no risks"
    )
    backfill: Backfill = Field(
        default_factory=Backfill, description="when commits are written into the log"
    )


REQUIRED_MEMBERS: Final = ("standard", "standard_version", "assurance_level", "project_name")
"""Members that RFC 8.1 requires; when absent they are reported and the defaults above apply."""


def validate_config(members: Members) -> tuple[Config, list[Problem]]:
    """Return the policy and the problems in it; invalid parts and nulls count as absent."""
    problems = [
        Problem(name, "is required", "missing") for name in REQUIRED_MEMBERS if name not in members
    ]
    valid: Members = {
        name: value
        for name, value in members.items()
        if value is not None or name in REQUIRED_MEMBERS
    }
    while True:
        try:
            return Config.model_validate(valid), problems
        except ValidationError as error:
            problems.extend(problems_in(error))
            reduced = _drop_invalid(
                valid,
                [
                    tuple(item["loc"])
                    for item in error.errors(include_url=False, include_input=False)
                ],
            )
            valid = reduced if reduced != valid else {}


_OBJECTS: Final = ("redaction", "risk_scoring")
"""Objects of which only invalid parts are dropped: one mistake does not disable the rest."""


_ARRAYS: Final = ("tracked_extensions", "exclude_patterns")
"""Arrays of which only invalid items are dropped."""


def _drop_invalid(members: Members, locations: Sequence[tuple[Any, ...]]) -> Members:
    """Drop the invalid weight, rule, pattern or extension; elsewhere the whole top-level member."""
    valid = dict(members)
    for name in _ARRAYS:
        value = valid.get(name)
        wrong = {location[1] for location in locations if len(location) > 1 and location[0] == name}
        if isinstance(value, list) and wrong:
            valid[name] = [each for number, each in enumerate(value) if number not in wrong]
    for name in _OBJECTS:
        whole = mapping(valid, name)
        inside = [
            location[1:] for location in locations if len(location) > 1 and location[0] == name
        ]
        if whole and inside:
            valid[name] = _drop_invalid_parts(whole, inside)
    for location in locations:
        if not location:  # a name is not Unicode text, and pydantic does not say which
            valid = {name: value for name, value in valid.items() if _is_text(name)}
        elif len(location) == 1 or location[0] not in (*_OBJECTS, *_ARRAYS):
            valid.pop(str(location[0]), None)
    return valid


def _drop_invalid_parts(members: Members, locations: Sequence[tuple[Any, ...]]) -> Members:
    valid = dict(members)
    for name in dict.fromkeys(str(location[0]) for location in locations):
        parts = {location[1] for location in locations if location[0] == name and len(location) > 1}
        value, whole = valid.pop(name, None), any(location == (name,) for location in locations)
        if whole or not parts:
            continue
        rest: JsonValue = None
        if isinstance(value, dict):
            rest = {part: each for part, each in value.items() if part not in parts}
        elif isinstance(value, list):
            rest = [each for number, each in enumerate(value) if number not in parts]
        if rest:
            valid[name] = rest
    return valid


def _is_text(name: str) -> bool:
    return name == name.encode("utf-8", "ignore").decode()
