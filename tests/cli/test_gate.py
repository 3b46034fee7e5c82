"""`vibes gate` over a work tree: bands, rules, reviews, scope and output."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from tests import sarif_schema
from tests.cli.gate_project import RULES, GateProject, checks, decisions
from tests.cli.run_vibes import simulate_terminal, vibes
from tests.demo.workspace import copied
from tests.server.project import STORY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    return GateProject(tmp_path / "project")


def told(run_vibes: RunVibes, project: GateProject, *arguments: str) -> Any:
    done = run_vibes("gate", *arguments, "--json", cwd=project.root)
    assert done.err == ""
    assert done.code == (0 if done.json["result"] == "PASS" else 1)
    return done.json


def test_a_rule_blocks_until_a_person_approves(project: GateProject, run_vibes: RunVibes) -> None:
    identifier = project.write(prompt=project.prompt("Write a digest."))
    found = told(run_vibes, project)
    (item,) = found["items"]
    assert (found["result"], found["threshold"], found["findings"]) == ("FAIL", "critical", [])
    assert (item["annotationId"], item["decision"], item["rules"], item["released"]) == (
        identifier,
        "block",
        RULES,
        False,
    )
    assert (item["filePath"], item["lineStart"], item["lineEnd"], item["prompt"]) == (
        "a.py",
        4,
        7,
        "Write a digest.",
    )
    project.review(identifier)
    found = told(run_vibes, project)
    assert (found["result"], found["items"][0]["decision"], found["items"][0]["released"]) == (
        "PASS",
        "block",
        True,
    )
    assert found["items"][0]["score"] < item["score"]


def test_editing_the_lines_ends_the_approval(project: GateProject, run_vibes: RunVibes) -> None:
    project.review(project.write())
    assert told(run_vibes, project)["result"] == "PASS"
    project.file("a.py", STORY.replace("hashlib.sha256(payload)", "hashlib.md5(payload)"))
    assert (told(run_vibes, project)["result"], decisions(told(run_vibes, project))) == (
        "FAIL",
        {"a.py": ("block", False)},
    )


def test_a_rejection_fails_at_any_risk(project: GateProject, run_vibes: RunVibes) -> None:
    identifier = project.write(risky=False)
    assert told(run_vibes, project, "--threshold", "critical")["result"] == "PASS"
    project.review(identifier, verdict="rejected")
    found = told(run_vibes, project)
    assert (found["result"], found["items"][0]["review"]["verdict"]) == ("FAIL", "rejected")
    project.review(identifier)
    assert told(run_vibes, project)["result"] == "PASS"


def test_an_approval_by_an_ai_releases_nothing(project: GateProject, run_vibes: RunVibes) -> None:
    identifier = project.write()
    project.review(identifier, kind="ai", environment=project.calm)
    assert told(run_vibes, project)["result"] == "FAIL"
    assert told(run_vibes, project)["findings"] == []


def test_a_session_of_a_model_that_calls_itself_a_person_is_an_ai(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    session = project.session_start(environment=project.calm, agent_type="human")
    project.review(identifier, session=session)
    found = told(run_vibes, project)
    assert (found["result"], found["items"][0]["released"], checks(found)) == (
        "FAIL",
        False,
        {"gate-approval"},
    )
    assert "it was given in an AI's session" in found["findings"][0]["message"]


def test_an_edge_that_says_nothing_of_the_review_releases_nothing(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.edge(
        "reviewed_by",
        identifier,
        project.session_start(environment=project.reviewer_environment()),
        target_type="session",
    )
    assert told(run_vibes, project)["result"] == "FAIL"


@pytest.mark.parametrize(
    ("threshold", "decision"),
    [
        ("low", "block"),
        ("medium", "block"),
        ("MEDIUM", "block"),
        ("critical", "flag"),
        ("0.3", "block"),
        ("0.99", "flag"),
        ("1", "flag"),
    ],
)
def test_thresholds_are_bands_or_numbers(
    project: GateProject, run_vibes: RunVibes, threshold: str, decision: str
) -> None:
    project.write(risky=False)
    assert decisions(told(run_vibes, project, "--threshold", threshold)) == {
        "a.py": (decision, False)
    }


@pytest.mark.parametrize("threshold", ["severe", "nan", "-0.1", "1.1", "inf", ""])
def test_an_invalid_threshold(project: GateProject, run_vibes: RunVibes, threshold: str) -> None:
    done = run_vibes("gate", "--threshold", threshold, cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "expected low, medium, high, critical or a number from 0 to 1" in done.err


@pytest.mark.parametrize(
    ("rules", "decision", "result"),
    [
        ([], "flag", "PASS"),
        ([("scope_lines > 3", "flag")], "flag", "PASS"),
        ([("scope_lines > 3", "require_review")], "require_review", "FAIL"),
        (
            [
                ("scope_lines > 3", "require_review"),
                ("scope_lines > 1", "block"),
                ("scope_lines > 2", "flag"),
            ],
            "block",
            "FAIL",
        ),
        ([("scope_lines > 300", "block")], "flag", "PASS"),
        (
            [("action_type == 'create' AND temperature <= 0.1", "require_review")],
            "require_review",
            "FAIL",
        ),
    ],
)
def test_the_strictest_matching_rule_decides(
    project: GateProject,
    run_vibes: RunVibes,
    rules: list[tuple[str, str]],
    decision: str,
    result: str,
) -> None:
    project.policy(
        review_rules=[{"condition": condition, "action": action} for condition, action in rules]
    )
    project.write(risky=False)
    found = told(run_vibes, project)
    assert (found["items"][0]["decision"], found["result"]) == (decision, result)


def test_while_prism_is_off_there_is_no_gate(project: GateProject, run_vibes: RunVibes) -> None:
    project.write()
    for config in ({"risk_scoring": {"enabled": False}}, {"risk_scoring": None}, {}):
        project.config(**config)
        done = run_vibes("gate", "--stored", "--all", cwd=project.root)
        assert (done.code, done.out, done.err) == (
            2, "", "vibes: PRISM is off in .ai-audit/config.json; turn it on with `vibes init --prism`, and commit that\n",
        )  # fmt: skip
    project.files.write("config.json", b"{")
    done = run_vibes("gate", cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "PRISM is off: .ai-audit/config.json cannot be read" in done.err


def test_invalid_log_lines_are_reported(project: GateProject, run_vibes: RunVibes) -> None:
    project.write(risky=False)
    with (project.root / ".ai-audit" / "annotations.jsonl").open("ab") as log:
        log.write(b"\xff\xfe\n{\n")
    found = told(run_vibes, project)
    (finding,) = found["findings"]
    assert (found["result"], finding["check"], finding["severity"]) == (
        "FAIL",
        "gate-unread",
        "error",
    )
    assert (
        finding["message"]
        == "2 lines are not valid records and not gated; `vibes check` lists the errors"
    )


def test_a_folder_cannot_be_gated(project: GateProject, run_vibes: RunVibes) -> None:
    project.write(risky=False)
    for name, said in ((".", ". is not a file"), ("gone.py", "gone.py does not exist")):
        done = run_vibes("gate", name, cwd=project.root)
        assert (done.code, done.out, done.err) == (
            2,
            "",
            f"vibes: {said}; name files of the project\n",
        )


def test_a_rule_that_cannot_be_used_fails_the_gate(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.policy(review_rules=[{"condition": "temperature >", "action": "block"}])
    project.write(risky=False)
    found = told(run_vibes, project)
    assert (found["result"], checks(found, "error")) == ("FAIL", {"gate-policy"})
    assert found["findings"][0]["field"] == "risk_scoring.review_rules.0.condition"


def test_only_what_is_current_tracked_and_there_is_gated(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.policy(excluded=["gen/"], tracked=[".py"])
    project.write("gen/a.py")
    project.write("a.txt")
    old = project.write("b.py", text="one\ntwo\nthree\nfour\n", start=1, end=4)
    new = project.write("b.py", risky=False)
    project.edge("supersedes", new, old, target_type="annotation", metadata={"reason": "covers"})
    project.write("lost.py", text="nothing\n" * 9)
    project.write("removed.py", action="delete", text="import this\n" * 9)
    found = told(run_vibes, project)
    assert decisions(found) == {"b.py": ("flag", False)}
    assert [(each["check"], each["severity"], each["file"]) for each in found["findings"]] == [
        ("gate-lost", "note", "lost.py")
    ]
    assert found["result"] == "PASS"


def test_some_files_only(project: GateProject, run_vibes: RunVibes) -> None:
    project.write("src/a.py")
    project.write("b.py", risky=False)
    assert decisions(told(run_vibes, project, "b.py")) == {"b.py": ("flag", False)}
    assert decisions(told(run_vibes, project, "src/../src/a.py", "b.py")).keys() == {
        "b.py",
        "src/a.py",
    }
    inside = run_vibes("gate", "a.py", "--json", cwd=project.root / "src")
    assert (inside.code, [item["filePath"] for item in inside.json["items"]]) == (1, ["src/a.py"])
    assert told(run_vibes, project, ".ai-audit/config.json")["items"] == []


@pytest.mark.parametrize("file", ["none.py", "../a.py", "src"])
def test_a_missing_file_cannot_be_gated(
    project: GateProject, run_vibes: RunVibes, file: str
) -> None:
    project.write("src/a.py")
    done = run_vibes("gate", file, cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_an_unreadable_file_fails(project: GateProject, run_vibes: RunVibes) -> None:
    project.write()
    (project.root / "a.py").unlink()
    outside = project.root.parent / "outside.py"
    outside.write_text(STORY)
    (project.root / "a.py").symlink_to(outside)
    assert checks(told(run_vibes, project), "error") == {"gate-unread"}


def test_placeholders_are_shown_once_and_gated_each(
    project: GateProject, run_vibes: RunVibes
) -> None:
    for environment in (project.risky, project.calm):
        project.line("a.py", 1, 1, action="modify", environment=environment)
    found = told(run_vibes, project)
    assert sorted(item["decision"] for item in found["items"]) == ["block", "flag"]


def test_failing_items_come_first_in_the_table(project: GateProject) -> None:
    project.policy(review_rules=[*RULES, {"condition": "temperature < 0.2", "action": "flag"}])
    identifier = project.write()
    project.review(project.write("b.py"))
    project.write("c.py", risky=False)
    project.review(project.write("d.py", risky=False))
    done = vibes("gate", cwd=project.root)
    assert done.code == 1
    rows = [line for line in done.lines if ".py" in line]
    assert [re.split(r"  +", row)[0] for row in rows] == [
        "block",
        "approved",
        "flag",
        "approved",
    ]
    shown = [vibes("show", row.split()[1], cwd=project.root) for row in rows]
    assert [each.lines[0].split()[-1] for each in shown] == [row.split()[2] for row in rows]
    assert "rule: temperature > 0.8" in done.out
    assert done.lines[-2:] == [
        "4 annotations: 1 blocked, 2 approved, 1 flagged; blocked at 0.8 or more",
        "Gate: FAIL",
    ]
    project.review(identifier)
    done = vibes("gate", cwd=project.root)
    assert (done.code, done.lines[-1]) == (0, "Gate: PASS")


def test_the_table_has_room_for_the_reason(
    tmp_path: Path, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = copied(tmp_path / "shop").root
    assert "as recorded" in run_vibes("gate", "--markdown", cwd=root).out
    simulate_terminal(monkeypatch)
    done = run_vibes("gate", cwd=root)
    assert max(map(len, done.lines)) <= 80
    assert any(line.endswith("approved by Ada Example") for line in done.lines)


def test_sarif_has_each_item_and_each_finding(project: GateProject, run_vibes: RunVibes) -> None:
    project.write()
    project.write("c.py", risky=False)
    project.review(project.write("d.py"))
    project.review(project.write("e.py", risky=False), verdict="rejected")
    project.write("lost.py", text="nothing\n" * 9)
    done = run_vibes("gate", "--sarif", cwd=project.root)
    assert done.code == 1
    jsonschema.validate(done.json, sarif_schema.load())
    results = done.json["runs"][0]["results"]
    found = [
        (
            each["ruleId"],
            each["level"],
            each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        )
        for each in results
    ]
    assert found == [
        ("gate-block", "error", "a.py"), ("gate-rejected", "error", "e.py"), ("gate-flag", "warning", "c.py"), ("gate-lost", "note", "lost.py"),
    ]  # fmt: skip
    assert results[0]["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 4,
        "endLine": 7,
    }
    rules = [rule["id"] for rule in done.json["runs"][0]["tool"]["driver"]["rules"]]
    assert [rules[each["ruleIndex"]] for each in results] == [each["ruleId"] for each in results]


def test_one_form_at_a_time(project: GateProject, run_vibes: RunVibes) -> None:
    done = run_vibes("gate", "--json", "--sarif", cwd=project.root)
    assert (done.code, done.out) == (2, "")


def test_stored_scores_count_when_asked_for_and_when_there_are_no_others(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.policy(review_rules=[])
    factors = [{"signal": "temperature", "value": 0.95, "weight": 0.15}]
    identifier = project.write(risky=False, risk_score=0.91, risk_factors=factors)
    assert told(run_vibes, project)["result"] == "PASS"
    found = told(run_vibes, project, "--stored")
    assert (found["result"], found["items"][0]["band"], found["items"][0]["score"]) == (
        "FAIL",
        "critical",
        None,
    )
    project.policy(review_rules=[], algorithm="our-own")
    assert told(run_vibes, project)["result"] == "FAIL"
    project.policy(
        review_rules=[{"condition": "temperature.value > 0.9", "action": "block"}],
        thresholds={"critical": 0.99},
    )
    assert told(run_vibes, project)["result"] == "PASS"
    assert told(run_vibes, project, "--stored")["result"] == "FAIL"
    project.review(identifier)
    assert told(run_vibes, project, "--stored")["result"] == "PASS"


def test_a_stored_value_that_is_too_large_for_a_number_is_a_high_one(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.policy(review_rules=[{"condition": "temperature.value > 0.9", "action": "block"}])
    project.write(risk_factors=[{"signal": "temperature", "value": 10**400, "weight": 0.15}])
    assert told(run_vibes, project, "--stored")["items"][0]["decision"] == "block"


def test_without_git_the_work_tree_is_gated_and_a_base_refused(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    project = GateProject(tmp_path / "project")
    project.write()
    (project.root / ".git").rename(tmp_path / "git")
    assert told(run_vibes, project)["result"] == "FAIL"
    done = run_vibes("gate", "--base", "HEAD", cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
