"""Decide whether one annotation passes: by its risk score and the review rules. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from vibes_lsp.errors import VibesError
from vibes_lsp.model.vocabulary import Band, RuleAction
from vibes_lsp.risk.policy import Policy, Rule
from vibes_lsp.risk.rules import Quantity, evaluate_condition, signals_in
from vibes_lsp.risk.scoring import rule_variables
from vibes_lsp.risk.signals import Factor


class GateDecision(StrEnum):
    """The decision about one annotation, from the mildest to the strictest."""

    PASS = "pass"
    FLAG = RuleAction.FLAG.value
    REQUIRE_REVIEW = RuleAction.REQUIRE_REVIEW.value
    BLOCK = RuleAction.BLOCK.value


NEEDS_APPROVAL: Final = frozenset({GateDecision.REQUIRE_REVIEW, GateDecision.BLOCK})
"""The decisions that fail the gate without a person's approval."""
_BY_ACTION: Final = {action: GateDecision(action.value) for action in RuleAction}
_RANK: Final = {decision: rank for rank, decision in enumerate(GateDecision)}


@dataclass(frozen=True, slots=True)
class Threshold:
    """The lowest score that is blocked: the lower bound of a band, or a number."""

    value: Band | float = Band.CRITICAL

    def bound(self, thresholds: Mapping[Band, float]) -> float:
        """Return the score of the threshold under the band bounds of a policy."""
        return thresholds[self.value] if isinstance(self.value, Band) else self.value


def parse_threshold(text: str) -> Threshold:
    """Parse the value of `--threshold`.

    Raises:
        VibesError: It is neither a risk band nor a number from 0 to 1.
    """
    if text.lower() in set(Band):
        return Threshold(Band(text.lower()))
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise VibesError(
            f"invalid threshold {text[:40]!r}: expected {', '.join(Band)} or a number from 0 to 1",
        )
    return Threshold(number)


def decide(
    score: float | None, policy: Policy, threshold: Threshold, matched: Sequence[Rule]
) -> GateDecision:
    """Return the decision by the score, raised by the strictest matching rule.

    Args:
        score: From 0 to 1, not rounded; None if the annotation has none.
        policy: The policy that defines the bands.
        threshold: The lowest score that is blocked.
        matched: The rules whose condition is true.
    """
    decision = GateDecision.PASS
    if score is not None and score >= threshold.bound(policy.thresholds):
        decision = GateDecision.BLOCK
    elif score is not None and score >= policy.thresholds[Band.MEDIUM]:
        decision = GateDecision.FLAG
    for rule in matched:
        decision = max(decision, _BY_ACTION[rule.action], key=_RANK.__getitem__)
    return decision


class RuleMatcher:
    """Evaluates the review rules of a policy."""

    def __init__(self, policy: Policy) -> None:
        self._rules = policy.rules
        self._names = frozenset().union(*(signals_in(rule.expression) for rule in policy.rules))

    def uses_signal(self, signal: str) -> bool:
        """Whether a rule uses a signal."""
        return signal in self._names or f"{signal}.value" in self._names

    def matching(
        self, factors: Sequence[Factor], stored: Mapping[str, float] | None = None
    ) -> tuple[Rule, ...]:
        """Return the rules whose condition is true for an annotation (R20).

        Args:
            factors: The factors of its live score.
            stored: Normalised values of its record by signal, which replace the live ones.
        """
        known: dict[str, Quantity] = dict(rule_variables(factors))
        for signal, value in (stored or {}).items():
            known[f"{signal}.value"] = value
            known.setdefault(signal, value)
        return tuple(rule for rule in self._rules if evaluate_condition(rule.expression, known))
