"""`vibes gate --base`: a branch rewrites records and entries under their id, or adds some with a wrong id."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.gate_project import BLOCKED, BO, GateProject, checks, decisions, members, use_ci_user
from tests.server.project import STORY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    """A project gated by a CI user who did not contribute to it."""
    return use_ci_user(GateProject(tmp_path / "project"))


def rewrite(project: GateProject, identifier: str, **changed: Any) -> bytes:
    """Rewrite a record of the log under its id; return its line."""
    lines = project.log_lines()
    at = next(
        number
        for number, line in enumerate(lines)
        if members(line).get("annotation_id") == identifier
    )
    lines[at] = json.dumps({**members(lines[at]), **changed}).encode() + b"\n"
    project.write_log(lines)
    return lines[at]


def changes(project: GateProject) -> dict[str, dict[str, Any]]:
    return {
        "type": {"type": "other"},
        "environment": {"environment_hash": project.calm},
        "action": {"action": "delete"},
        "path": {"file_path": "gone.py"},
        "anchors": {
            "anchor_hash": "0" * 64,
            "anchor_context": "x = 1",
            "file_content_hash": "0" * 64,
        },
        "lines": {"line_start": 400, "line_end": 400},
        "risk": {"risk_score": 0.1, "risk_factors": []},
    }


@pytest.mark.parametrize("variant", ["spec", "less-anchors", "less-risk"])
@pytest.mark.parametrize(
    "change", ["type", "environment", "action", "path", "anchors", "lines", "risk"]
)
def test_a_record_that_the_branch_adds_and_changes_is_found(
    project: GateProject, run_vibes: RunVibes, change: str, variant: str
) -> None:
    if change == "risk" and variant == "less-risk":
        identifier = project.write(
            id_variant=variant,
            risk_score=0.9,
            risk_factors=[{"signal": "x:y", "value": 1, "weight": 1}],
        )
    else:
        identifier = project.write(id_variant=variant if variant != "less-risk" else "spec")
    project.commit()
    rewrite(project, identifier, **changes(project)[change])
    project.commit("Tell it otherwise")
    found = project.gate_json(run_vibes)
    assert found["result"] == "FAIL"
    assert checks(found, "error") >= {"base-record"}


@pytest.mark.parametrize("above", [True, False], ids=["above", "below"])
@pytest.mark.parametrize("change", ["type", "environment", "action", "path", "anchors"])
def test_a_forged_copy_of_a_record_of_the_base_is_found(
    project: GateProject, run_vibes: RunVibes, change: str, above: bool
) -> None:
    identifier = project.write(id_variant="less-anchors" if change == "anchors" else "spec")
    project.base = project.commit()
    kept = project.log_lines()
    forged = rewrite(project, identifier, **changes(project)[change])
    project.write_log([forged, *kept] if above else [*kept, forged])
    project.file("a.py", STORY + "x = 1\n")
    project.commit()
    found = project.gate_json(run_vibes)
    assert found["result"] == "FAIL"
    assert checks(found, "error") >= {"base-record"}


def test_a_record_with_the_id_of_another_is_an_error(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write(risky=False, annotation_id="7" * 64)
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found, "error")) == ("FAIL", {"annotation-id-mismatch"})


def test_a_changed_approval_is_found(project: GateProject, run_vibes: RunVibes) -> None:
    identifier = project.write()
    project.commit()
    edge = project.review(identifier, reviewer=BO[0], text_hash="0" * 64)
    project.commit("Stale from the beginning", by=BO)
    metadata = members(next(line for line in project.log_lines() if edge.encode() in line))[
        "metadata"
    ]
    hashed = members(next(line for line in project.log_lines() if identifier.encode() in line))[
        "anchor_hash"
    ]
    rewrite(project, edge, metadata={**metadata, "text": hashed})
    project.commit("Mend the review")
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", BLOCKED)


def test_risk_that_an_id_does_not_cover_is_an_error(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.policy(review_rules=[{"condition": "org:sensitive >= 0.5", "action": "block"}])
    project.base = project.commit()
    project.write(
        id_variant="less-risk",
        risk_score=0.1,
        risk_factors=[{"signal": "org:sensitive", "value": 0.1, "weight": 1}],
    )
    project.commit()
    for arguments in ((), ("--stored",)):
        found = project.gate_json(run_vibes, *arguments)
        assert (found["result"], checks(found, "error")) == ("FAIL", {"gate-unvouched"})


def test_risk_that_the_policy_does_not_use_needs_no_covering_id(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write(risky=False, id_variant="less-risk", risk_score=0.1, risk_factors=[])
    project.commit()
    assert (
        project.gate_json(run_vibes)["result"],
        project.gate_json(run_vibes, "--stored")["result"],
    ) == (
        "PASS",
        "FAIL",
    )


def test_anchors_that_an_id_does_not_cover_lose_no_lines(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write(
        id_variant="less-anchors",
        anchor_hash="0" * 64,
        anchor_context="x = 1",
        file_content_hash="0" * 64,
    )
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", BLOCKED)


@pytest.mark.parametrize("key", ["risky", "prompt"])
@pytest.mark.parametrize("how", ["removed", "changed"])
def test_an_entry_that_the_branch_adds_cannot_be_removed(
    project: GateProject, run_vibes: RunVibes, how: str, key: str
) -> None:
    environment = project.environment(parameters={"temperature": 0.95}, model="another")
    asked = project.prompt("Write it")
    session = project.session_start(environment=environment)
    project.line("a.py", 4, 7, text=STORY, environment=environment, prompt=asked, session=session)
    project.file("a.py")
    project.commit()
    manifest = project.root / ".ai-audit/manifest.json"
    told = json.loads(manifest.read_bytes())
    name = environment if key == "risky" else asked
    if how == "removed":
        del told["entries"][name]
    elif key == "risky":
        told["entries"][name]["model_parameters"]["temperature"] = 0.1
    else:
        told["entries"][name]["prompt_text"] = "Something else"
    manifest.write_text(json.dumps(told))
    project.commit("Tell it otherwise")
    found = project.gate_json(run_vibes)
    assert found["result"] == "FAIL"
    assert checks(found, "error") >= {"base-entry"}


def test_a_committed_journal_is_found(project: GateProject, run_vibes: RunVibes) -> None:
    """Only local programs write the journal; git ignores it."""
    key = "5" * 64
    folder = project.root / ".ai-audit/wal"
    folder.mkdir()
    (folder / "entries.jsonl").write_text(
        json.dumps({"hash": key, "entry": {"type": "environment", "model_name": "m"}}) + "\n"
    )
    project.repository.git("add", "-f", ".ai-audit/wal/entries.jsonl")
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found, "error")) == ("FAIL", {"base-file"})


def test_a_second_start_record_does_not_turn_an_ai_into_a_person(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.commit()
    agent = project.session_start(environment=project.calm, agent_name=BO[0])
    project.review(identifier, reviewer=BO[0], session=agent)
    begun = len(project.log_lines())
    project.session_start(
        environment=project.reviewer_environment(), session_id=agent, agent_type="human"
    )
    lines = project.log_lines()
    project.write_log([*lines[begun:], *lines[:begun]])
    project.commit("Review", by=BO)
    assert decisions(project.gate_json(run_vibes)) == BLOCKED


def test_an_error_of_check_fails_the_gate(project: GateProject, run_vibes: RunVibes) -> None:
    identifier = project.write(risky=False)
    project.edge("informed_by", identifier, "9" * 64)
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found, "error")) == ("FAIL", {"edge-end"})
    done = run_vibes("check", "--base", project.base, "--json", cwd=project.root)
    assert {each["check"] for each in done.json["findings"] if each["severity"] == "error"} == {
        "edge-end"
    }


def test_what_check_calls_an_error_in_the_base_does_not(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write(risky=False)
    project.edge("informed_by", identifier, "9" * 64)
    project.base = project.commit()
    project.write("b.py", risky=False)
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found)) == ("PASS", set())


def test_a_manifest_that_cannot_be_read_fails_the_gate(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write(risky=False)
    manifest = project.root / ".ai-audit/manifest.json"
    manifest.write_bytes(manifest.read_bytes().rstrip()[:-1])
    project.commit()
    found = project.gate_json(run_vibes)
    assert found["result"] == "FAIL"
    assert checks(found, "error") >= {"manifest-json"}


def test_an_entry_under_a_key_that_is_not_its_own_fails_the_gate(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write(risky=False)
    manifest = project.root / ".ai-audit/manifest.json"
    told = json.loads(manifest.read_bytes())
    told["entries"]["4" * 64] = {**told["entries"][project.calm], "model_name": "x"}
    manifest.write_text(json.dumps(told))
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found, "error")) == ("FAIL", {"hash-mismatch"})


def test_the_same_records_merged_twice_are_no_forgery(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write(risky=False)
    project.commit()
    project.write_log([*project.log_lines(), *project.log_lines()])
    project.commit("As a union merge leaves it")
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found)) == ("PASS", set())


def test_branches_that_were_merged_with_their_logs_pass(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.repository.switch("side", create=True)
    project.write("side.py", risky=False)
    project.commit("On the side")
    project.repository.switch("main")
    project.write("main.py", risky=False)
    project.commit("On main", by=BO)
    project.repository.merge("side")
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found, "error", "warning")) == ("PASS", set())
    assert set(decisions(found)) == {"side.py", "main.py"}
