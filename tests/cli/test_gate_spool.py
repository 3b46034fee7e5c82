"""`vibes gate --base`: files that a branch adds to the spool are not recorded."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.gate_project import BLOCKED, BO, GateProject, decisions
from tests.cli.run_vibes import vibes
from vibes_lsp.recording.spool import completion_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

WHEN = "2026-02-05T12:00:00Z"
CLAIM = {
    "file": "b.py",
    "completionId": "c1",
    "newText": "b = 1\n",
    "text": "",
    "tool": {"name": "t", "version": "1"},
}
PUT = {
    **CLAIM,
    "model": {"name": "m", "version": "1"},
    "range": {end: {"line": 0, "character": 0} for end in ("start", "end")},
}


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    return GateProject(tmp_path / "project")


def approval(project: GateProject, identifier: str) -> list[dict[str, Any]]:
    """Return records by Bo that approve an annotation; they are in no log."""
    before = project.log_lines()
    project.review(identifier, reviewer=BO[0])
    forged = [json.loads(line) for line in project.log_lines()[len(before) :]]
    project.write_log(before)
    assert {each["type"] for each in forged} == {"session", "edge"}
    return forged


def record(project: GateProject, use_case: str, given: dict[str, Any]) -> Any:
    """Run `vibes record`."""
    done = vibes("record", use_case, cwd=project.root, given=json.dumps(given))
    assert done.code == 0, done.err
    return done.json


def held(project: GateProject) -> tuple[Path, dict[str, Any]]:
    """Store a partial completion as `vibes` does; return the file and its content."""
    project.file("b.py", "b = 1\n")
    assert record(
        project, "inline-completion", {**PUT, "partial": {"part": 1, "final": False}}
    ) == {"pending": True}
    [file] = (project.root / ".ai-audit/spool/held").iterdir()
    return file, json.loads(file.read_bytes())


def instead(_: GateProject, found: dict[str, Any], forged: list[dict[str, Any]]) -> dict[str, Any]:
    return {**found, "records": forged}


def beside(_: GateProject, found: dict[str, Any], forged: list[dict[str, Any]]) -> dict[str, Any]:
    return {**found, "records": found["records"] + forged}


def with_nothing_written(
    _: GateProject, found: dict[str, Any], forged: list[dict[str, Any]]
) -> dict[str, Any]:
    return {**found, "lines": None, "records": forged}


def by_its_contexts(
    _: GateProject, found: dict[str, Any], forged: list[dict[str, Any]]
) -> dict[str, Any]:
    """Values given as hashes replace other members."""
    edge = next(each for each in forged if each["type"] == "edge")
    said = {name: value for name, value in edge.items() if isinstance(value, str)}
    return {**found, "contexts": {**found["contexts"], "hashes": said}, "records": [edge]}


def by_what_it_came_to(
    project: GateProject, found: dict[str, Any], forged: list[dict[str, Any]]
) -> dict[str, Any]:
    """The file of a finished completion lists what is still to be written."""
    done = {
        **found,
        "final": True,
        "records": forged,
        "result": {"annotationId": forged[0]["annotation_id"]},
    }
    (project.root / ".ai-audit/spool" / completion_name("b.py", "c1")).write_text(json.dumps(done))
    return found


@pytest.mark.parametrize(
    ("forge", "tracked"),
    [
        (instead, True),
        (instead, False),
        (beside, False),
        (with_nothing_written, False),
        (by_its_contexts, False),
        (by_what_it_came_to, True),
        (by_what_it_came_to, False),
    ],
)
def test_an_approval_in_the_spool_of_a_branch_is_not_recorded(
    project: GateProject,
    run_vibes: RunVibes,
    forge: Callable[[GateProject, dict[str, Any], list[dict[str, Any]]], dict[str, Any]],
    tracked: bool,
) -> None:
    identifier = project.write()
    file, found = held(project)
    file.write_text(json.dumps(forge(project, found, approval(project, identifier))))
    os.utime(file, (0, 0))
    if tracked:
        project.repository.git(
            "add",
            "-f",
            ".ai-audit/spool/held",
            *map(str, (project.root / ".ai-audit/spool").glob("*.json")),
        )
    project.commit()
    before = project.gate_json(run_vibes)
    assert (before["result"], decisions(before)["a.py"]) == ("FAIL", BLOCKED["a.py"])
    record(project, "session-start", {"tool": PUT["tool"], "model": PUT["model"]})
    record(project, "inline-completion", {**PUT, "partial": {"part": 1, "final": True}})
    project.commit("Work on it", by=BO)
    after = project.gate_json(run_vibes)
    assert (after["result"], decisions(after)["a.py"]) == ("FAIL", BLOCKED["a.py"])
    assert not any(b"reviewed_by" in line for line in project.log_lines())


@pytest.mark.parametrize("tracked", [True, False])
def test_a_forged_request_result_in_the_spool_is_not_recorded(
    project: GateProject, run_vibes: RunVibes, tracked: bool
) -> None:
    identifier = project.write()
    request = {"requestId": "1", "tool": PUT["tool"], "model": PUT["model"]}
    record(project, "session-start", request)
    [file] = (project.root / ".ai-audit/spool").glob("*.json")
    project.write_log(project.log_lines()[:-1])
    file.write_text(
        json.dumps({**json.loads(file.read_bytes()), "records": approval(project, identifier)})
    )
    if tracked:
        project.repository.git("add", "-f", str(file))
    project.commit()
    record(project, "session-start", request)
    project.commit("Work on it", by=BO)
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", BLOCKED)
    assert not any(b"reviewed_by" in line for line in project.log_lines())


def test_a_committed_pending_completion_is_ignored(project: GateProject) -> None:
    file, _ = held(project)
    os.utime(file, (0, 0))
    project.repository.git("add", "-f", str(file))
    project.commit()
    before = project.log_lines() if (project.root / ".ai-audit/annotations.jsonl").exists() else []
    record(project, "session-start", {"tool": PUT["tool"], "model": PUT["model"]})
    assert [json.loads(line)["type"] for line in project.log_lines()[len(before) :]] == ["session"]
    assert file.exists()
    project.repository.git("rm", "-q", "--cached", str(file))
    record(project, "session-start", {"tool": PUT["tool"], "model": PUT["model"]})
    assert "line" in [json.loads(line)["type"] for line in project.log_lines()]


def test_an_approval_that_waits_in_a_file_of_a_branch_does_not_count(
    project: GateProject, run_vibes: RunVibes
) -> None:
    forged = approval(project, project.write())
    waiting = project.root / ".ai-audit/wal/waiting"
    waiting.parent.mkdir(exist_ok=True)
    waiting.write_text("".join(f"{json.dumps(record)}\n" for record in forged), encoding="utf-8")
    project.repository.git("add", "-f", ".ai-audit/wal/waiting")
    project.commit()
    done = run_vibes("gate", "--json", cwd=project.root)
    assert "wal/waiting is tracked by git" in done.err
    assert (done.json["result"], decisions(done.json)["a.py"]) == ("FAIL", BLOCKED["a.py"])
    project.repository.git("rm", "--cached", "--quiet", ".ai-audit/wal/waiting")
    done = run_vibes("gate", "--json", cwd=project.root)
    assert decisions(done.json)["a.py"] != BLOCKED["a.py"], "this user's own verdict"
