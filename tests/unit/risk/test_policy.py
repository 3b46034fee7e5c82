"""The policy of a `config.json` (RFC 10.4.6), and the problems in it with their position."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vibes_lsp.model.defaults import DEFAULT_THRESHOLDS, DEFAULT_WEIGHTS
from vibes_lsp.model.vocabulary import Band
from vibes_lsp.risk.policy import MAX_RULES, Policy
from vibes_lsp.store.config import LoadedConfig, parse_config

FRAME = {
    "standard": "VIBES",
    "standard_version": "1.0",
    "assurance_level": "high",
    "project_name": "demo",
}


def loaded(**scoring: Any) -> LoadedConfig:
    """Load a configuration with a `risk_scoring` member."""
    return parse_config(
        json.dumps({**FRAME, "risk_scoring": {"enabled": True, **scoring}}).encode()
    )


def problems(config: LoadedConfig) -> list[tuple[str, int | None]]:
    return [(each.field.removeprefix("risk_scoring."), each.offset) for each in config.problems]


def test_the_example_of_the_rfc() -> None:
    config = loaded(
        algorithm="weighted_average",
        weights=DEFAULT_WEIGHTS,
        thresholds=DEFAULT_THRESHOLDS,
        review_rules=[
            {
                "condition": "temperature > 0.8 AND action_type == 'create' AND scope_lines > 100",
                "action": "require_review",
            },
            {"condition": "assurance_gap == 1.0", "action": "flag"},
        ],
    )
    assert config.problems == ()
    assert [rule.action for rule in config.policy.rules] == ["require_review", "flag"]
    assert (config.policy.computes_scores, config.policy.level) == (True, "high")


def test_without_a_risk_part_prism_is_off() -> None:
    parts: list[dict[str, Any]] = [
        {},
        {"risk_scoring": None},
        {"risk_scoring": {}},
        {"risk_scoring": {"enabled": False}},
    ]
    for scoring in parts:
        policy = parse_config(json.dumps({**FRAME, **scoring}).encode()).policy
        assert not policy.computes_scores
        assert policy.preview.computes_scores
    assert parse_config(b"{").policy == Policy()


def test_values_override_the_defaults() -> None:
    policy = loaded(
        weights={"temperature": 2, "org:sensitive": 1},
        thresholds={"critical": 0.9},
        baselines={"scope_files": 5},
        capability_tiers={"our-*": "small"},
    ).policy
    assert policy.weights == {**DEFAULT_WEIGHTS, "temperature": 2, "org:sensitive": 1}
    assert policy.thresholds == {**DEFAULT_THRESHOLDS, Band.CRITICAL: 0.9}
    assert policy.baselines == {"scope_files": 5, "prompt_token_count": 2_000}
    assert policy.tiers == {"our-*": "small"}


def test_an_unknown_algorithm_computes_no_score() -> None:
    config = loaded(algorithm="ours")
    assert problems(config) == [("algorithm", None)]
    assert (
        config.policy.enabled,
        config.policy.computes_scores,
        config.policy.preview.computes_scores,
    ) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("scoring", "found", "force"),
    [
        (
            {"weights": {"temperature": -1, "scope_lines": 2}},
            [("weights.temperature", None)],
            {"weights": {**DEFAULT_WEIGHTS, "scope_lines": 2}},
        ),
        (
            {"weights": {"heat": 1, "org:x": 2}},
            [("weights.heat", None)],
            {"weights": {**DEFAULT_WEIGHTS, "org:x": 2}},
        ),
        ({"weights": [1]}, [("weights", None)], {"weights": DEFAULT_WEIGHTS}),
        (
            {"thresholds": {"medium": 0.9, "high": 0.5}},
            [("thresholds", None)],
            {"thresholds": DEFAULT_THRESHOLDS},
        ),
        (
            {"thresholds": {"high": 7, "critical": 0.9}},
            [("thresholds.high", None)],
            {"thresholds": {**DEFAULT_THRESHOLDS, Band.CRITICAL: 0.9}},
        ),
        (
            {"thresholds": {"severe": 0.9}},
            [("thresholds.severe", None)],
            {"thresholds": DEFAULT_THRESHOLDS},
        ),
        (
            {"baselines": {"scope_files": 0, "prompt_token_count": 9}},
            [("baselines.scope_files", None)],
            {"baselines": {"scope_files": 20, "prompt_token_count": 9}},
        ),
        (
            {"capability_tiers": {"own": "huge", "our": "small"}},
            [("capability_tiers.own", None)],
            {"tiers": {"our": "small"}},
        ),
        ({"review_rules": {"a": 1}}, [("review_rules", None)], {"rules": ()}),
        ({"enabled": "yes"}, [("enabled", None)], {"enabled": False}),
    ],
)
def test_only_the_invalid_part_gets_its_default(
    scoring: Any, found: list[Any], force: dict[str, object]
) -> None:
    config = loaded(**scoring)
    assert problems(config) == found
    assert {name: getattr(config.policy, name) for name in force} == force


def test_only_broken_rules_are_left_out_with_their_position() -> None:
    config = loaded(
        review_rules=[
            {"condition": "scope_lines > 1", "action": "explode"},
            {"condition": "scope_lines > 1 AND bogus > 2", "action": "flag"},
            {"condition": "scope_lines > 10", "action": "block"},
            "scope_lines > 1",
            {"condition": "(" * 50, "action": "flag"},
            {"action": "flag"},
        ]
    )
    assert [(rule.condition, rule.action) for rule in config.policy.rules] == [
        ("scope_lines > 10", "block")
    ]
    assert sorted(problems(config), key=str) == [
        ("review_rules.0.action", None),
        ("review_rules.1.condition", 20),
        ("review_rules.3", None),
        ("review_rules.4.condition", 20),
        ("review_rules.5.condition", None),
    ]


def test_the_number_of_rules_is_limited() -> None:
    config = loaded(
        review_rules=[{"condition": "scope_lines > 1", "action": "flag"}] * (MAX_RULES + 5)
    )
    assert len(config.policy.rules) == MAX_RULES
    assert problems(config) == [(f"review_rules.{MAX_RULES}", None)]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_file_with_a_number_that_json_lacks_has_no_policy(number: str) -> None:
    source = json.dumps({**FRAME, "risk_scoring": {"enabled": True, "weights": {"org:x": 7}}})
    config = parse_config(source.replace("7", number).encode())
    assert config.problem is not None
    assert config.policy == Policy()


def test_a_file_nested_too_deep_has_no_policy() -> None:
    config = parse_config(b'{"risk_scoring":' + b"[" * 5_000)
    assert config.problem is not None
    assert config.policy == Policy()


@pytest.mark.parametrize("action", [["flag"], {"flag": 1}, 7, None, True, "", "Flag", "flag\0"])
def test_a_rule_with_an_invalid_action_is_left_out_and_reported(action: Any) -> None:
    sound = {"condition": "scope_lines > 1", "action": "block"}
    config = loaded(review_rules=[{"condition": "scope_files > 1", "action": action}, sound])
    assert [rule.action for rule in config.policy.rules] == ["block"]
    assert problems(config) == [("review_rules.0.action", None)]
