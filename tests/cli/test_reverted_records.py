"""Records that `git revert` took away together with their code are notes; all others stay errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.trails import Repository
from tests.unit.recording.projects import PROMPT, Project, new_project
from tests.unit.recording.request_builders import review_request
from vibes_lsp.recording import RecordPrompt

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

BASE = "import sys\n"
CODE = "import sys\n\n\ndef compute(value):\n    return value * 17 + 4\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


@pytest.fixture
def repository(project: Project) -> Repository:
    """A repository whose second commit is an AI's code with its records."""
    project.file("b.py", BASE)
    repository = Repository(project.root)
    repository.commit("base")
    session = project.session()
    project.recorder.execute(RecordPrompt(session_id=session, prompt=PROMPT))
    project.file("b.py", CODE)
    project.annotate(session, 4, 5, path="b.py")
    project.recorder.close()
    repository.commit("code of an AI")
    return repository


def findings(project: Project, run_vibes: RunVibes, base: str) -> list[tuple[str, str, str]]:
    """Return the findings of a comparison with a base: check, severity and message."""
    done = run_vibes("check", "--base", base, "--json", cwd=project.root)
    found: list[dict[str, Any]] = json.loads(done.out)["findings"]
    return [
        (each["check"], each["severity"], each["message"])
        for each in found
        if each["check"] in {"base-record", "base-entry"}
    ]


@pytest.mark.parametrize("base", ["HEAD~1", "HEAD~2"])
def test_a_revert_is_a_note(
    project: Project, repository: Repository, run_vibes: RunVibes, base: str
) -> None:
    reverted = repository.head()
    repository.git("revert", "--no-edit", "HEAD")
    found = findings(project, run_vibes, base)
    assert {check for check, _, _ in found} == {"base-record", "base-entry"}
    assert {severity for _, severity, _ in found} == {"note"}
    for _, _, message in found:
        assert f"reverts {reverted[:8]} with its code" in message
    assert run_vibes("gate", "--base", base, cwd=project.root).code != 1


def test_a_revert_with_later_changes_of_the_file_is_a_note(
    project: Project, repository: Repository, run_vibes: RunVibes
) -> None:
    repository.write("b.py", CODE.replace("import sys", "import os\nimport sys"))
    repository.commit("a person's line")
    repository.git("revert", "--no-edit", "HEAD~1")
    assert {severity for _, severity, _ in findings(project, run_vibes, "HEAD~2")} == {"note"}


def test_records_whose_code_stands_are_errors(
    project: Project, repository: Repository, run_vibes: RunVibes
) -> None:
    reverted = repository.head()
    repository.git("checkout", "HEAD~1", "--", ".ai-audit")
    repository.commit(f'Revert "code of an AI"\n\nThis reverts commit {reverted}.')
    assert {severity for _, severity, _ in findings(project, run_vibes, "HEAD~1")} == {"error"}


def test_records_that_came_with_another_commit_are_errors(
    project: Project, repository: Repository, run_vibes: RunVibes
) -> None:
    repository.write("c.py", "c = 1\n")
    other = repository.commit("another commit")
    repository.git("checkout", "HEAD~2", "--", ".ai-audit", "b.py")
    repository.commit(f"Revert\n\nThis reverts commit {other}.")
    assert {severity for _, severity, _ in findings(project, run_vibes, "HEAD~1")} == {"error"}


def test_a_rejection_of_code_that_stands_is_no_part_of_a_revert(
    project: Project, repository: Repository, run_vibes: RunVibes
) -> None:
    project.recorder.execute(review_request(verdict="rejected", path="b.py", lines=(4, 5)))
    project.recorder.close()
    rejected = repository.commit("a rejection")
    repository.git("revert", "--no-edit", "HEAD")
    found = findings(project, run_vibes, rejected)
    assert ("base-record", "error") in {(check, severity) for check, severity, _ in found}


def test_entries_of_later_records_that_a_revert_took_away_come_back(
    project: Project, repository: Repository, run_vibes: RunVibes
) -> None:
    session = next(iter(record["session_id"] for record in project.records("session")))
    reverted = repository.head()
    project.annotate(session, 1, 1, path="a.py")
    project.recorder.close()
    repository.commit("more code of the session")
    repository.git("revert", "--no-edit", reverted)

    def dangling() -> list[str]:
        found: list[dict[str, Any]] = run_vibes("check", "--json", cwd=project.root).json[
            "findings"
        ]
        return [each["message"] for each in found if each["check"] == "reference-dangling"]

    assert dangling()
    assert run_vibes("merge", "HEAD~1", cwd=project.root).code == 0
    assert dangling() == []
