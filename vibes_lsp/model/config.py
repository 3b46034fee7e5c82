"""Schema and validation of `config.json` (RFC 8.1), its PRISM part included (RFC 10.4.6)."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from vibes_lsp.model.canonical_json import as_type
from vibes_lsp.model.defaults import (
    BLOB_THRESHOLD,
    COMPRESS_THRESHOLD,
    DEFAULT_THRESHOLDS,
    DEFAULT_WEIGHTS,
)
from vibes_lsp.model.gitignore import MAX_PATTERN
from vibes_lsp.model.json_schema import (
    RULE,
    Check,
    Schema,
    Violation,
    compile_schema,
    optional,
)
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.schemas import FRACTION, NAME, TEXT, TEXTS, word_of
from vibes_lsp.model.validation import Problem, problems_of
from vibes_lsp.model.vocabulary import (
    AssuranceLevel,
    BackfillWhen,
    Band,
    RuleAction,
    Signal,
    Tier,
    is_custom_signal,
)


@dataclass(frozen=True, slots=True)
class RiskScoring:
    """How PRISM computes risk in a project; off when absent or disabled (R27)."""

    enabled: bool = False
    algorithm: str = "weighted_average"
    weights: Mapping[str, float] = field(default_factory=dict)
    thresholds: Mapping[Band, float] = field(default_factory=dict)
    baselines: Mapping[str, float | None] = field(default_factory=dict)
    capability_tiers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Redaction:
    """A project's additions to the known secrets.

    Attributes:
        mask: Texts to mask; `*` matches any characters but white space.
        allow: Exact texts that are not secrets. A match stays only when all of it lies inside one
            of them, so that no longer secret is exposed; private keys are always masked.
    """

    mask: Sequence[str] = ()
    allow: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Backfill:
    """How commit hashes get into the log (R4)."""

    when: BackfillWhen = BackfillWhen.NEXT_COMMIT


@dataclass(frozen=True, slots=True)
class Config:
    """A project's policy for its audit trail; `CONFIG_SCHEMA` says what each member is for."""

    standard: str = "VIBES"
    standard_version: str = "1.0"
    assurance_level: AssuranceLevel = AssuranceLevel.MEDIUM
    project_name: str = ""
    tracked_extensions: list[str] | None = None
    exclude_patterns: list[str] = field(default_factory=list)
    compress_reasoning_threshold_bytes: int = COMPRESS_THRESHOLD
    external_blob_threshold_bytes: int = BLOB_THRESHOLD
    durability: str = "normal"
    redaction: Redaction = Redaction()
    risk_scoring: RiskScoring | None = None
    backfill: Backfill = Backfill()


def _check_enabled(value: Any) -> Violation | None:
    message = "a project cannot turn masking off; a recording program can, with VIBES_REDACTION=off"
    return None if value else Violation((), message)


def _check_mask_pattern(value: str) -> Violation | None:
    words = value.replace("*", "")
    if not 4 <= len(words) <= 200 or len(value) > 220:
        return Violation((), "expected 4 to 200 characters besides *")
    if "\n" in value or "\r" in value or ("*" in value and any(map(str.isspace, value))):
        message = "expected no line break, and no white space in a pattern with *"
        return Violation((), message)
    return None


def _check_finite(value: float) -> Violation | None:
    return None if value <= sys.float_info.max else Violation((), "expected a finite number")


def _check_signal(name: str) -> Violation | None:
    if name in set(Signal) or is_custom_signal(name):
        return None
    expected = "expected one of the RFC, or a name with a namespace such as org:name"
    return Violation((), f"unknown signal: {expected}")


def _check_ascending(thresholds: Mapping[Band, float]) -> Violation | None:
    whole = {**DEFAULT_THRESHOLDS, **thresholds}
    bounds = [whole[band] for band in Band]
    if bounds == sorted(bounds):
        return None
    return Violation((), "expected bounds that ascend from low to critical")


def _member(schema: Schema, description: str, default: object = None) -> Schema:
    """Return the schema of a member with what readers use for it where it is missing."""
    described = {**schema, "description": description}
    return described if default is None else {**described, "default": default}


def _object(members: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": members}


def _array(items: Schema, longest: int | None = None) -> Schema:
    array = {"type": "array", "items": items}
    return array if longest is None else {**array, "maxItems": longest}


def _mapping(values: Schema, names: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values, "propertyNames": names}


_BOOLEAN: Final[Schema] = {"type": "boolean"}
_BYTES: Final[Schema] = {"type": "integer", "minimum": 0}
_WEIGHT: Final = {"type": "number", "minimum": 0, RULE: _check_finite}
_BASELINE: Final = optional({"type": "number", "exclusiveMinimum": 0, RULE: _check_finite})
_MASK_PATTERN: Final = {
    "type": "string",
    "minLength": 4,
    "maxLength": 220,
    RULE: _check_mask_pattern,
}
_SIGNAL: Final = {
    "anyOf": [{"enum": [signal.value for signal in Signal]}, {"pattern": ".:."}],
    RULE: _check_signal,
}
_REVIEW_RULE: Final = {
    **_object(
        {
            "condition": _member(
                NAME,
                "an expression over signals, such as `scope_lines > 200 AND action_type ="
                " 'create'`: AND, OR, NOT, IN, comparisons, numbers and quoted strings",
            ),
            "action": _member(
                word_of(RuleAction), "what the gate does with an edit for which the condition holds"
            ),
        }
    ),
    "description": "A condition over signals and the action it requires (RFC 10.4.6, R20).",
    "required": ["condition", "action"],
}
_RISK_SCORING: Final = {
    "enabled": _member(
        _BOOLEAN, "whether risks are computed, stored with records, and gated", default=False
    ),
    "algorithm": _member(
        NAME,
        "how signals become a score; of an unknown algorithm only stored scores show",
        "weighted_average",
    ),
    "weights": _member(
        _mapping(_WEIGHT, _SIGNAL),
        "how much each signal counts; a signal without a weight counts nothing",
        dict(DEFAULT_WEIGHTS),
    ),
    "thresholds": _member(
        {**_mapping(FRACTION, word_of(Band)), RULE: _check_ascending},
        "the lowest score of each band; they ascend from low to critical",
        {band.value: bound for band, bound in DEFAULT_THRESHOLDS.items()},
    ),
    "review_rules": _member(_array(_REVIEW_RULE), "what the gate requires besides the bands"),
    "baselines": _member(
        _object(
            {
                "scope_files": _member(_BASELINE, "files touched in a session; by default 20"),
                "prompt_token_count": _member(_BASELINE, "tokens of a prompt; by default 2000"),
            }
        ),
        "the quantities that count as 1.0, for signals without an upper bound",
    ),
    "capability_tiers": _member(
        _mapping(word_of(Tier), {"minLength": 1, "maxLength": 100}),
        "model tiers by name pattern (R22)",
    ),
}
_REDACTION: Final = {
    "enabled": _member(
        {**_BOOLEAN, "const": True, RULE: _check_enabled},
        "always true: a project cannot turn masking off",
        default=True,
    ),
    "mask": _member(
        _array(_MASK_PATTERN, 100),
        "texts to mask; `*` matches any characters but white space",
    ),
    "allow": _member(
        _array({"type": "string", "minLength": 1, "maxLength": 2_000}, 1_000),
        "exact texts that look like secrets but are not; only matches inside them stay",
    ),
}
_BACKFILL: Final = {
    "when": _member(
        word_of(BackfillWhen),
        "`next-commit`: with the commit after; `landed`: once the default branch has the commit;"
        " `manual`: by `vibes backfill` only",
        BackfillWhen.NEXT_COMMIT.value,
    )
}
_MEMBERS: Final = {
    "standard": _member({**TEXT, "const": "VIBES"}, "always VIBES", "VIBES"),
    "standard_version": _member(
        TEXT, "the version of the standard that the trail is written to", "1.0"
    ),
    "assurance_level": _member(
        word_of(AssuranceLevel),
        "how much is recorded: `low` tool and model, `medium` also prompts and commands, `high`"
        " also reasoning and decisions",
        AssuranceLevel.MEDIUM.value,
    ),
    "project_name": _member(TEXT, "the name of the project in reports", ""),
    "tracked_extensions": _member(
        optional(TEXTS), 'endings of the files to record, such as ".py"; by default all'
    ),
    "exclude_patterns": _member(
        _array({"type": "string", "maxLength": MAX_PATTERN}),
        "files that are not recorded, as in .gitignore",
    ),
    "compress_reasoning_threshold_bytes": _member(
        _BYTES, "bytes of reasoning above which it is stored compressed", COMPRESS_THRESHOLD
    ),
    "external_blob_threshold_bytes": _member(
        _BYTES,
        "bytes of reasoning above which it is stored in a file of its own",
        BLOB_THRESHOLD,
    ),
    "durability": _member(
        {"type": "string", "enum": ["normal", "full"]},
        "`full` flushes every record to the disk at once, `normal` when idle, at a commit and at"
        " the end of a session; neither loses records when a program is killed",
        "normal",
    ),
    "redaction": _member(_object(_REDACTION), "which texts are masked before they are recorded"),
    "risk_scoring": _member(
        optional(_object(_RISK_SCORING)), "how PRISM computes risk; without it there are no risks"
    ),
    "backfill": _member(_object(_BACKFILL), "when commits are written into the log"),
}
REQUIRED_MEMBERS: Final = ("standard", "standard_version", "assurance_level", "project_name")
"""Members that RFC 8.1 requires; when absent they are reported and defaults apply."""
CONFIG_SCHEMA: Final[Schema] = {
    **_object(_MEMBERS),
    "description": "A project's policy for its audit trail.",
    "required": list(REQUIRED_MEMBERS),
}
"""Readers use defaults for what is missing; writers must say what is required."""


@cache
def _check() -> Check:
    return compile_schema(_object(_MEMBERS))


def validate_config(members: Members) -> tuple[Config, list[Problem]]:
    """Return the policy and the problems in it; invalid parts and nulls count as absent."""
    valid: Members = {
        name: value
        for name, value in members.items()
        if value is not None or name in REQUIRED_MEMBERS
    }
    absent = [
        Violation((name,), "is required", "missing")
        for name in REQUIRED_MEMBERS
        if name not in valid
    ]
    invalid_parts: list[Violation] = []
    while violations := _check()(valid):
        invalid_parts += violations
        reduced = _without(valid, [violation.path for violation in violations])
        valid = reduced if reduced != valid else {}
    return as_type(valid, Config), problems_of([*absent, *invalid_parts])


_DEPTHS: Final = {"tracked_extensions": 2, "exclude_patterns": 2, "redaction": 3, "risk_scoring": 3}
"""How deep the parts of a member lie of which only invalid ones are dropped."""


def _without(members: Members, invalid: Sequence[tuple[str | int, ...]]) -> Members:
    """Return members without invalid parts; most members are dropped whole."""
    parts = {path[: _DEPTHS.get(str(path[0]), 1)] for path in invalid if path}
    return {
        name: _left(value, (name,), parts)
        for name, value in members.items()
        if (name,) not in parts
    }


def _left(
    value: JsonValue, path: tuple[str | int, ...], invalid: Collection[tuple[str | int, ...]]
) -> JsonValue:
    """Return what is left of a value without its invalid parts, and of what that leaves empty."""
    if isinstance(value, list):
        return [item for number, item in enumerate(value) if (*path, number) not in invalid]
    if not isinstance(value, dict):
        return value
    left = {
        name: _left(member, (*path, name), invalid)
        for name, member in value.items()
        if (*path, name) not in invalid
    }
    return {name: member for name, member in left.items() if member or member == value[name]}
