"""`vibes gate --base`: what is gated and by which policy; a branch cannot change policy or records."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.gate_project import BLOCKED, RULES, GateProject, checks, decisions
from tests.server.project import STORY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    return GateProject(tmp_path / "project")


def policy_changes(told: Any) -> dict[str, str]:
    return {
        each["field"]: each["severity"]
        for each in told["findings"]
        if each["check"] in {"base-policy", "base-level"}
    }


def test_only_files_of_the_change_are_gated(project: GateProject, run_vibes: RunVibes) -> None:
    project.write("old.py")
    project.base = project.commit()
    project.write("new.py")
    project.commit()
    project.write("unsaved.py", risky=False)
    found = project.gate_json(run_vibes)
    assert (found["result"], found["base"]) == ("FAIL", project.base)
    assert [(each["check"], each["severity"], each["message"]) for each in found["findings"]] == [
        ("gate-worktree", "note", "2 lines are not committed")
    ]
    assert decisions(found) == {"new.py": ("block", False), "unsaved.py": ("flag", False)}
    assert decisions(project.gate_json(run_vibes, "unsaved.py", "old.py")) == {
        "unsaved.py": ("flag", False)
    }


def test_a_file_that_was_only_touched_is_not_gated(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write("old.py")
    project.write("edited.py")
    project.base = project.commit()
    os.utime(project.root / "old.py", (0, 0))
    assert decisions(project.gate_json(run_vibes)) == {}
    project.file("edited.py", f"# new\n{STORY}")
    assert decisions(project.gate_json(run_vibes)) == {"edited.py": ("block", False)}


def test_a_branch_is_judged_by_what_it_added_and_by_the_base_as_it_is_now(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.policy(review_rules=[])
    project.base = project.commit("Without rules")
    project.repository.switch("side", create=True)
    project.write("side.py")
    project.commit("On the side")
    project.repository.switch("main")
    project.policy()
    project.write("main.py")
    project.commit("Rules, and more code, on main")
    project.repository.switch("side")
    project.base = "main"
    found = project.gate_json(run_vibes)
    assert decisions(found) == {"side.py": ("block", False)}
    assert checks(found) == set(), "the branch changed nothing of the policy"


def test_what_came_to_another_file_is_gated_there(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write()
    project.base = project.commit()
    project.repository.git("mv", "a.py", "b.py")
    project.commit("Rename")
    assert decisions(project.gate_json(run_vibes)) == {"b.py": ("block", False)}


@pytest.mark.parametrize("folder", [False, True])
def test_a_link_in_the_place_of_a_file_does_not_hide_it(
    project: GateProject, run_vibes: RunVibes, folder: bool
) -> None:
    project.write("src/a.py")
    project.base = project.commit()
    (project.root / "elsewhere").mkdir()
    (project.root / "src/a.py").rename(project.root / "elsewhere/a.py")
    if folder:
        (project.root / "src").rmdir()
        (project.root / "src").symlink_to("elsewhere")
    else:
        (project.root / "src/a.py").symlink_to("../elsewhere/a.py")
    project.commit("Link")
    found = project.gate_json(run_vibes)
    assert found["result"] == "FAIL"
    assert decisions(found)["src/a.py"] == ("block", False)


def test_code_recorded_after_it_was_merged_is_gated(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.file("a.py")
    project.base = project.commit("Code without a record")
    project.write()
    project.commit("Its record")
    assert decisions(project.gate_json(run_vibes)) == BLOCKED


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"review_rules": []}, "risk_scoring.review_rules"),
        ({"review_rules": [{**RULES[0], "action": "flag"}]}, "risk_scoring.review_rules"),
        (
            {"review_rules": [{**RULES[0], "condition": "temperature >"}]},
            "risk_scoring.review_rules",
        ),
        ({"thresholds": {"critical": 1}}, "risk_scoring.thresholds.critical"),
        ({"weights": {"temperature": 0}}, "risk_scoring.weights.temperature"),
        ({"baselines": {"scope_files": 10_000}}, "risk_scoring.baselines.scope_files"),
        ({"capability_tiers": {"*": "frontier"}}, "risk_scoring.capability_tiers.*"),
        ({"algorithm": "none"}, "risk_scoring.algorithm"),
        ({"excluded": ["a.py"]}, "exclude_patterns"),
        ({"excluded": ["*", "!b.py"]}, "exclude_patterns"),
        ({"tracked": [".ts"]}, "tracked_extensions"),
        ({"enabled": False}, "risk_scoring.enabled"),
        ({"level": "low"}, "assurance_level"),
    ],
)
def test_a_looser_policy_is_found_and_not_used(
    project: GateProject, run_vibes: RunVibes, change: dict[str, Any], field: str
) -> None:
    project.write()
    project.policy(**change)
    project.commit()
    found = project.gate_json(run_vibes)
    assert decisions(found) == BLOCKED
    assert policy_changes(found).items() >= {field: "error"}.items()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (
            {"review_rules": [*RULES, {"condition": "scope_lines > 9", "action": "block"}]},
            "risk_scoring.review_rules",
        ),
        ({"thresholds": {"critical": 0.7}}, "risk_scoring.thresholds.critical"),
        ({"excluded": []}, "exclude_patterns"),
        ({"tracked": [".py", ".ts"]}, "tracked_extensions"),
        ({"level": "high"}, "assurance_level"),
    ],
)
def test_a_stricter_policy_is_a_note(
    project: GateProject, run_vibes: RunVibes, change: dict[str, Any], field: str
) -> None:
    project.policy(excluded=["gen/"], tracked=[".py"])
    project.reasoning("Because it has to be hashed.")
    project.base = project.commit()
    project.policy(**{"excluded": ["gen/"], "tracked": [".py"], **change})
    project.write(risky=False)
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], policy_changes(found)) == ("PASS", {field: "note"})


def test_a_loosening_alone_fails(project: GateProject, run_vibes: RunVibes) -> None:
    project.policy(thresholds={"critical": 0.9})
    project.commit()
    assert project.gate_json(run_vibes)["result"] == "FAIL"


@pytest.mark.parametrize("spoil", ["removed", "broken", "linked"])
def test_a_removed_policy_is_found_and_the_base_used(
    project: GateProject, run_vibes: RunVibes, spoil: str
) -> None:
    project.write()
    config = project.root / ".ai-audit/config.json"
    lax = config.read_text().replace('"enabled": true', '"enabled": false')
    config.unlink()
    if spoil == "broken":
        config.write_text("{")
    if spoil == "linked":
        (project.root / "lax.json").write_text(lax)
        config.symlink_to("../lax.json")
    project.commit()
    found = project.gate_json(run_vibes)
    assert decisions(found) == BLOCKED
    assert checks(found, "error") >= ({"base-file"} if spoil == "linked" else {"base-policy"})


def test_a_link_does_not_change_what_is_read_of_the_base(
    project: GateProject, run_vibes: RunVibes
) -> None:
    (project.root / "lax.json").write_text(json.dumps({"risk_scoring": {"enabled": True}}))
    (project.root / "empty.jsonl").write_text("")
    project.write()
    project.base = project.commit()
    for name, target in (("config.json", "lax.json"), ("annotations.jsonl", "empty.jsonl")):
        (project.root / ".ai-audit" / name).unlink()
        (project.root / ".ai-audit" / name).symlink_to(f"../{target}")
    project.commit()
    assert checks(project.gate_json(run_vibes), "error") >= {
        "base-file",
        "base-policy",
        "base-record",
    }


def test_a_base_without_prism_cannot_be_gated_by(project: GateProject, run_vibes: RunVibes) -> None:
    project.policy(enabled=False)
    project.base = project.commit()
    project.policy()
    project.commit()
    done = project.gate(run_vibes)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"vibes: PRISM is off in .ai-audit/config.json at {project.base}")


@pytest.mark.parametrize("base", ["nowhere", "--output=x", "HEAD~99", ""])
def test_a_base_that_names_no_commit(project: GateProject, run_vibes: RunVibes, base: str) -> None:
    done = run_vibes("gate", "--base", base, cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "names no commit here" in done.err


def test_removed_records_are_found(project: GateProject, run_vibes: RunVibes) -> None:
    project.write("old.py")
    project.base = project.commit()
    project.write_log([])
    project.file("a.py")
    project.commit("Begin the log anew")
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found)) == ("FAIL", {"base-record"})


def test_a_record_that_was_changed_is_found(project: GateProject, run_vibes: RunVibes) -> None:
    project.write()
    project.base = project.commit()
    project.write_log(
        [
            line.replace(project.risky.encode(), project.calm.encode())
            for line in project.log_lines()
        ]
    )
    project.file("a.py", STORY + "x = 1\n")
    project.commit()
    assert checks(project.gate_json(run_vibes), "error") == {
        "base-record",
        "annotation-id-mismatch",
    }


def test_a_record_that_the_branch_adds_and_removes_is_found(
    project: GateProject, run_vibes: RunVibes
) -> None:
    before = project.log_lines() if (project.root / ".ai-audit/annotations.jsonl").exists() else []
    project.write()
    project.commit()
    project.write_log(before)
    project.commit("Forget it")
    found = project.gate_json(run_vibes)
    assert (found["result"], found["items"], checks(found, "error")) == (
        "FAIL",
        [],
        {"base-record"},
    )


def test_a_missing_trail_does_not_pass(project: GateProject, run_vibes: RunVibes) -> None:
    project.write()
    project.repository.git("rm", "-r", "--quiet", "--cached", ".ai-audit")
    (project.root / ".ai-audit").rename(project.root.parent / "gone")
    assert project.gate(run_vibes).code == 2
