"""Findings about the risk members of a record."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.checks.projects import LOG, Project, Seen

RFC_EXAMPLE: list[dict[str, Any]] = [
    {"signal": "temperature", "value": 0.9, "weight": 0.15},
    {"signal": "action_type", "value": 0.6, "weight": 0.15},
    {"signal": "scope_lines", "value": 0.85, "weight": 0.15},
    {"signal": "assurance_gap", "value": 0.5, "weight": 0.10},
    {"signal": "human_review_present", "value": 1.0, "weight": 0.15},
]


def test_risk_score(project: Project) -> None:
    project.line(risk_score=0.72, risk_factors=RFC_EXAMPLE)
    message = "risk_score is 0.72, but its factors give 0.7893"
    assert project.seen() == [Seen("risk-score", "warning", LOG, 26, "risk_score", message)]


@pytest.mark.parametrize("score", [0.7893, 0.79, 0.789285714])
def test_a_score_may_be_rounded(project: Project, score: float) -> None:
    project.line(risk_score=score, risk_factors=RFC_EXAMPLE)
    assert project.seen() == []


@pytest.mark.parametrize(
    "factors",
    [
        [],
        [{"signal": "temperature", "value": 1, "weight": 0}],
        [{"signal": "temperature", "value": 1, "weight": 10**400}],
    ],
    ids=["none", "weightless", "endless"],
)
def test_what_gives_no_score_contradicts_none(
    project: Project, factors: list[dict[str, Any]]
) -> None:
    project.line(risk_score=0.72, risk_factors=factors)
    assert project.seen() == []


def test_a_score_of_another_algorithm_is_its_own(project: Project) -> None:
    project.writer.config(
        assurance_level=project.trail.level, risk_scoring={"enabled": True, "algorithm": "ours"}
    )
    project.line(risk_score=0.72, risk_factors=RFC_EXAMPLE)
    assert [(each.check, each.severity, each.field) for each in project.seen()] == [
        ("config-field", "warning", "risk_scoring.algorithm")
    ]


@pytest.mark.parametrize(
    ("signals", "place", "message"),
    [
        (
            ["moon"],
            0,
            "unknown signal 'moon': expected a standard signal or a name such as org:name",
        ),
        (["org:moon", "org:moon"], 1, "signal 'org:moon' occurs twice"),
    ],
)
def test_risk_signal(project: Project, signals: list[str], place: int, message: str) -> None:
    project.line(
        risk_score=0.5,
        risk_factors=[{"signal": signal, "value": 0.5, "weight": 1} for signal in signals],
    )
    assert project.seen() == [
        Seen("risk-signal", "note", LOG, 26, f"risk_factors.{place}.signal", message)
    ]


def test_a_broken_rule_is_reported_at_its_character(project: Project) -> None:
    rules = [{"condition": 'scope_lines > 1 AND "é" == bogus', "action": "flag"}]
    project.writer.config(
        assurance_level=project.trail.level, risk_scoring={"enabled": True, "review_rules": rules}
    )
    (finding,) = project.report().findings
    source = (project.root / finding.file).read_text(encoding="utf-8").split("\n")
    assert finding.line is not None
    assert finding.column is not None
    assert source[finding.line - 1][finding.column - 1 :].startswith("bogus")
    assert (finding.check.id, finding.field) == (
        "config-field",
        "risk_scoring.review_rules.0.condition",
    )
    assert "unknown signal 'bogus'" in finding.message
