"""The signals of PRISM (RFC 10.4.1): from a measurement to a value from 0 to 1, with a reason.

The table of model tiers is coarse on purpose: it reflects how a family of models is marketed, not
how well a model does a task.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, TypeAlias

import msgspec

from vibes_lsp.model.members import JsonValue
from vibes_lsp.model.vocabulary import Action, AssuranceLevel, Signal, Tier
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.review_status import ReviewStatus
from vibes_lsp.risk.rules import Quantity


class PromptLength(msgspec.Struct, frozen=True, gc=False):
    """The length of a prompt.

    Attributes:
        tokens: Number of tokens.
        bytes: The bytes they were estimated from; None if the tool counted them (R22).
    """

    tokens: int
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class CustomSignal:
    """A recording tool's signal (RFC 10.4.1): a name with a namespace, a value from 0 to 1."""

    signal: str
    value: float
    reason: str | None = None


class Measurements(msgspec.Struct, frozen=True, gc=False):
    """What the signals are computed from; the signal of an unknown measurement (None) is left out.

    Attributes:
        temperature: The model's parameter.
        action: What the AI did; for a remapped record the action of the original one (R27).
        lines: Number of annotated lines.
        total_lines: Number of lines of the file.
        files: Number of files that the session touched.
        level: The assurance level of the record.
        review_status: The result of its reviews.
        prompt: The length of its prompt.
        model: The model's name.
        custom: Signals from the recording tool.
    """

    temperature: float | None = None
    action: str | None = None
    lines: int | None = None
    total_lines: int | None = None
    files: int | None = None
    level: str | None = None
    review_status: ReviewStatus = ReviewStatus.UNREVIEWED
    prompt: PromptLength | None = None
    model: str | None = None
    custom: tuple[CustomSignal, ...] = ()


_BYTES_PER_TOKEN = 4
"""A rule of thumb for English and source code; other scripts need more bytes and more tokens."""


def estimated_length(prompt: str) -> PromptLength:
    """Estimate the length of a prompt from its bytes (R22)."""
    size = len(prompt.encode("utf-8", "surrogatepass"))
    return PromptLength(-(-size // _BYTES_PER_TOKEN), size)


_VALUE_DIGITS: Final = 6
"""Digits of a value: few enough to store, so that a stored score can be recomputed."""
_HIGHEST_TEMPERATURE: Final = 2.0

_Normalized: TypeAlias = tuple[Quantity, float, str]
"""The quantity of a signal, its value from 0 to 1 and the reason."""

ACTION_VALUES: Final[Mapping[str, float]] = {
    Action.CREATE: 0.6,
    Action.MODIFY: 0.4,
    Action.DELETE: 0.8,
    Action.REVIEW: 0.1,
}
_ACTION_REASONS: Final[Mapping[str, str]] = {
    Action.CREATE: "newly written code",
    Action.MODIFY: "a change of existing code",
    Action.DELETE: "deleted code",
    Action.REVIEW: "a review, no change",
}
GAP_VALUES: Final[Mapping[str, float]] = {
    AssuranceLevel.LOW: 1.0,
    AssuranceLevel.MEDIUM: 0.5,
    AssuranceLevel.HIGH: 0.0,
}
REVIEW_STATUS_VALUES: Final[Mapping[ReviewStatus, float]] = {
    ReviewStatus.UNREVIEWED: 1.0,
    ReviewStatus.APPROVED: 0.0,
    ReviewStatus.UNKNOWN: 0.0,
    ReviewStatus.STALE: 1.0,
    ReviewStatus.REJECTED: 1.0,
    ReviewStatus.AI: 1.0,
}
_REVIEW_STATUS_REASONS: Final[Mapping[ReviewStatus, str]] = {
    ReviewStatus.UNREVIEWED: "no review that counts",
    ReviewStatus.APPROVED: "a person approved these lines as they are",
    ReviewStatus.UNKNOWN: "a review edge without reviewer or reviewed text",
    ReviewStatus.STALE: "reviewed, but the lines have changed since",
    ReviewStatus.REJECTED: "rejected in review",
    ReviewStatus.AI: "reviewed by an AI only",
}


class Factor(msgspec.Struct, frozen=True, gc=False):
    """One signal of a score (RFC 10.4.4).

    Attributes:
        signal: Its name.
        quantity: The measured value, which rules compare (R20).
        value: The normalized value, from 0 to 1.
        weight: Its weight.
        reason: Where the value comes from.
    """

    signal: str
    quantity: Quantity
    value: float
    weight: float
    reason: str


def compute_factors(measured: Measurements, policy: Policy) -> tuple[Factor, ...]:
    """Return a factor for each available signal, in the RFC's order, then the custom signals."""
    baselines = policy.baselines
    normalized: list[tuple[str, _Normalized | None]] = [
        (Signal.TEMPERATURE, _temperature(measured.temperature)),
        (Signal.ACTION_TYPE, _action_type(measured.action)),
        (Signal.SCOPE_LINES, _scope_lines(measured.lines, measured.total_lines)),
        (Signal.SCOPE_FILES, _scope_files(measured.files, baselines[Signal.SCOPE_FILES])),
        (Signal.ASSURANCE_GAP, _assurance_gap(measured.level)),
        (Signal.HUMAN_REVIEW_PRESENT, _human_review_present(measured.review_status)),
        (
            Signal.PROMPT_TOKEN_COUNT,
            _prompt_token_count(measured.prompt, baselines[Signal.PROMPT_TOKEN_COUNT]),
        ),
        (Signal.MODEL_CAPABILITY_TIER, _model_capability_tier(measured.model, policy.tiers)),
    ]
    for custom in measured.custom:
        reason = custom.reason or "no reason given"
        normalized.append((custom.signal, (custom.value, custom.value, reason)))
    return tuple(
        Factor(str(signal), quantity, _rounded(value), policy.weights.get(signal, 0.0), reason)
        for signal, known in normalized
        if known is not None
        for quantity, value, reason in [known]
    )


def factors_as_recorded(factors: Sequence[Factor]) -> list[JsonValue]:
    """Return factors as records store them (RFC 10.4.4)."""
    return [
        {
            "signal": factor.signal,
            "value": factor.value,
            "weight": factor.weight,
            "reason": factor.reason,
        }
        for factor in factors
    ]


def _rounded(value: float) -> float:
    return round(min(1.0, max(0.0, value)), _VALUE_DIGITS)


def _temperature(temperature: float | None) -> _Normalized | None:
    """min(temperature / 2.0, 1.0)."""
    if temperature is None or not 0 <= temperature < math.inf:
        return None
    reason = f"temperature {temperature:g}, where {_HIGHEST_TEMPERATURE:g} counts as 1.0"
    return temperature, temperature / _HIGHEST_TEMPERATURE, reason


def _action_type(action: str | None) -> _Normalized | None:
    """The RFC's reference value of the action."""
    if action is None or action not in ACTION_VALUES:
        return None
    return action, ACTION_VALUES[action], _ACTION_REASONS[action]


def _scope_lines(lines: int | None, total: int | None) -> _Normalized | None:
    """The annotated share of the file, at most 1.0."""
    if not lines or not total:
        return None
    share = min(1.0, lines / total)
    return lines, share, f"{lines:,} of {total:,} lines ({share:.0%})"


def _scope_files(files: int | None, baseline: float) -> _Normalized | None:
    """Files touched in the session, relative to a baseline."""
    if not files:
        return None
    words = "1 file" if files == 1 else f"{files:,} files"
    return files, files / baseline, f"{words} in its session, where {baseline:,g} count as 1.0"


def _assurance_gap(level: str | None) -> _Normalized | None:
    """How much was not captured."""
    if level is None or level not in GAP_VALUES:
        return None
    return GAP_VALUES[level], GAP_VALUES[level], f"recorded at {level} assurance"


def _human_review_present(review_status: ReviewStatus) -> _Normalized:
    """0.0 if a person approved the current lines, else 1.0 (R6)."""
    value = REVIEW_STATUS_VALUES[review_status]
    return value, value, _REVIEW_STATUS_REASONS[review_status]


def _prompt_token_count(prompt: PromptLength | None, baseline: float) -> _Normalized | None:
    """Tokens of the prompt relative to a baseline; estimated unless counted by the tool (R22)."""
    if prompt is None or prompt.tokens < 0:
        return None
    words = (
        f"{prompt.tokens:,} tokens as counted by the tool"
        if prompt.bytes is None
        else f"about {prompt.tokens:,} tokens, estimated from {prompt.bytes:,} bytes"
    )
    reason = f"{words}, where {baseline:,g} count as 1.0"
    return prompt.tokens, prompt.tokens / baseline, reason


def _model_capability_tier(model: str | None, tiers: Mapping[str, str]) -> _Normalized | None:
    """The tier of the model, by table (R22)."""
    tier = None if model is None else tier_of(model, tiers)
    return None if tier is None else (tier, TIER_VALUES[tier], f"{model} counts as {tier}")


TIER_VALUES: Final[Mapping[str, float]] = {
    Tier.FRONTIER: 0.2,
    Tier.GENERAL: 0.5,
    Tier.SMALL: 0.8,
    Tier.LEGACY: 1.0,
}
"""The value of each tier: smaller and older models are a higher risk."""

MODEL_TIERS: Final[Mapping[str, str]] = {
    "claude-*": Tier.GENERAL,
    "claude-opus-*": Tier.FRONTIER,
    "claude-sonnet-*": Tier.FRONTIER,
    "claude-haiku-*": Tier.SMALL,
    "claude-1*": Tier.LEGACY,
    "claude-2*": Tier.LEGACY,
    "claude-3-*": Tier.GENERAL,
    "claude-3-haiku*": Tier.SMALL,
    "claude-3-5-haiku*": Tier.SMALL,
    "claude-3.5-haiku*": Tier.SMALL,
    "claude-instant*": Tier.LEGACY,
    "gpt-5*": Tier.FRONTIER,
    "gpt-5*-mini*": Tier.SMALL,
    "gpt-5*-nano*": Tier.SMALL,
    "gpt-4*": Tier.GENERAL,
    "gpt-4*-mini*": Tier.SMALL,
    "gpt-4*-nano*": Tier.SMALL,
    "gpt-3*": Tier.LEGACY,
    "o1*": Tier.GENERAL,
    "o3*": Tier.FRONTIER,
    "o?-mini*": Tier.SMALL,
    "o4*": Tier.FRONTIER,
    "codex-*": Tier.GENERAL,
    "gemini-*": Tier.GENERAL,
    "gemini-*-pro*": Tier.FRONTIER,
    "gemini-*-flash-lite*": Tier.SMALL,
    "gemini-1.?-*": Tier.LEGACY,
    "gemini-1.?-pro*": Tier.LEGACY,
    "gemini-1.?-flash*": Tier.LEGACY,
    "grok-*": Tier.GENERAL,
    "grok-4*": Tier.FRONTIER,
    "grok-*-mini*": Tier.SMALL,
    "deepseek-*": Tier.GENERAL,
    "qwen*": Tier.GENERAL,
    "qwen*-?b*": Tier.SMALL,
    "kimi-*": Tier.GENERAL,
    "glm-*": Tier.GENERAL,
    "mistral-*": Tier.GENERAL,
    "mistral-7b*": Tier.SMALL,
    "mistral-small*": Tier.SMALL,
    "ministral-*": Tier.SMALL,
    "codestral*": Tier.GENERAL,
    "devstral*": Tier.SMALL,
    "llama-*": Tier.GENERAL,
    "llama-*-8b*": Tier.SMALL,
    "llama-2*": Tier.LEGACY,
    "codellama*": Tier.LEGACY,
    "gemma*": Tier.SMALL,
    "phi-*": Tier.SMALL,
    "starcoder*": Tier.LEGACY,
}
"""Built-in tiers by name pattern, with the wildcards `*` and `?`."""

_SEPARATORS: Final = re.compile(r"[\s_]+")
_MAX_NAME: Final = 200


def tier_of(model: str, overrides: Mapping[str, str] = {}) -> str | None:
    """Return the tier of a model; None if no pattern matches.

    Names are compared in lower case, with hyphens for blanks, and without the provider before the
    last slash. The longest matching pattern wins; the policy's patterns precede the built-in ones.

    Args:
        model: The model's name, as in its environment entry.
        overrides: The policy's tiers by pattern.
    """
    return _tier(model[:_MAX_NAME], tuple(overrides.items()))


@lru_cache(maxsize=256)  # a trail has many annotations and few models
def _tier(model: str, overrides: tuple[tuple[str, str], ...]) -> str | None:
    name = _normalize(model).rpartition("/")[2]
    for table in (dict(overrides), MODEL_TIERS):
        matching = [pattern for pattern in table if fnmatchcase(name, _normalize(pattern))]
        if matching:
            return table[max(matching, key=lambda pattern: (len(pattern), pattern))]
    return None


def _normalize(name: str) -> str:
    return _SEPARATORS.sub("-", name.strip().lower())
