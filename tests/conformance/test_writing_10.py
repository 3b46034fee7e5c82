"""RFC 10.4: the stored risk of an annotation and its policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.requirement import rfc_writer
from tests.unit.recording.projects import MODEL, TOOL, new_project
from tests.unit.recording.request_builders import function_request
from vibes_lsp.recording import Origin, RiskSignal

if TYPE_CHECKING:
    from pathlib import Path


def scored(root: Path, scoring: object, *, function: bool = False) -> dict[str, Any]:
    """Record an edit where the policy says this about risk, and return its record."""
    project = new_project(root, risk_scoring=scoring)
    project.file("a.py")
    origin = Origin(
        tool=TOOL, model=MODEL, signals=(RiskSignal("org:sensitive", 0.5, "stores keys"),)
    )
    if function:
        recorded = project.recorder.execute(function_request("a.py", "digest", "modify", origin))
    else:
        recorded = project.recorder.annotate_lines("a.py", 4, 6, "modify", origin)
    [record] = project.records("function" if function else "line")
    assert record == recorded.record
    return record


@rfc_writer(
    "10.4.4",
    "MUST",
    "a computed risk is stored in the RFC's members of the line or function record",
)
@rfc_writer(
    "10.4.4",
    "REQUIRED",
    "each factor has a signal, a value from 0 to 1, a weight and a reason",
)
@pytest.mark.parametrize("function", [False, True])
def test_risk_is_stored(tmp_path: Path, function: bool) -> None:
    record = scored(tmp_path, {"enabled": True, "weights": {"org:sensitive": 1}}, function=function)
    factors = record["risk_factors"]
    assert all(
        set(each) == {"signal", "value", "weight", "reason"} and 0 <= each["value"] <= 1
        for each in factors
    )
    assert {
        "signal": "org:sensitive",
        "value": 0.5,
        "weight": 1,
        "reason": "stores keys",
    } in factors
    weighted = sum(each["value"] * each["weight"] for each in factors) / sum(
        each["weight"] for each in factors
    )
    assert record["risk_score"] == pytest.approx(weighted, abs=1e-4)


@rfc_writer(
    "10.4.6",
    "OPTIONAL",
    "no risk is stored if `risk_scoring` is missing, null or disabled",
)
@rfc_writer("10.4.6", "MAY", "with an unknown algorithm no risk is stored")
@pytest.mark.parametrize(
    "scoring", [None, {}, {"enabled": False}, {"enabled": True, "algorithm": "ours"}]
)
def test_no_risk_is_stored_unless_the_policy_says_so(tmp_path: Path, scoring: object) -> None:
    assert not {"risk_score", "risk_factors"} & set(scored(tmp_path, scoring))


@rfc_writer(
    "10.4.6",
    "OPTIONAL",
    "weights of the policy replace the defaults; missing ones keep the default",
)
def test_weights_are_the_policys(tmp_path: Path) -> None:
    record = scored(tmp_path, {"enabled": True, "weights": {"scope_lines": 5, "temperature": 0}})
    weights = {each["signal"]: each["weight"] for each in record["risk_factors"]}
    assert (weights["scope_lines"], weights["action_type"], weights.get("temperature", 0)) == (
        5,
        0.15,
        0,
    )
