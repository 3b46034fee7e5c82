"""Reviews and records that git history contradicts are never shown as AI code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.records_without_code import FILE, KINDS, LATE, project_with_record
from tests.server.project import STORY, Project
from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def project(tmp_path: Path, kind: str) -> Project:
    return project_with_record(tmp_path / "project", kind)[0]


def told(run_vibes: RunVibes, project: Project, *arguments: str) -> Any:
    done = run_vibes(*arguments, "--json", cwd=project.root)
    assert (done.code, done.err) == (0, "")
    return done.json


def test_it_owns_no_line_and_counts_in_no_share(project: Project, run_vibes: RunVibes) -> None:
    blame = told(run_vibes, project, "blame", FILE)
    assert (blame["lines"], [each["ownedRanges"] for each in blame["placements"]]) == ([], [[]])
    parts = {"verifiedLines": 0, "claimedLines": 0, "editedLines": 0, "share": 0.0}
    assert told(run_vibes, project, "stats", "--by", "file")["total"] == {"lines": 13, **parts}
    survival = told(run_vibes, project, "stats", "--survival")["survival"]["total"]
    assert (survival["lines"], survival["intactLines"], survival["share"]) == (0, 0, None)
    (project.root / "b.py").write_text(STORY)
    diff = told(run_vibes, project, "diff")["total"]
    assert (diff["changedLines"], diff["verifiedLines"], diff["claimedLines"]) == (13, 0, 0)


def test_blame_describes_it_below_the_text(
    project: Project, run_vibes: RunVibes, kind: str
) -> None:
    lines = run_vibes("blame", FILE, cwd=project.root).lines
    assert len(lines) == STORY.count("\n") + 1
    said = {"review": "review: ", "contradicted": "its text was in git before it was recorded"}
    assert said[kind] in lines[-1]


def test_it_is_not_in_the_review_queue(project: Project, run_vibes: RunVibes) -> None:
    assert told(run_vibes, project, "review")["placements"] == []
    assert told(run_vibes, project, "find", "--unreviewed")["placements"] == []
    assert "nothing to review" in run_vibes("review", "--list", cwd=project.root).out


@pytest.mark.parametrize("flags", [(), ("--base", "HEAD~1"), ("--stored",)])
def test_it_is_not_gated(project: Project, run_vibes: RunVibes, flags: tuple[str, ...]) -> None:
    Repository(project.root).commit("The record", date=LATE)
    found = told(run_vibes, project, "gate", *flags)
    assert (found["result"], found["items"], found["findings"]) == ("PASS", [], [])


@pytest.mark.parametrize("scope", ["file", "range", "prompt"])
def test_a_review_of_the_lines_around_does_not_include_it(
    project: Project, run_vibes: RunVibes, scope: str
) -> None:
    real = project.line(
        FILE,
        10,
        13,
        text=STORY,
        prompt=project.prompt("Change it."),
        timestamp="2026-02-03T08:59:00Z",
    )
    given: dict[str, Any] = {"verdict": "approved", "file": FILE, "scope": scope}
    if scope == "range":
        given = {"verdict": "approved", "file": FILE, "lineStart": 1, "lineEnd": 13}
    elif scope == "prompt":
        given = {"verdict": "approved", "annotationIds": [real], "scope": scope}
    (project.root / "given.json").write_text(json.dumps(given))
    done = run_vibes("record", "review", "--input", "given.json", cwd=project.root)
    assert done.code == 0, done.err
    assert done.json["reviewed"] == [real]


def test_find_lists_no_reviews_and_says_why_others_are_unverified(
    project: Project, run_vibes: RunVibes, kind: str
) -> None:
    done = run_vibes("find", cwd=project.root)
    if kind == "review":
        assert done.lines[-1] == "no annotations found"
    else:
        assert done.lines[-1] == "1 unverified: its text was in git before it was recorded"


def test_what_history_contradicts_is_not_exported(tmp_path: Path, run_vibes: RunVibes) -> None:
    project, _ = project_with_record(tmp_path / "project", "contradicted", action="create")
    real = project.line(FILE, 4, 5, text=STORY, action="create", timestamp="2026-02-03T08:59:00Z")
    done = run_vibes("export", "--current", str(tmp_path / "current"), "--json", cwd=project.root)
    assert (done.json["leftOut"]["contradicted"], done.json["records"]["line"]) == (1, 1)
    records = [
        json.loads(line)
        for line in (tmp_path / "current/.ai-audit/annotations.jsonl").read_text().splitlines()
    ]
    assert [each["annotation_id"] for each in records if each["type"] == "line"] == [real]


def test_a_review_is_found_by_its_id_in_the_log_and_with_what_it_is_of(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    project, review = project_with_record(tmp_path / "project", "review")
    code = project.line(FILE, 4, 7, text=STORY, risk_score=0.2, timestamp="2026-02-03T08:59:00Z")
    project.edge("reviewed_by", code, review, target_type="annotation")
    assert told(run_vibes, project, "show", review)["record"]["action"] == "review"
    assert review[:8] in run_vibes("log", cwd=project.root).out
    (found,) = told(run_vibes, project, "find")["placements"]
    assert (found["annotationId"], found["ownedRanges"] != [], found["review"]["kind"]) == (
        code,
        True,
        "unknown",
    )
    gate = run_vibes("gate", "--json", cwd=project.root)
    assert (gate.code, [each["annotationId"] for each in gate.json["items"]]) == (1, [code])

    done = run_vibes("export", "--current", str(tmp_path / "current"), cwd=project.root)
    assert done.code == 0, done.err
    records = [
        json.loads(line)
        for line in (tmp_path / "current/.ai-audit/annotations.jsonl").read_text().splitlines()
    ]
    columns, *standing = records
    assert columns["type"] == "columns", "its type is not the standard's, and no query counts it"
    risk = [each["risk_score"] for each in standing if each.get("risk_score") is not None]
    assert risk == [0.2], "sums of risk count code alone"
    (edge,) = [
        each for each in records if each["type"] == "edge" and each["edge_type"] == "reviewed_by"
    ]
    assert edge["source_ref"] == code
    assert edge["target_ref"] in {each["annotation_id"] for each in records}


@pytest.mark.parametrize("reason", ["covers", None])
def test_a_review_replaces_no_edit(tmp_path: Path, run_vibes: RunVibes, reason: str | None) -> None:
    project, review = project_with_record(tmp_path / "project", "review")
    code = project.line(FILE, 4, 7, text=STORY, risk_score=0.9, timestamp="2026-02-03T08:59:00Z")
    project.edge(
        "supersedes",
        review,
        code,
        target_type="annotation",
        metadata={} if reason is None else {"reason": reason},
    )
    assert [
        each["annotationId"] for each in run_vibes("gate", "--json", cwd=project.root).json["items"]
    ] == [code]
    assert {each["annotationId"] for each in told(run_vibes, project, "blame", FILE)["lines"]} == {
        code
    }
