"""The signals (RFC 10.4.1): values, reasons, model tiers (R22), and what is left out."""

from __future__ import annotations

import math
from typing import Any

import pytest

from vibes_lsp.model.vocabulary import Tier
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.review_status import ReviewStatus
from vibes_lsp.risk.scoring import rule_variables
from vibes_lsp.risk.signals import (
    MODEL_TIERS,
    TIER_VALUES,
    CustomSignal,
    Factor,
    Measurements,
    PromptLength,
    compute_factors,
    estimated_length,
    tier_of,
)


def factor(signal: str, policy: Policy | None = None, **known: Any) -> Factor | None:
    """Return one factor of some measurements."""
    return next(
        (
            each
            for each in compute_factors(Measurements(**known), policy or Policy())
            if each.signal == signal
        ),
        None,
    )


@pytest.mark.parametrize(
    ("signal", "known", "quantity", "value", "reason"),
    [
        ("temperature", {"temperature": 1.8}, 1.8, 0.9, "temperature 1.8, where 2 counts as 1.0"),
        ("temperature", {"temperature": 2.5}, 2.5, 1.0, "temperature 2.5, where 2 counts as 1.0"),
        ("action_type", {"action": "create"}, "create", 0.6, "newly written code"),
        ("action_type", {"action": "modify"}, "modify", 0.4, "a change of existing code"),
        ("action_type", {"action": "delete"}, "delete", 0.8, "deleted code"),
        ("action_type", {"action": "review"}, "review", 0.1, "a review, no change"),
        ("scope_lines", {"lines": 45, "total_lines": 53}, 45, 0.849057, "45 of 53 lines (85%)"),
        ("scope_lines", {"lines": 90, "total_lines": 53}, 90, 1.0, "90 of 53 lines (100%)"),
        ("scope_files", {"files": 1}, 1, 0.05, "1 file in its session, where 20 count as 1.0"),
        ("scope_files", {"files": 30}, 30, 1.0, "30 files in its session, where 20 count as 1.0"),
        ("assurance_gap", {"level": "low"}, 1.0, 1.0, "recorded at low assurance"),
        ("assurance_gap", {"level": "medium"}, 0.5, 0.5, "recorded at medium assurance"),
        ("assurance_gap", {"level": "high"}, 0.0, 0.0, "recorded at high assurance"),
        ("human_review_present", {}, 1.0, 1.0, "no review that counts"),
        (
            "human_review_present",
            {"review_status": ReviewStatus.APPROVED},
            0.0,
            0.0,
            "a person approved these lines as they are",
        ),
        (
            "human_review_present",
            {"review_status": ReviewStatus.STALE},
            1.0,
            1.0,
            "reviewed, but the lines have changed since",
        ),
        (
            "human_review_present",
            {"review_status": ReviewStatus.AI},
            1.0,
            1.0,
            "reviewed by an AI only",
        ),
        (
            "prompt_token_count",
            {"prompt": PromptLength(500)},
            500,
            0.25,
            "500 tokens as counted by the tool, where 2,000 count as 1.0",
        ),
        (
            "prompt_token_count",
            {"prompt": estimated_length("é" * 200)},
            100,
            0.05,
            "about 100 tokens, estimated from 400 bytes, where 2,000 count as 1.0",
        ),
        (
            "model_capability_tier",
            {"model": "claude-opus-4-5"},
            "frontier",
            0.2,
            "claude-opus-4-5 counts as frontier",
        ),
        ("org:tier", {"custom": (CustomSignal("org:tier", 0.7, "three"),)}, 0.7, 0.7, "three"),
    ],
)
def test_the_value_and_reason_of_a_signal(
    signal: str, known: dict[str, Any], quantity: object, value: float, reason: str
) -> None:
    found = factor(signal, **known)
    assert found is not None
    assert (found.quantity, found.value, found.reason) == (quantity, value, reason)


@pytest.mark.parametrize(
    ("signal", "known"),
    [
        ("temperature", {}),
        ("temperature", {"temperature": -0.1}),
        ("temperature", {"temperature": math.nan}),
        ("temperature", {"temperature": math.inf}),
        ("action_type", {"action": "rebase_remap"}),
        ("scope_lines", {"lines": 3}),
        ("scope_lines", {"lines": 3, "total_lines": 0}),
        ("scope_files", {"files": 0}),
        ("assurance_gap", {"level": "utmost"}),
        ("prompt_token_count", {}),
        ("model_capability_tier", {"model": "unknown-model-1"}),
        ("model_capability_tier", {}),
    ],
)
def test_unknown_signals_are_left_out(signal: str, known: dict[str, Any]) -> None:
    assert factor(signal, **known) is None


def test_rule_variables_are_quantities_and_values() -> None:
    named = rule_variables(
        compute_factors(
            Measurements(action="create", lines=45, total_lines=50, temperature=1.0), Policy()
        )
    )
    assert named["scope_lines"] == 45
    assert named["scope_lines.value"] == 0.9
    assert (named["action_type"], named["action_type.value"]) == ("create", 0.6)
    assert "model_capability_tier" not in named


def test_weights_come_from_the_policy() -> None:
    found = factor("temperature", Policy(weights={"temperature": 7}), temperature=1.0)
    assert found is not None
    assert found.weight == 7
    unweighted = factor("action_type", Policy(weights={"temperature": 7}), action="create")
    assert unweighted is not None
    assert unweighted.weight == 0


@pytest.mark.parametrize(
    ("model", "tier"),
    [
        ("claude-opus-4-5", "frontier"),
        ("anthropic/claude-opus-4-5", "frontier"),
        ("Claude Opus 4.5", "frontier"),
        ("claude-3-5-sonnet-20241022", "general"),
        ("claude-3-5-haiku-20241022", "small"),
        ("claude-2.1", "legacy"),
        ("gpt-5.2-codex", "frontier"),
        ("gpt-5-mini", "small"),
        ("gpt-4o", "general"),
        ("gpt-4o-mini", "small"),
        ("gpt-3.5-turbo", "legacy"),
        ("o3", "frontier"),
        ("o3-mini", "small"),
        ("gemini-2.5-pro", "frontier"),
        ("gemini-1.5-pro", "legacy"),
        ("qwen2.5-coder-7b-instruct", "small"),
        ("unknown-model-1", None),
        ("", None),
        ("none", None),
    ],
)
def test_the_tier_of_a_model(model: str, tier: str | None) -> None:
    assert tier_of(model) == tier


def test_policy_patterns_precede_the_table_and_the_longest_wins() -> None:
    own = {"*": "legacy", "claude-*": "small", "our-*": "general", "our-best-*": "frontier"}
    assert [tier_of(name, own) for name in ("claude-opus-4-5", "our-own", "our-best-1", "x")] == [
        "small",
        "general",
        "frontier",
        "legacy",
    ]
    assert tier_of("our-best-1", dict(reversed(own.items()))) == "frontier"


def test_smaller_models_have_higher_values() -> None:
    assert set(MODEL_TIERS.values()) == set(Tier)
    assert [TIER_VALUES[tier] for tier in Tier] == sorted(TIER_VALUES.values())
