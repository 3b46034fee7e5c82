"""What a project decided about risk (RFC 10.4.6): weights, bounds, baselines, tiers and rules, with the reference's where it is silent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from vibes_lsp.errors import BrokenRule
from vibes_lsp.model.defaults import BASELINES, DEFAULT_THRESHOLDS, DEFAULT_WEIGHTS
from vibes_lsp.model.members import Members, mapping
from vibes_lsp.model.vocabulary import AssuranceLevel, Band, RuleAction
from vibes_lsp.risk.rules import Expression, parse_condition

if TYPE_CHECKING:
    from vibes_lsp.model.config import Config

WEIGHTED_AVERAGE: Final = "weighted_average"
"""The reference algorithm (RFC 10.4.2), and the only one that we know."""
MAX_RULES: Final = 100
"""Rules that are read; more would be a way to make every answer slow."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition, and what it asks for.

    Attributes:
        condition: As the policy has it.
        action: What is asked for where it holds.
        expression: The condition, parsed.
    """

    condition: str
    action: RuleAction
    expression: Expression


@dataclass(frozen=True, slots=True)
class Policy:
    """How risk is scored and judged.

    Attributes:
        enabled: Whether PRISM is on (R27).
        algorithm: The name of the scoring function.
        weights: Of each signal; one that is not named weighs nothing.
        thresholds: Lower bounds of the bands.
        baselines: What counts as 1.0, of the signals that have no upper end.
        tiers: Of models, by patterns of their names; before those of the packaged table.
        rules: What is asked for beside the bands.
        level: The project's assurance level.
    """

    enabled: bool = False
    algorithm: str = WEIGHTED_AVERAGE
    weights: Mapping[str, float] = field(default_factory=lambda: DEFAULT_WEIGHTS)
    thresholds: Mapping[Band, float] = field(default_factory=lambda: DEFAULT_THRESHOLDS)
    baselines: Mapping[str, float] = field(default_factory=lambda: BASELINES)
    tiers: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    level: str = AssuranceLevel.MEDIUM

    @property
    def scores(self) -> bool:
        """Whether there are live scores: PRISM is on, and the algorithm is one that we know (R27)."""
        return self.enabled and self.algorithm == WEIGHTED_AVERAGE

    @property
    def preview(self) -> Policy:
        """The same with PRISM on, and without its rules: what `vibes.risk.preview` shows."""
        return self if self.enabled else replace(self, enabled=True, rules=())


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """Something in the policy that cannot be used.

    Attributes:
        field: The member of the configuration.
        message: What is wrong with it.
        offset: The character of the member's text at which it goes wrong.
        is_known: Whether the standard allows it, and it is only that we do not know it.
    """

    field: str
    message: str
    offset: int | None = None
    is_known: bool = True


def read_policy(config: Config, members: Members) -> tuple[Policy, list[PolicyProblem]]:
    """Return the policy of a configuration, and what is wrong with its meaning; a rule that cannot be parsed is left out.

    Args:
        config: The configuration, its form checked.
        members: What the file says: rules are numbered as there.
    """
    scoring = config.risk_scoring
    level = config.assurance_level.value
    if scoring is None:
        return Policy(level=level), []
    rules, problems = _rules(mapping(members, "risk_scoring"))
    if scoring.algorithm != WEIGHTED_AVERAGE:
        message = f"{scoring.algorithm[:60]!r} is not known here: stored scores are shown, and none is computed; known is {WEIGHTED_AVERAGE!r}"
        problems.insert(0, PolicyProblem("risk_scoring.algorithm", message, is_known=False))
    policy = Policy(
        scoring.enabled,
        scoring.algorithm,
        {**DEFAULT_WEIGHTS, **scoring.weights},
        {**DEFAULT_THRESHOLDS, **scoring.thresholds},
        {**BASELINES, **scoring.baselines.model_dump(exclude_none=True)},
        {pattern: tier.value for pattern, tier in scoring.capability_tiers.items()},
        tuple(rules),
        level,
    )
    return policy, problems


def _rules(scoring: Members) -> tuple[list[Rule], list[PolicyProblem]]:
    """Return the rules that can be used; what is wrong with their form was said before."""
    given = scoring.get("review_rules")
    rules: list[Rule] = []
    problems: list[PolicyProblem] = []
    listed = given if isinstance(given, list) else []
    for number, each in enumerate(listed[:MAX_RULES]):
        condition, action = (
            (each.get("condition"), each.get("action")) if isinstance(each, dict) else (None, None)
        )
        if not isinstance(condition, str) or not condition:
            continue
        try:
            expression = parse_condition(condition)
        except BrokenRule as error:
            problems.append(
                PolicyProblem(
                    f"risk_scoring.review_rules.{number}.condition", error.message, error.offset
                )
            )
            continue
        if isinstance(action, str) and action in set(RuleAction):
            rules.append(Rule(condition, RuleAction(action), expression))
    if len(listed) > MAX_RULES:
        problems.append(
            PolicyProblem(
                f"risk_scoring.review_rules.{MAX_RULES}",
                f"only the first {MAX_RULES} rules are used",
            )
        )
    return rules, problems
