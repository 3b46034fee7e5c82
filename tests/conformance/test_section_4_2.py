"""RFC 4.2: which files of the trail git should track."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    LOG,
    check_project,
    finding_fields,
    finding_locations,
    severities,
)
from tests.trails import AUDIT_DIR, CompleteTrail, Repository, complete


@pytest.fixture
def repository(trail: CompleteTrail) -> Repository:
    """The trail's project as a repository in which nothing is committed yet."""
    return Repository(trail.root)


def report_findings(repository: Repository) -> set[str]:
    return {
        check
        for check, _ in finding_fields(check_project(repository.path))
        if check.startswith("git-")
    }


@rfc_reader("4.2", "SHOULD", "a manifest, log or policy that git is told to ignore is reported")
@pytest.mark.parametrize("name", ["manifest.json", "annotations.jsonl", "config.json"])
def test_an_ignored_file_of_the_trail_is_reported(repository: Repository, name: str) -> None:
    assert not report_findings(repository)
    repository.write(".gitignore", f"{name}\n")
    assert finding_locations(check_project(repository.path), "git-ignored") == [
        (f"{AUDIT_DIR}/{name}", None)
    ]
    repository.git("add", "--force", f"{AUDIT_DIR}/{name}")
    assert not report_findings(repository)


@rfc_reader("4.2", "SHOULD NOT", "a query database that git tracks is reported")
def test_a_tracked_database_is_reported(repository: Repository) -> None:
    repository.write(f"{AUDIT_DIR}/audit.db", b"SQLite format 3\0")
    repository.commit("Everything but the database")
    assert not report_findings(repository)
    repository.git("add", "--force", f"{AUDIT_DIR}/audit.db")
    assert finding_locations(check_project(repository.path), "git-derived") == [
        (f"{AUDIT_DIR}/audit.db", None)
    ]


@rfc_reader("4.2", "MAY", "missing blobs that git ignores are a note, not an error")
def test_blobs_may_be_left_out_of_git(trail: CompleteTrail, repository: Repository) -> None:
    for blob in (trail.root / AUDIT_DIR / "blobs").iterdir():
        blob.unlink()
    assert severities(check_project(trail.root), "blob-missing") == {"error"}
    repository.write(".gitignore", "blobs/\n")
    report = check_project(trail.root)
    assert severities(report, "blob-missing") == {"note"}
    assert report.passed


@rfc_reader(
    "4.2", "SHOULD", "an audit directory whose `.gitignore` does not name `audit.db` is reported"
)
@pytest.mark.parametrize(
    "content", [None, "", "*.lock\nwal/\nspool/\n"], ids=["absent", "empty", "without"]
)
def test_a_gitignore_without_the_database_is_reported(
    repository: Repository, content: str | None
) -> None:
    path = repository.path / AUDIT_DIR / ".gitignore"
    path.unlink()
    if content is not None:
        path.write_text(content, encoding="utf-8")
    (finding,) = (
        each for each in check_project(repository.path).findings if each.check.id == "git-ignore"
    )
    assert "audit.db" in finding.message
    assert finding.file == f"{AUDIT_DIR}/.gitignore"


@rfc_reader("4.2", "stated", "a project without git is read like any other")
def test_nothing_is_said_about_git_outside_a_repository(tmp_path: Path) -> None:
    root = complete(tmp_path).root
    (root / AUDIT_DIR / ".gitignore").unlink()
    report = check_project(root)
    assert not report.findings
    assert report.records["line"] == (root / LOG).read_bytes().count(b'"type":"line"')
