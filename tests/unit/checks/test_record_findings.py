"""Findings about single records: members, timestamps, ids and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.trails import OMIT, SOURCES
from tests.unit.checks.projects import LOG, NOW, Project, Seen

if TYPE_CHECKING:
    from collections.abc import Callable

EARLIER = "2026-02-03T09:01:30Z"
"""After the last change of the sources, before HEAD."""


@pytest.mark.parametrize(
    ("members", "field", "message"),
    [
        ({"line_end": OMIT}, "line_end", "line_end: is required"),
        ({"line_end": 0}, "line_end", "line_end: expected at least 1"),
        ({"line_end": "2"}, "line_end", "line_end: expected an integer"),
        ({"line_start": 3}, "line_end", "line_end: the range ends before it starts"),
        ({"file_path": ""}, "file_path", "file_path: expected a non-empty string"),
        (
            {"assurance_level": "total"},
            "assurance_level",
            "assurance_level: expected low, medium or high",
        ),
        (
            {
                "risk_score": 0.5,
                "risk_factors": [{"signal": "temperature", "value": 2, "weight": 0.1}],
            },
            "risk_factors.0.value",
            "risk_factors.0.value: expected at most 1",
        ),
    ],
)
def test_record_field(project: Project, members: dict[str, Any], field: str, message: str) -> None:
    project.line(**members)
    assert project.seen() == [Seen("record-field", "error", LOG, 26, field, message)]


def test_a_record_without_a_type_is_a_finding_and_one_of_an_unknown_type_is_none(
    project: Project,
) -> None:
    project.writer.record({"type": "telemetry", "anything": 1})
    project.writer.record({"timestamp": project.writer.now()})
    assert project.seen() == [Seen("record-field", "error", LOG, 27, "type", "type: is required")]
    assert project.report().records["other"] == 2


@pytest.mark.parametrize("timestamp", ["yesterday", "2026-02-03", "1770112800"])
def test_timestamp(project: Project, timestamp: str) -> None:
    project.writer.informed(project.trail.created, project.trail.read_command, timestamp=timestamp)
    message = "timestamp: expected an ISO 8601 date and time"
    assert project.seen() == [Seen("timestamp", "error", LOG, 26, "timestamp", message)]


def test_timestamp_future(project: Project) -> None:
    project.writer.informed(
        project.trail.created, project.trail.read_command, timestamp="2026-02-05T12:00:00Z"
    )
    message = "timestamp 2026-02-05T12:00:00Z is in the future"
    assert project.seen() == [Seen("timestamp-future", "warning", LOG, 26, "timestamp", message)]


def test_a_clock_that_is_a_day_ahead_at_most_is_no_finding(project: Project) -> None:
    assert NOW.isoformat() == "2026-02-03T12:00:00+00:00"
    project.writer.informed(
        project.trail.created, project.trail.read_command, timestamp="2026-02-04T12:00:00Z"
    )
    assert project.seen() == []


def test_annotation_id_absent(project: Project) -> None:
    project.writer.informed(project.trail.created, project.trail.read_command)
    project.writer.edge(
        "informed_by", project.trail.modified, project.trail.command, annotation_id=OMIT
    )
    message = "1 of 27 records have no annotation_id"
    assert project.seen() == [
        Seen("annotation-id-absent", "warning", LOG, 27, "annotation_id", message)
    ]
    assert project.report().annotation_ids["absent"] == 1


def test_annotation_id_variant(project: Project) -> None:
    project.line(text=SOURCES["src/auth.py"], id_variant="less-anchors")
    message = "1 of 27 annotation_ids match only as less-anchors"
    assert project.seen() == [
        Seen("annotation-id-variant", "warning", LOG, 26, "annotation_id", message)
    ]


def test_annotation_id_mismatch(project: Project) -> None:
    project.line(annotation_id="0" * 64)
    message = "annotation_id does not match this record in any known variant"
    assert project.seen() == [
        Seen("annotation-id-mismatch", "error", LOG, 26, "annotation_id", message)
    ]
    report = project.report()
    assert (report.annotation_ids["mismatch"], report.passed) == (1, False)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/home/someone/other/lib.py", "1 absolute"),
        ("C:\\Users\\someone\\lib.py", "1 absolute"),
        ("../other/lib.py", "1 outside the project"),
        ("x/" * 5_000 + "lib.py", "1 too long"),
        ("src/gone.py", "1 missing"),
        ("src/two\nlines.py", "1 missing"),
    ],
)
def test_path_foreign(project: Project, path: str, reason: str) -> None:
    project.line(path)
    message = f"not in this checkout: 1 annotation in 1 file ({reason})"
    assert project.seen() == [Seen("path-foreign", "note", LOG, 26, "file_path", message)]


def test_all_foreign_paths_are_one_finding_at_the_first(project: Project) -> None:
    for path in ("src/gone.py", "src/gone.py", "/home/someone/lib.py"):
        project.line(path)
    message = "not in this checkout: 3 annotations in 2 files (1 absolute, 1 missing)"
    assert project.seen() == [Seen("path-foreign", "note", LOG, 26, "file_path", message)]


@pytest.mark.parametrize("path", ["docs/plan.md", "src/vendor/lib.py"])
def test_path_untracked(project: Project, path: str) -> None:
    project.repository.write(path, "one\ntwo\n")
    project.line(path)
    message = "not tracked by the project: 1 annotation in 1 file"
    assert project.seen() == [Seen("path-untracked", "note", LOG, 26, "file_path", message)]


def test_level_below_policy(project: Project) -> None:
    project.line(assurance_level="low")
    message = "1 annotation is below the project's assurance level medium"
    assert project.seen() == [
        Seen("level-below-policy", "warning", LOG, 26, "assurance_level", message)
    ]


def test_a_level_above_the_policy_is_no_finding(project: Project) -> None:
    project.line(assurance_level="high")
    assert project.seen() == []


def test_commit_unknown(project: Project) -> None:
    project.line(commit_hash=None, timestamp=EARLIER)
    message = "the commit of 1 annotation is neither recorded nor derivable"
    assert project.seen() == [Seen("commit-unknown", "warning", LOG, 26, "commit_hash", message)]


@pytest.mark.parametrize("timestamp", ["2026-02-03T09:02:00Z", "2026-02-03T11:00:00Z"])
def test_an_annotation_newer_than_head_waits_for_its_commit(
    project: Project, timestamp: str
) -> None:
    assert project.repository.git("show", "-s", "--format=%cI") == "2026-02-03T09:02:00+00:00"
    project.line(commit_hash=None, timestamp=timestamp)
    message = "1 annotation is newer than HEAD and not committed yet"
    assert project.seen() == [Seen("commit-unknown", "note", LOG, 26, "commit_hash", message)]


def commit_the_log(project: Project) -> None:
    project.repository.commit("Record")


def change_the_file(project: Project) -> None:
    project.repository.write("src/auth.py", SOURCES["src/auth.py"] + "\n\nNEW = True\n")
    project.repository.git(
        "commit", "--quiet", "--message", "Edit", "src/auth.py", date="2026-02-03T11:30:00+00:00"
    )


@pytest.mark.parametrize("derivable", [commit_the_log, change_the_file])
def test_a_derivable_commit_is_no_finding(
    project: Project, derivable: Callable[[Project], None]
) -> None:
    project.line(commit_hash=None)
    derivable(project)
    assert project.seen() == []


def test_without_a_repository_no_commit_can_be_derived(project: Project) -> None:
    (project.root / ".git").rename(project.root / "not-git")
    project.line(commit_hash=None)
    message = "1 annotation has no commit, and it cannot be derived: there is no git repository"
    assert project.seen() == [Seen("commit-unknown", "note", LOG, 26, "commit_hash", message)]
