"""Layouts of the standard and of other tools: `init` completes them, git sees no local file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.run_vibes import vibes
from tests.trails import Repository, TrailWriter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.run_vibes import CommandResult

RFC: Final = "audit.db\n"
"""RFC 4.2: the `.gitignore` that a project should have."""


def excluded(root: Path) -> None:
    (root / ".git/info/exclude").write_text("audit.db\n", "utf-8")


def excluded_by_the_user(root: Path) -> None:
    (root / ".git/user-ignores").write_text("audit.db\n", "utf-8")
    Repository(root).git("config", "core.excludesFile", str(root / ".git/user-ignores"))


LAYOUTS: Final[dict[str, Callable[[Path], object]]] = {
    "as the standard prints it": lambda root: (root / ".ai-audit/.gitignore").write_text(
        RFC, "utf-8"
    ),
    "at the top of the project": lambda root: (root / ".gitignore").write_text(
        "/.ai-audit/audit.db\n", "utf-8"
    ),
    "in the repository's own file": excluded,
    "in the user's file": excluded_by_the_user,
}


@pytest.fixture
def project(tmp_path: Path) -> Repository:
    """Return a project with the trail of another tool, without git attributes."""
    repository = Repository(tmp_path / "project")
    repository.write("src/a.py", "x = 1\ny = 2\n")
    writer = TrailWriter(repository.path)
    writer.config()
    writer.environment()
    writer.line("src/a.py", 1, 2, text="x = 1\ny = 2\n")
    return repository


def commit(project: Repository) -> None:
    """Commit everything."""
    project.commit("Begin")
    assert status(project) == ""


def status(project: Repository) -> str:
    return project.git("status", "--porcelain", "--untracked-files=all")


def record(project: Repository) -> None:
    request = {
        "file": "src/a.py", "lineStart": 2, "lineEnd": 2, "action": "modify", "requestId": "one",
        "tool": {"name": "t", "version": "1"}, "model": {"name": "m", "version": "1"},
        "prompt": {"text": "Do it.", "type": "user_instruction"},
    }  # fmt: skip
    (project.path.parent / "request.json").write_text(json.dumps(request), "utf-8")
    done = vibes(
        "record", "annotate", "--input", str(project.path.parent / "request.json"), cwd=project.path
    )
    assert done.code == 0, done.err


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_database_is_built_where_git_ignores_it(project: Repository, layout: str) -> None:
    LAYOUTS[layout](project.path)
    commit(project)
    done = vibes("query", "--build", cwd=project.path)
    assert (done.code, done.err) == (0, "")
    assert (project.path / ".ai-audit/audit.db").is_file()
    assert status(project) == ""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_git_sees_no_local_file(project: Repository, layout: str) -> None:
    LAYOUTS[layout](project.path)
    commit(project)
    project.branch("topic")
    record(project)
    vibes("query", "SELECT 1", cwd=project.path)
    changed = {line.split()[1] for line in status(project).splitlines()}
    assert changed == {".ai-audit/annotations.jsonl", ".ai-audit/manifest.json"}
    project.commit("Recorded")
    assert vibes("merge", "topic", cwd=project.path).code == 0
    assert status(project) == ""
    assert not [
        name
        for name in project.git("ls-files", ".ai-audit").splitlines()
        if "/wal/" in name or ".lock" in name
    ]


def test_the_layout_of_the_standard_is_not_a_finding(project: Repository) -> None:
    LAYOUTS["as the standard prints it"](project.path)
    commit(project)
    record(project)
    project.commit("Recorded")
    assert "git-ignore" not in checks(project)


@pytest.mark.parametrize("before", [None, "", "*.swp", "audit.db\n!audit.db\n"])
def test_the_hint_of_a_refusal_helps(project: Repository, before: str | None) -> None:
    """A refusal is correct, its hint helps, and the doctor reports the same."""
    if before is not None:
        (project.path / ".ai-audit/.gitignore").write_text(before, "utf-8")
    commit(project)
    done = vibes("query", "--build", cwd=project.path)
    assert done.code == 2
    assert "git does not ignore" in done.err
    assert "vibes init" in done.err
    assert "git does not ignore audit.db" in vibes("doctor", cwd=project.path).out
    assert {"git-ignore", "git-attributes"} <= checks(project)
    made = vibes("init", "--json", cwd=project.path)
    assert made.code == 0
    named = made.json["created"] + made.json["completed"]
    assert {".gitignore", ".gitattributes"} <= set(named)
    assert (project.path / ".ai-audit/.gitignore").read_text("utf-8").startswith(before or "")
    assert vibes("query", "--build", cwd=project.path).code == 0
    assert not {"git-ignore", "git-attributes"} & checks(project)
    assert "does not ignore" not in vibes("doctor", cwd=project.path).out
    assert vibes("init", "--json", cwd=project.path).json["completed"] == []


def test_a_file_that_only_this_machine_ignores_is_reported(project: Repository) -> None:
    excluded(project.path)
    commit(project)
    assert "git-ignore" in checks(project)
    assert vibes("init", cwd=project.path).code == 0
    assert "git-ignore" not in checks(project)


def test_a_database_that_git_tracks_is_not_changed(project: Repository) -> None:
    LAYOUTS["as the standard prints it"](project.path)
    project.write(".ai-audit/audit.db", b"another tool's")
    project.git("add", "--force", ".ai-audit/audit.db")
    commit(project)
    done = vibes("query", "--build", cwd=project.path)
    assert done.code == 2
    assert "git tracks" in done.err
    assert vibes("query", "SELECT count(*) FROM line_annotations", "--json", cwd=project.path).json[
        "rows"
    ] == [[1]]
    assert status(project) == ""
    project.git("rm", "--cached", "--quiet", ".ai-audit/audit.db")
    assert vibes("query", "--build", cwd=project.path).code == 0


def checks(project: Repository) -> set[str]:
    """Return the ids of the findings of `vibes check`."""
    found: CommandResult = vibes("check", "--json", cwd=project.path)
    return {finding["check"] for finding in found.json["findings"]}
