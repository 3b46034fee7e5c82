"""The signals of PRISM (RFC 10.4.1): from what was measured to a value between 0 and 1, with the reason in words. One function for each.

A trail has many annotations and few different values, so what each function made of the last few thousand is kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from vibes_lsp.model.members import JsonValue
from vibes_lsp.model.vocabulary import Action, AssuranceLevel, Signal
from vibes_lsp.risk.measured import Measured, PromptLength
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.rules import Quantity
from vibes_lsp.risk.standing import Standing
from vibes_lsp.risk.tiers import TIER_VALUES, tier_of

_VALUE_DIGITS: Final = 6
"""Of a normalised value: few enough to be stored, so that anybody can compute a stored score again from its factors."""
_HIGHEST_TEMPERATURE: Final = 2.0
_KEPT: Final = 4_096
(
    _TEMPERATURE,
    _ACTION_TYPE,
    _SCOPE_LINES,
    _SCOPE_FILES,
    _ASSURANCE_GAP,
    _HUMAN_REVIEW_PRESENT,
    _PROMPT_TOKEN_COUNT,
    _MODEL_CAPABILITY_TIER,
) = (signal.value for signal in Signal)

ACTION_VALUES: Final[Mapping[str, float]] = {Action.CREATE: 0.6, Action.MODIFY: 0.4, Action.DELETE: 0.8, Action.REVIEW: 0.1}
GAP_VALUES: Final[Mapping[str, float]] = {AssuranceLevel.LOW: 1.0, AssuranceLevel.MEDIUM: 0.5, AssuranceLevel.HIGH: 0.0}
STANDING_VALUES: Final[Mapping[Standing, float]] = {
    Standing.UNREVIEWED: 1.0,
    Standing.APPROVED: 0.0,
    Standing.UNKNOWN: 0.0,
    Standing.STALE: 1.0,
    Standing.REJECTED: 1.0,
    Standing.AI: 1.0,
}
_STANDING_REASONS: Final[Mapping[Standing, str]] = {
    Standing.UNREVIEWED: "no review edge found",
    Standing.APPROVED: "a person approved these lines as they are",
    Standing.UNKNOWN: "a review edge that does not say who reviewed which text",
    Standing.STALE: "reviewed, but the lines have changed since",
    Standing.REJECTED: "rejected in review",
    Standing.AI: "reviewed by an AI, by no person",
}


class Factor(msgspec.Struct, frozen=True, gc=False):
    """One signal of a score (RFC 10.4.4).

    Attributes:
        signal: Its name.
        quantity: What was measured, as rules compare it (R20).
        value: The same between 0 and 1.
        weight: How much it counts.
        reason: Where the value comes from, in words.
    """

    signal: str
    quantity: Quantity
    value: float
    weight: float
    reason: str


class _Assessment(msgspec.Struct, frozen=True, gc=False):
    """A signal before it is weighed."""

    quantity: Quantity
    value: float
    reason: str


def assess(measured: Measured, policy: Policy) -> tuple[Factor, ...]:
    """Return a factor for each signal that is available, in the order of the RFC, then what the recorder gave."""
    weights = policy.weights
    return tuple(
        [
            Factor(signal, found.quantity, found.value, weights.get(signal, 0.0), found.reason)
            for signal, found in _assessments(measured, policy)
            if found is not None
        ]
    )


def factors_as_recorded(factors: Sequence[Factor]) -> list[JsonValue]:
    """Return factors as records have them (RFC 10.4.4)."""
    return [{"signal": each.signal, "value": each.value, "weight": each.weight, "reason": each.reason} for each in factors]


def _assessments(measured: Measured, policy: Policy) -> list[tuple[str, _Assessment | None]]:
    baselines = policy.baselines
    found = [
        (_TEMPERATURE, _temperature(measured.temperature)),
        (_ACTION_TYPE, _action_type(measured.action)),
        (_SCOPE_LINES, _scope_lines(measured.lines, measured.total_lines)),
        (_SCOPE_FILES, _scope_files(measured.files, baselines[_SCOPE_FILES])),
        (_ASSURANCE_GAP, _assurance_gap(measured.level)),
        (_HUMAN_REVIEW_PRESENT, _human_review_present(measured.standing)),
        (_PROMPT_TOKEN_COUNT, _prompt_token_count(measured.prompt, baselines[_PROMPT_TOKEN_COUNT])),
        (
            _MODEL_CAPABILITY_TIER,
            None if measured.model is None else _model_capability_tier(measured.model, tier_of(measured.model, policy.tiers)),
        ),
    ]
    found += [(each.signal, _assessed(each.value, each.value, each.reason or "given without a reason")) for each in measured.custom]
    return found


def _assessed(quantity: Quantity, value: float, reason: str) -> _Assessment:
    return _Assessment(quantity, round(min(1.0, max(0.0, value)), _VALUE_DIGITS), reason)


@lru_cache(maxsize=_KEPT)
def _temperature(temperature: float | None) -> _Assessment | None:
    """min(temperature / 2.0, 1.0)."""
    if temperature is None or not 0 <= temperature < math.inf:
        return None
    words = f"temperature {temperature:g}, where {_HIGHEST_TEMPERATURE:g} counts as 1.0"
    return _assessed(temperature, temperature / _HIGHEST_TEMPERATURE, words)


@lru_cache(maxsize=_KEPT)
def _action_type(action: str | None) -> _Assessment | None:
    """What was done, by the RFC's reference values."""
    if action is None or action not in ACTION_VALUES:
        return None
    return _assessed(action, ACTION_VALUES[action], f"the action is {action}")


@lru_cache(maxsize=_KEPT)
def _scope_lines(lines: int | None, total: int | None) -> _Assessment | None:
    """The share of the file that it is about, at most 1.0."""
    if not lines or not total:
        return None
    share = min(1.0, lines / total)
    return _assessed(lines, share, f"{lines:,} of {total:,} lines ({share:.0%})")


@lru_cache(maxsize=_KEPT)
def _scope_files(files: int | None, baseline: float) -> _Assessment | None:
    """Files touched in the session, against a baseline."""
    if not files:
        return None
    words = "1 file" if files == 1 else f"{files:,} files"
    return _assessed(files, files / baseline, f"{words} in its session, where {baseline:,g} count as 1.0")


@lru_cache(maxsize=_KEPT)
def _assurance_gap(level: str | None) -> _Assessment | None:
    """What was not captured."""
    if level is None or level not in GAP_VALUES:
        return None
    return _assessed(GAP_VALUES[level], GAP_VALUES[level], f"recorded at {level} assurance")


@lru_cache(maxsize=_KEPT)
def _human_review_present(standing: Standing) -> _Assessment | None:
    """0.0 where a person approved what stands there now, else 1.0 (R6)."""
    value = STANDING_VALUES[standing]
    return _assessed(value, value, _STANDING_REASONS[standing])


@lru_cache(maxsize=_KEPT)
def _prompt_token_count(prompt: PromptLength | None, baseline: float) -> _Assessment | None:
    """Tokens of the prompt, against a baseline; estimated unless the producer counted (R22)."""
    if prompt is None or prompt.tokens < 0:
        return None
    counted = f"{prompt.tokens:,} tokens as counted by the tool"
    words = counted if prompt.bytes is None else f"about {prompt.tokens:,} tokens, estimated from {prompt.bytes:,} bytes"
    return _assessed(prompt.tokens, prompt.tokens / baseline, f"{words}, where {baseline:,g} count as 1.0")


@lru_cache(maxsize=_KEPT)
def _model_capability_tier(model: str, tier: str | None) -> _Assessment | None:
    """The tier of the model, by table (R22)."""
    return None if tier is None else _assessed(tier, TIER_VALUES[tier], f"{model} counts as {tier}")
