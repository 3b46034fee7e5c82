"""What becomes of one annotation: by its score, by the rules, by its reviewers. Pure."""

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
    """What is asked for, mildest first."""

    PASS = "pass"
    FLAG = RuleAction.FLAG.value
    REQUIRE_REVIEW = RuleAction.REQUIRE_REVIEW.value
    BLOCK = RuleAction.BLOCK.value


NEEDS_APPROVAL: Final = frozenset({GateDecision.REQUIRE_REVIEW, GateDecision.BLOCK})
"""What nothing but a person's approval lifts."""
_ASKED: Final = {action: GateDecision(action.value) for action in RuleAction}
_RANK: Final = {decision: rank for rank, decision in enumerate(GateDecision)}


@dataclass(frozen=True, slots=True)
class Threshold:
    """The score from which an annotation is blocked: a band's lower bound, or a number."""

    value: Band | float = Band.CRITICAL

    def bound(self, thresholds: Mapping[Band, float]) -> float:
        """Return the number that it means with the bounds of a policy."""
        return thresholds[self.value] if isinstance(self.value, Band) else self.value


def parse_threshold(text: str) -> Threshold:
    """Return what `--threshold` means.

    Raises:
        VibesError: It is neither a band nor a number from 0 to 1.
    """
    if text.lower() in set(Band):
        return Threshold(Band(text.lower()))
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise VibesError(
            f"--threshold {text[:40]!r} is no band",
            hint=f"give {', '.join(Band)} or a number from 0 to 1",
        )
    return Threshold(number)


def decide(
    score: float | None, policy: Policy, threshold: Threshold, matched: Sequence[Rule]
) -> GateDecision:
    """Return what is asked for: by the score, raised by the rules that hold.

    Args:
        score: From 0 to 1, not rounded; None where there is none.
        policy: Whose bands count.
        threshold: From where on an annotation is blocked.
        matched: The rules that hold for it.
    """
    decision = GateDecision.PASS
    if score is not None and score >= threshold.bound(policy.thresholds):
        decision = GateDecision.BLOCK
    elif score is not None and score >= policy.thresholds[Band.MEDIUM]:
        decision = GateDecision.FLAG
    for rule in matched:
        decision = max(decision, _ASKED[rule.action], key=_RANK.__getitem__)
    return decision


class RuleMatcher:
    """The rules of a policy, and which of them held: annotations are many, and few differ in what the rules ask for."""

    def __init__(self, policy: Policy) -> None:
        self._rules = policy.rules
        self._names = sorted(
            frozenset().union(*(signals_in(rule.expression) for rule in policy.rules))
        )
        self._held: dict[tuple[Quantity | None, ...], tuple[Rule, ...]] = {}

    def uses_signal(self, signal: str) -> bool:
        """Whether a rule asks for a signal."""
        return signal in self._names or f"{signal}.value" in self._names

    def matching(
        self, factors: Sequence[Factor], stored: Mapping[str, float] | None = None
    ) -> tuple[Rule, ...]:
        """Return the rules that hold for an annotation (R20).

        Args:
            factors: What is known of it now.
            stored: Normalised values that count instead, by signal: those that its record has.
        """
        known: dict[str, Quantity] = dict(rule_variables(factors))
        for signal, value in (stored or {}).items():
            known[f"{signal}.value"] = value
            known.setdefault(signal, value)
        asked = tuple(map(known.get, self._names))
        held = self._held.get(asked)
        if held is None:
            held = self._held[asked] = tuple(
                rule for rule in self._rules if evaluate_condition(rule.expression, known)
            )
        return held
