"""A project's risk policy (RFC 10.4.6), with the RFC's values for members that are not set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from vibes_lsp.errors import BrokenRule
from vibes_lsp.model.config import Config
from vibes_lsp.model.defaults import BASELINES, DEFAULT_THRESHOLDS, DEFAULT_WEIGHTS
from vibes_lsp.model.members import Members, mapping
from vibes_lsp.model.vocabulary import AssuranceLevel, Band, RuleAction
from vibes_lsp.risk.rules import Expression, parse_condition

WEIGHTED_AVERAGE: Final = "weighted_average"
"""The reference algorithm (RFC 10.4.2), and the only one implemented."""
MAX_RULES: Final = 100
"""Maximum number of rules, because each one slows down every request."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A review rule.

    Attributes:
        condition: As written in the policy.
        action: The action required where the condition is true.
        expression: The parsed condition.
    """

    condition: str
    action: RuleAction
    expression: Expression


@dataclass(frozen=True, slots=True)
class Policy:
    """How risk is scored and which reviews it requires.

    Attributes:
        enabled: Whether PRISM is on (R27).
        algorithm: The scoring function's name.
        weights: Weights by signal; 0 for signals not named.
        thresholds: Lower bounds of the bands.
        baselines: What counts as 1.0, for signals without an upper end.
        tiers: Model tiers by name pattern; they precede the built-in table.
        rules: Review rules, in addition to the bands.
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
    def computes_scores(self) -> bool:
        """Whether scores are computed: PRISM is on, and the algorithm is implemented (R27)."""
        return self.enabled and self.algorithm == WEIGHTED_AVERAGE

    @property
    def preview(self) -> Policy:
        """A copy with PRISM on and without rules, as `vibes.risk.preview` shows it."""
        return self if self.enabled else replace(self, enabled=True, rules=())


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """A part of the policy that cannot be used.

    Attributes:
        field: The configuration's member.
        message: What is wrong with it.
        offset: The character of the member's text where it goes wrong.
        is_known: False if the standard allows the value, but it is not implemented here.
    """

    field: str
    message: str
    offset: int | None = None
    is_known: bool = True


def read_policy(config: Config, members: Members) -> tuple[Policy, list[PolicyProblem]]:
    """Return the policy of a configuration and its problems; unparsable rules are left out.

    Args:
        config: The configuration, already validated.
        members: The file's content, in which rules are numbered.
    """
    scoring = config.risk_scoring
    level = config.assurance_level.value
    if scoring is None:
        return Policy(level=level), []
    rules, problems = _rules(mapping(members, "risk_scoring"))
    if scoring.algorithm != WEIGHTED_AVERAGE:
        message = (
            f"unknown algorithm {scoring.algorithm[:60]!r}: expected {WEIGHTED_AVERAGE!r};"
            " stored scores are shown, none are computed"
        )
        problems.insert(0, PolicyProblem("risk_scoring.algorithm", message, is_known=False))
    policy = Policy(
        scoring.enabled,
        scoring.algorithm,
        {**DEFAULT_WEIGHTS, **scoring.weights},
        {band: scoring.thresholds.get(band, bound) for band, bound in DEFAULT_THRESHOLDS.items()},
        {name: scoring.baselines.get(name) or default for name, default in BASELINES.items()},
        scoring.capability_tiers,
        tuple(rules),
        level,
    )
    return policy, problems


def _rules(scoring: Members) -> tuple[list[Rule], list[PolicyProblem]]:
    """Return the usable rules and their problems; other checks report malformed rules."""
    rules_member = scoring.get("review_rules")
    rules: list[Rule] = []
    problems: list[PolicyProblem] = []
    listed = rules_member if isinstance(rules_member, list) else []
    for number, rule in enumerate(listed[:MAX_RULES]):
        condition, action = (
            (rule.get("condition"), rule.get("action")) if isinstance(rule, dict) else (None, None)
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
