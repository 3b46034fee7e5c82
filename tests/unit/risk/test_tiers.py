"""The table of models (R22): coarse, by name, and a project's own patterns go before it."""

from __future__ import annotations

import pytest

from vibes_lsp.model.vocabulary import Tier
from vibes_lsp.risk.signals import MODEL_TIERS, TIER_VALUES, tier_of


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
        ("nobody-knows-1", None),
        ("", None),
        ("none", None),
    ],
)
def test_what_a_model_counts_as(model: str, tier: str | None) -> None:
    assert tier_of(model) == tier


def test_the_policys_patterns_go_before_the_table_and_the_longest_before_the_others() -> None:
    own = {"*": "legacy", "claude-*": "small", "our-*": "general", "our-best-*": "frontier"}
    assert [tier_of(name, own) for name in ("claude-opus-4-5", "our-own", "our-best-1", "x")] == [
        "small",
        "general",
        "frontier",
        "legacy",
    ]
    assert tier_of("our-best-1", dict(reversed(own.items()))) == "frontier"


def test_every_tier_is_worth_something_and_less_able_is_more_risky() -> None:
    assert set(MODEL_TIERS.values()) == set(Tier)
    assert [TIER_VALUES[tier] for tier in Tier] == sorted(TIER_VALUES.values())
