"""Risk of any measurements: bounds, scaling of weights, and the effect of reviews."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.errors import BrokenRule
from vibes_lsp.model.vocabulary import Action, AssuranceLevel, Band, ReviewerKind, Signal, Verdict
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.review_status import ReviewAnswer, review_status
from vibes_lsp.risk.rules import evaluate_condition, parse_condition
from vibes_lsp.risk.scoring import (
    band_of,
    compute_score,
    format_score,
    rule_variables,
    weighted_average,
)
from vibes_lsp.risk.signals import (
    REVIEW_STATUS_VALUES,
    CustomSignal,
    Measurements,
    PromptLength,
    compute_factors,
)

FRACTIONS = st.floats(0, 1)
ANSWERS = st.builds(
    ReviewAnswer,
    st.sampled_from(ReviewerKind),
    st.none() | st.sampled_from(Verdict),
    st.none() | st.booleans(),
)
MEASURED = st.builds(
    Measurements,
    temperature=st.none() | st.floats(),
    action=st.none() | st.sampled_from(Action) | st.text(max_size=5),
    lines=st.none() | st.integers(),
    total_lines=st.none() | st.integers(0),
    files=st.none() | st.integers(0),
    level=st.none() | st.sampled_from(AssuranceLevel),
    review_status=st.lists(ANSWERS, max_size=4).map(review_status),
    prompt=st.none()
    | st.builds(PromptLength, st.integers(-5, 1 << 70), st.none() | st.integers(0)),
    model=st.none() | st.sampled_from(["claude-opus-4-5", "gpt-4o-mini", "own", ""]),
    custom=st.lists(
        st.builds(CustomSignal, st.sampled_from(["org:a", "org:b"]), FRACTIONS),
        max_size=2,
        unique_by=lambda each: each.signal,
    ).map(tuple),
)
WEIGHTS = st.dictionaries(
    st.sampled_from([*Signal, "org:a", "org:b"]), st.floats(0, 1e6), min_size=1
)
POLICIES = st.builds(Policy, weights=WEIGHTS, tiers=st.just({"own": "small"}))


@given(MEASURED, POLICIES)
def test_a_score_lies_between_0_and_1_and_so_does_every_factor(
    measured: Measurements, policy: Policy
) -> None:
    score = compute_score(measured, policy)
    factors = compute_factors(measured, policy)
    assert (score is None) == (not any(factor.weight for factor in factors))
    assert all(0 <= factor.value <= 1 and factor.reason for factor in factors)
    if score is not None:
        assert 0 <= score.value <= 1
        assert (
            min(factor.value for factor in factors) - 1e-12
            <= score.value
            <= max(factor.value for factor in factors) + 1e-12
        )


@given(MEASURED, POLICIES, st.floats(1e-6, 1e6))
def test_the_scale_of_the_weights_does_not_matter(
    measured: Measurements, policy: Policy, scale: float
) -> None:
    scaled = Policy(
        weights={name: weight * scale for name, weight in policy.weights.items()},
        tiers=policy.tiers,
    )
    one, other = compute_score(measured, policy), compute_score(measured, scaled)
    if one is not None and other is not None:  # a weight may vanish when it is scaled down
        assert math.isclose(one.value, other.value, abs_tol=1e-9)


@given(st.lists(st.tuples(st.floats(0.01, 100), FRACTIONS), min_size=2))
def test_a_missing_signal_only_changes_the_normalisation(
    pairs: list[tuple[float, float]],
) -> None:
    whole, rest = weighted_average(pairs), weighted_average(pairs[1:])
    assert whole is not None
    assert rest is not None
    total = sum(weight for weight, _ in pairs)
    assert math.isclose(
        whole * total,
        rest * (total - pairs[0][0]) + pairs[0][0] * pairs[0][1],
        rel_tol=1e-6,
        abs_tol=1e-6,
    )


@given(
    st.lists(ANSWERS, max_size=5),
    st.integers(0, 5),
    st.sampled_from(ReviewerKind),
    st.none() | st.booleans(),
)
def test_an_approval_never_raises_and_a_rejection_never_lowers(
    answers: list[ReviewAnswer], place: int, kind: ReviewerKind, holds: bool | None
) -> None:
    def value(verdict: Verdict | None = None) -> float:
        added = [] if verdict is None else [ReviewAnswer(kind, verdict, holds)]
        status = review_status([*answers[:place], *added, *answers[place:]])
        score = compute_score(Measurements(action="create", review_status=status), Policy())
        assert score is not None
        return score.value

    assert value(Verdict.APPROVED) <= value() <= value(Verdict.REJECTED)


@given(st.lists(ANSWERS, max_size=5))
def test_an_ai_review_changes_nothing(answers: list[ReviewAnswer]) -> None:
    by_people = [each for each in answers if each.kind != ReviewerKind.AI]
    assert (
        REVIEW_STATUS_VALUES[review_status(answers)]
        == REVIEW_STATUS_VALUES[review_status(by_people)]
    )


@given(
    st.text(
        alphabet=st.sampled_from("()<>=!'\", .:-_andorti1e9emprulcopsnx&$\\\n\x00é"), max_size=60
    )
)
def test_a_condition_parses_or_has_an_error_with_an_offset(condition: str) -> None:
    try:
        expression = parse_condition(condition)
    except BrokenRule as error:
        assert 0 <= error.offset <= len(condition)  # noqa: PT017  # either way is right
    else:
        assert evaluate_condition(expression, {}) in {True, False}


CONDITIONS = st.recursive(
    st.builds(
        lambda name, sign, number: f"{name} {sign} {number}",
        st.sampled_from(["scope_lines", "temperature.value"]),
        st.sampled_from(["<", ">=", "=="]),
        st.integers(0, 3),
    )
    | st.sampled_from(["action_type == 'create'", "action_type IN ('modify', 'delete')"]),
    lambda inner: st.builds(
        lambda one, word, other: f"({one} {word} {other})",
        inner,
        st.sampled_from(["AND", "OR"]),
        inner,
    ),
    max_leaves=8,
)


@given(CONDITIONS, MEASURED)
def test_a_rule_and_its_negation_are_never_both_true(
    condition: str, measured: Measurements
) -> None:
    named: dict[str, Any] = dict(rule_variables(compute_factors(measured, Policy())))
    assert not (
        evaluate_condition(parse_condition(condition), named)
        and evaluate_condition(parse_condition(f"NOT ({condition})"), named)
    )


@given(FRACTIONS, st.lists(FRACTIONS, min_size=3, max_size=3))
def test_a_displayed_score_is_in_its_band(score: float, bounds: list[float]) -> None:
    thresholds = dict(zip(Band, [0.0, *sorted(bounds)], strict=True))
    assert band_of(float(format_score(score, thresholds)), thresholds) == band_of(score, thresholds)
