"""The risk score that is stored with an annotation (RFC 10.4.4), and custom signals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from tests.placements import placed_by_records
from tests.unit.recording.projects import MODEL, PROMPT, SOURCE, TOOL, Project, new_project
from vibes_lsp.anchors.text import Text
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.recording import Origin, Prompt, PromptType, RiskSignal, WrongArgument
from vibes_lsp.store.config import load_config
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path

ON = {"enabled": True, "weights": {"org:sensitive": 0.5}}


def recorded(project: Project, *, action: str = "create", **origin: Any) -> dict[str, Any]:
    """Record lines 4 to 6 of ten, and return the record."""
    project.file("a.py")
    given = {"tool": TOOL, "model": MODEL, "prompt": PROMPT, **origin}
    record = project.recorder.annotate_lines("a.py", 4, 6, action, Origin(**given)).record
    assert record is not None
    return record


def test_a_score_is_stored_with_its_factors(tmp_path: Path) -> None:
    """0.25 x 0.15 + 0.6 x 0.15 + 0.3 x 0.15 + 0.5 x 0.10 + 1 x 0.15 + 4/2000 x 0.10 = 0.3727; of 0.80."""
    record = recorded(new_project(tmp_path, risk_scoring=ON))
    assert record["risk_score"] == 0.4659
    assert [(each["signal"], each["value"], each["weight"]) for each in record["risk_factors"]] == [
        ("temperature", 0.25, 0.15),
        ("action_type", 0.6, 0.15),
        ("scope_lines", 0.3, 0.15),
        ("assurance_gap", 0.5, 0.1),
        ("human_review_present", 1, 0.15),
        ("prompt_token_count", 0.002, 0.1),
    ]
    assert record["risk_factors"][2]["reason"] == "3 of 10 lines (30%)"


@pytest.mark.parametrize("scoring", [None, {}, {"enabled": False}, {"enabled": True, "algorithm": "ours"}, {"enabled": True, "weights": dict.fromkeys(
    ("temperature", "action_type", "scope_lines", "scope_files", "assurance_gap", "human_review_present", "prompt_token_count", "model_capability_tier"), 0)}])  # fmt: skip
def test_no_score_is_stored_without_scoring(tmp_path: Path, scoring: object) -> None:
    project = new_project(tmp_path, risk_scoring=scoring)
    project.file("a.py")
    origin = Origin(tool=TOOL, model=MODEL, signals=(RiskSignal("org:sensitive", 1),))
    result = project.recorder.annotate_lines("a.py", 4, 6, "create", origin)
    assert result.record is not None
    assert not {"risk_score", "risk_factors"} & set(result.record)
    assert result.withheld == ("signals",)


def test_custom_signals_have_the_policys_weights(tmp_path: Path) -> None:
    project = new_project(tmp_path, risk_scoring=ON)
    signals = (RiskSignal("org:sensitive", 0.9, "stores keys"), RiskSignal("org:unweighted", 0))
    record = recorded(project, signals=signals)
    assert record["risk_factors"][-2:] == [
        {"signal": "org:sensitive", "value": 0.9, "weight": 0.5, "reason": "stores keys"},
        {"signal": "org:unweighted", "value": 0, "weight": 0, "reason": "no reason given"},
    ]
    assert record["risk_score"] == round((0.3727 + 0.5 * 0.9) / 1.3, 4)


@pytest.mark.parametrize(
    ("signals", "member"),
    [
        ([RiskSignal("temperature", 0)], "signals.0.signal"),
        ([RiskSignal("sensitive", 1)], "signals.0.signal"),
        ([RiskSignal("org:a", 1), RiskSignal("org:a", 0)], "signals.1.signal"),
        ([RiskSignal("org:a", 1.1)], "signals.0.value"),
        ([RiskSignal("org:a", math.nan)], "signals.0.value"),
        ([RiskSignal(f"org:a{number}", 1) for number in range(21)], "signals"),
    ],
)
def test_invalid_signals_are_refused(
    tmp_path: Path, signals: list[RiskSignal], member: str
) -> None:
    project = new_project(tmp_path, risk_scoring=ON)
    with pytest.raises(WrongArgument) as refused:
        recorded(project, signals=tuple(signals))
    assert refused.value.member == member
    assert project.records() == []


def test_token_counts_are_stored_and_reasons_are_masked(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    project = new_project(tmp_path, risk_scoring=ON)
    counted = Prompt("Write.", PromptType.USER_INSTRUCTION, token_count=500)
    record = recorded(
        project, prompt=counted, signals=(RiskSignal("org:sensitive", 1, f"token {secret}"),)
    )
    assert project.entry(record["prompt_hash"])["prompt_token_count"] == 500
    reasons = {each["signal"]: each["reason"] for each in record["risk_factors"]}
    assert (
        reasons["prompt_token_count"]
        == "500 tokens as counted by the tool, where 2,000 count as 1.0"
    )
    assert reasons["org:sensitive"] == "token [masked]"
    assert secret.encode() not in project.written()


@pytest.mark.parametrize("level", ["low", "medium", "high"])
@pytest.mark.parametrize("action", ["create", "delete"])
def test_the_stored_score_is_the_live_score_at_that_moment(
    tmp_path: Path, level: str, action: str
) -> None:
    project = new_project(tmp_path, level, risk_scoring=ON)
    session = project.session()
    project.file("b.py")
    project.recorder.annotate_lines("b.py", 1, 1, "create", Origin(session_id=session))
    record = recorded(
        project,
        action=action,
        session_id=session,
        tool=None,
        model=None,
        signals=(RiskSignal("org:sensitive", 0.3),),
    )
    text = Text(
        SOURCE
        if action == "create"
        else "".join(SOURCE.splitlines(keepends=True)[:3] + SOURCE.splitlines(keepends=True)[6:])
    )
    trail = Trail(project.recorder.directory)
    trail.refresh()
    (placement,) = placed_by_records(trail, "a.py", text)
    live = Scorer(trail, load_config(project.recorder.directory).policy).score(placement, text)
    assert live is not None
    assert round(live.value, 4) == record["risk_score"]
    assert [(each.signal, each.value, each.reason) for each in live.factors] == [
        (each["signal"], each["value"], each["reason"]) for each in record["risk_factors"]
    ]
