"""Scores computed by hand (RFC 10.4.2), and bands (R21)."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from vibes_lsp.model.vocabulary import Band
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.review_status import ReviewStatus
from vibes_lsp.risk.scoring import band_of, compute_score, weighted_average
from vibes_lsp.risk.signals import CustomSignal, Measurements, PromptLength

NOTHING = dict.fromkeys(
    (
        "temperature",
        "action_type",
        "scope_lines",
        "scope_files",
        "assurance_gap",
        "human_review_present",
        "prompt_token_count",
        "model_capability_tier",
    ),
    0.0,
)


class Case(NamedTuple):
    """Measurements and the expected score."""

    measured: Measurements
    score: float
    band: str
    policy: Policy = Policy()


CASES = {
    "nothing known except that it is unreviewed: 0.15 x 1 / 0.15": Case(
        Measurements(), 1.0, "critical"
    ),
    "(0.15 x 0.6 + 0.10 x 0.5 + 0.15 x 1) / 0.40": Case(
        Measurements(action="create", level="medium"), 0.725, "high"
    ),
    "approved: (0.15 x 0.6 + 0.10 x 0.5 + 0.15 x 0) / 0.40": Case(
        Measurements(action="create", level="medium", review_status=ReviewStatus.APPROVED),
        0.35,
        "medium",
    ),
    "all eight: 0.075 + 0.09 + 0.1125 + 0.025 + 0.05 + 0.15 + 0.025 + 0.02": Case(
        Measurements(
            temperature=1.0,
            action="create",
            lines=120,
            total_lines=160,
            files=5,
            level="medium",
            prompt=PromptLength(500),
            model="claude-opus-4-5",
        ),
        0.5475,
        "medium",
    ),
    "the least of it: 0 + 0.06 + 0.0015 + 0.005 + 0 + 0 + 0.005 + 0.02": Case(
        Measurements(
            temperature=0.0,
            action="modify",
            lines=1,
            total_lines=100,
            files=1,
            level="high",
            review_status=ReviewStatus.APPROVED,
            prompt=PromptLength(100),
            model="claude-opus-4-5",
        ),
        0.0915,
        "low",
    ),
    "low assurance knows no prompt: (0.12 + 0.15 + 0.10 + 0.10 + 0.15 + 0.10) / 0.75": Case(
        Measurements(
            action="delete", lines=50, total_lines=50, files=20, level="low", model="gpt-3.5-turbo"
        ),
        0.96,
        "critical",
    ),
    "each at its cap: 0.15 + 0.09 + 0.15 + 0.10 + 0.10 + 0.15 + 0.10 + 0.10": Case(
        Measurements(
            temperature=3.0,
            action="create",
            lines=200,
            total_lines=100,
            files=40,
            level="low",
            prompt=PromptLength(9_000),
            model="gpt-3.5-turbo",
        ),
        0.94,
        "critical",
    ),
    "an AI's review: (0.15 x 0.1 + 0.10 x 0 + 0.15 x 1) / 0.40": Case(
        Measurements(action="review", level="high"), 0.4125, "medium"
    ),
    "other weights: (3 x 0.4 + 1 x 1) / 4": Case(
        Measurements(temperature=0.8, action="create"),
        0.55,
        "medium",
        Policy(weights={**NOTHING, "temperature": 3, "human_review_present": 1}),
    ),
    "a signal of one's own: (0.15 x 0.6 + 0.15 x 1 + 0.5 x 0.9) / 0.80": Case(
        Measurements(action="create", custom=(CustomSignal("org:sensitive", 0.9),)),
        0.8625,
        "critical",
        Policy(weights={**Policy().weights, "org:sensitive": 0.5}),
    ),
    "one without a weight counts for nothing: (0.15 x 0.6 + 0.10 x 0.5 + 0.15 x 1) / 0.40": Case(
        Measurements(action="create", level="medium", custom=(CustomSignal("org:harmless", 0.0),)),
        0.725,
        "high",
    ),
    "other baselines: (0.10 x 5/10 + 0.15 x 1 + 0.10 x 1000/4000) / 0.35": Case(
        Measurements(files=5, prompt=PromptLength(1_000)),
        0.6429,
        "high",
        Policy(baselines={"scope_files": 10, "prompt_token_count": 4_000}),
    ),
    "exactly on a bound: 0.15 x 0.6 / 0.15": Case(
        Measurements(action="create"), 0.6, "high", Policy(weights={**NOTHING, "action_type": 0.15})
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_computed_by_hand(case: Case) -> None:
    score = compute_score(case.measured, case.policy)
    assert score is not None
    assert (round(score.value, 4), score.band) == (case.score, case.band)


def test_the_factors_of_the_rfcs_example_give_another_score_than_it_prints() -> None:
    """RFC 10.4.4: (0.135 + 0.09 + 0.1275 + 0.05 + 0.15) / 0.70; it says 0.72 (R27)."""
    factors = [(0.15, 0.9), (0.15, 0.6), (0.15, 0.85), (0.10, 0.5), (0.15, 1.0)]
    assert round(weighted_average(factors) or 0, 4) == 0.7893


def test_without_weights_there_is_no_score() -> None:
    assert compute_score(Measurements(action="create"), Policy(weights=NOTHING)) is None
    assert weighted_average([]) is None


def test_the_band_is_that_of_the_unrounded_score() -> None:
    policy = Policy(
        weights={**NOTHING, "action_type": 1, "human_review_present": 1.999},
        thresholds={Band.CRITICAL: 0.8667},
    )
    score = compute_score(Measurements(action="create"), policy)
    assert score is not None
    assert (round(score.value, 4), score.band) == (0.8666, "high")


def test_huge_weights_do_not_overflow() -> None:
    assert weighted_average([(1.7e308, 1.0), (1.7e308, 0.5)]) == 0.75
    assert weighted_average([(5e-324, 1.0), (5e-324, 0.0)]) == 0.5


@pytest.mark.parametrize(
    ("score", "band"),
    [
        (0, "low"),
        (0.2999, "low"),
        (0.3, "medium"),
        (0.59999, "medium"),
        (0.6, "high"),
        (0.7999999, "high"),
        (0.8, "critical"),
        (1, "critical"),
    ],
)
def test_the_thresholds_of_the_rfc(score: float, band: str) -> None:
    assert band_of(score) == band


def test_a_project_may_set_some_thresholds() -> None:
    assert band_of(0.5, {Band.CRITICAL: 0.5}) == Band.CRITICAL
    assert band_of(0.5, {Band.MEDIUM: 0.55}) == Band.LOW


def test_a_score_below_all_thresholds_is_low() -> None:
    assert band_of(0.1, {Band.LOW: 0.2}) == Band.LOW
