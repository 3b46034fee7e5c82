"""The signals of PRISM (RFC 10.4.1): from what was measured to a value between 0 and 1, with the reason in words. One function for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.model.members import JsonValue
from vibes_lsp.model.vocabulary import Action, AssuranceLevel, Signal
from vibes_lsp.risk.measured import Measured
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.rules import Quantity
from vibes_lsp.risk.standing import Standing
from vibes_lsp.risk.tiers import TIER_VALUES, tier_of

_VALUE_DIGITS: Final = 6
"""Of a normalised value: few enough to be stored, so that anybody can compute a stored score again from its factors."""
_HIGHEST_TEMPERATURE: Final = 2.0

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


@dataclass(frozen=True, slots=True)
class Factor:
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


@dataclass(frozen=True, slots=True)
class _Assessment:
    quantity: Quantity
    value: float
    reason: str


def assess(measured: Measured, policy: Policy) -> tuple[Factor, ...]:
    """Return a factor for each signal that is available, in the order of the RFC, then what the recorder gave."""
    return tuple(
        Factor(signal, found.quantity, round(min(1.0, max(0.0, found.value)), _VALUE_DIGITS), policy.weights.get(signal, 0.0), found.reason)
        for signal, found in _assessments(measured, policy)
    )


def factors_as_recorded(factors: Sequence[Factor]) -> list[JsonValue]:
    """Return factors as records have them (RFC 10.4.4)."""
    return [{"signal": each.signal, "value": each.value, "weight": each.weight, "reason": each.reason} for each in factors]


def _assessments(measured: Measured, policy: Policy) -> Iterator[tuple[str, _Assessment]]:
    for signal, function in _SIGNALS.items():
        found = function(measured, policy)
        if found is not None:
            yield signal.value, found
    for given in measured.custom:
        yield given.signal, _Assessment(given.value, given.value, given.reason or "given without a reason")


def _temperature(measured: Measured, _: Policy) -> _Assessment | None:
    """min(temperature / 2.0, 1.0)."""
    temperature = measured.temperature
    if temperature is None or not 0 <= temperature < math.inf:
        return None
    return _Assessment(
        temperature, temperature / _HIGHEST_TEMPERATURE, f"temperature {temperature:g}, where {_HIGHEST_TEMPERATURE:g} counts as 1.0"
    )


def _action_type(measured: Measured, _: Policy) -> _Assessment | None:
    """What was done, by the RFC's reference values."""
    action = measured.action
    if action is None or action not in ACTION_VALUES:
        return None
    return _Assessment(action, ACTION_VALUES[action], f"the action is {action}")


def _scope_lines(measured: Measured, _: Policy) -> _Assessment | None:
    """The share of the file that it is about, at most 1.0."""
    lines, total = measured.lines, measured.total_lines
    if not lines or not total:
        return None
    share = min(1.0, lines / total)
    return _Assessment(lines, share, f"{lines:,} of {total:,} lines ({share:.0%})")


def _scope_files(measured: Measured, policy: Policy) -> _Assessment | None:
    """Files touched in the session, against a baseline."""
    files, baseline = measured.files, policy.baselines[Signal.SCOPE_FILES]
    if not files:
        return None
    words = "1 file" if files == 1 else f"{files:,} files"
    return _Assessment(files, files / baseline, f"{words} in its session, where {baseline:,g} count as 1.0")


def _assurance_gap(measured: Measured, _: Policy) -> _Assessment | None:
    """What was not captured."""
    level = measured.level
    if level is None or level not in GAP_VALUES:
        return None
    return _Assessment(GAP_VALUES[level], GAP_VALUES[level], f"recorded at {level} assurance")


def _human_review_present(measured: Measured, _: Policy) -> _Assessment | None:
    """0.0 where a person approved what stands there now, else 1.0 (R6)."""
    value = STANDING_VALUES[measured.standing]
    return _Assessment(value, value, _STANDING_REASONS[measured.standing])


def _prompt_token_count(measured: Measured, policy: Policy) -> _Assessment | None:
    """Tokens of the prompt, against a baseline; estimated unless the producer counted (R22)."""
    prompt, baseline = measured.prompt, policy.baselines[Signal.PROMPT_TOKEN_COUNT]
    if prompt is None or prompt.tokens < 0:
        return None
    counted = f"{prompt.tokens:,} tokens as counted by the tool"
    words = counted if prompt.bytes is None else f"about {prompt.tokens:,} tokens, estimated from {prompt.bytes:,} bytes"
    return _Assessment(prompt.tokens, prompt.tokens / baseline, f"{words}, where {baseline:,g} count as 1.0")


def _model_capability_tier(measured: Measured, policy: Policy) -> _Assessment | None:
    """The tier of the model, by table (R22)."""
    tier = None if measured.model is None else tier_of(measured.model, policy.tiers)
    if tier is None:
        return None
    return _Assessment(tier, TIER_VALUES[tier], f"{measured.model} counts as {tier}")


_SIGNALS: Final[Mapping[Signal, Callable[[Measured, Policy], _Assessment | None]]] = {
    Signal.TEMPERATURE: _temperature,
    Signal.ACTION_TYPE: _action_type,
    Signal.SCOPE_LINES: _scope_lines,
    Signal.SCOPE_FILES: _scope_files,
    Signal.ASSURANCE_GAP: _assurance_gap,
    Signal.HUMAN_REVIEW_PRESENT: _human_review_present,
    Signal.PROMPT_TOKEN_COUNT: _prompt_token_count,
    Signal.MODEL_CAPABILITY_TIER: _model_capability_tier,
}
