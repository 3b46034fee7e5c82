"""RFC 10.4.5: gates in a pipeline; the RFC's in bash compared with `vibes gate --stored --all`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.gate_project import GateProject
from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import run_vibes
from tests.queries import texts
from tests.queries.programs import bash
from tests.queries.story import tell
from tests.requirements import require
from tests.server.project import STORY

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="bc is not to be had there"),
]

HOT = [{"condition": "temperature.value > 0.9", "action": "block"}]
NEVER = {"critical": 1, "high": 1}


def by_score(root: Path) -> int:
    """Return the exit code of the standard's gate by score."""
    require("bc", "the gate compares with it")
    return bash(root, texts.SCORE_GATE)[0]


def by_factor(root: Path) -> int:
    """Return the exit code of the standard's gate by a factor."""
    return bash(root, texts.FACTOR_GATE)[0]


def gated(root: Path, *arguments: str) -> int:
    return run_vibes(root, "gate", *arguments).code


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    project = GateProject(tmp_path / "project")
    project.policy(review_rules=[])
    return project


def factors(value: float) -> list[dict[str, Any]]:
    return [{"signal": "temperature", "value": value, "weight": 0.15}]


@rfc_reader(
    "10.4.5",
    "stated",
    "`vibes gate --stored --all` blocks at the same score as the RFC's gate by score",
)
@pytest.mark.parametrize("score", [None, 0, 0.2999, 0.7999, 0.8, 0.8001, 1])
def test_gate_by_score(project: GateProject, score: float | None) -> None:
    project.write("low.py", risk_score=0.1)
    stored: dict[str, Any] = {} if score is None else {"risk_score": score}
    project.write(**stored)
    assert gated(project.root, "--stored", "--all") == by_score(project.root)


@rfc_reader(
    "10.4.5",
    "stated",
    "a rule with `temperature.value` blocks at the same value as the RFC's gate by factor",
)
@pytest.mark.parametrize("value", [0, 0.9, 0.9001, 1])
def test_gate_by_factor(project: GateProject, value: float) -> None:
    project.policy(review_rules=HOT, thresholds=NEVER)
    project.write("low.py", risk_score=0.1, risk_factors=factors(0.5))
    project.write(risk_score=0.2, risk_factors=factors(value))
    assert gated(project.root, "--stored", "--all") == by_factor(project.root)


@rfc_reader(
    "10.4.5",
    "stated",
    "both gates agree on a trail with replaced, back-filled, reviewed and removed records",
)
def test_on_a_trail_with_history(tmp_path: Path) -> None:
    story = tell(tmp_path / "project")
    config = story.root / ".ai-audit/config.json"
    for rules in ("[]", '[{"condition": "temperature.value > 0.9", "action": "block"}]'):
        text = (
            '{"assurance_level": "medium", "risk_scoring": {"enabled": true, "review_rules": %s}}'
        )
        config.write_text(text % rules)
        assert (
            gated(story.root, "--stored", "--all")
            == by_score(story.root)
            == by_factor(story.root)
            == 1
        )
    assert gated(story.root, "--stored") == 0, "what was critical is history"


@rfc_reader(
    "10.4.5",
    "MAY",
    "`vibes gate` differs for approved, replaced, lost, removed and untracked code",
)
@pytest.mark.parametrize("reason", ["approved", "replaced", "lost", "removed", "untracked"])
def test_where_the_gate_differs_and_why(project: GateProject, reason: str) -> None:
    action = "delete" if reason == "removed" else "create"
    path = "a.txt" if reason == "untracked" else "a.py"
    identifier = project.write(path, risk_score=0.9, action=action)
    assert gated(project.root, "--stored") == (0 if reason == "removed" else 1)
    if reason == "approved":
        project.review(identifier)
    elif reason == "replaced":
        newer = project.write(risk_score=0.1)
        project.edge(
            "supersedes", newer, identifier, target_type="annotation", metadata={"reason": "covers"}
        )
    elif reason == "lost":
        project.file(path, "nothing = 1\n")
    elif reason == "untracked":
        project.policy(review_rules=[], tracked=[".py"])
    assert gated(project.root, "--stored") == 0
    assert by_score(project.root) == gated(project.root, "--stored", "--all") == 1


@rfc_reader(
    "10.4.5",
    "MAY",
    "`vibes gate --all` also scores functions; the RFC's gate reads line records only",
)
def test_functions_have_a_score_as_well(project: GateProject) -> None:
    project.function(
        "a.py", "digest", text=STORY, lines=(4, 7), environment=project.calm, risk_score=0.9
    )
    project.file("a.py", STORY)
    assert (by_score(project.root), gated(project.root, "--stored", "--all")) == (0, 1)


@rfc_reader(
    "10.4.5",
    "MAY",
    "`vibes gate` blocks what a person rejected, at any score; the RFC's gates ignore reviews",
)
def test_a_rejection_stops(project: GateProject) -> None:
    project.review(project.write(risk_score=0.1), verdict="rejected")
    assert (
        by_score(project.root),
        gated(project.root, "--stored"),
        gated(project.root, "--stored", "--all"),
    ) == (0, 1, 0)
