"""Edits of files through links, and of files with names that git allows and people avoid."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import vibes
from tests.trails import Repository
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import store_event

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

BEFORE = "# Rules\n"
AFTER = "# Rules\n\nUse tabs.\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path / "project", "low")
    Repository(project.root)
    return project


def edit(project: Project, path: Path) -> None:
    """Give a file a new text as an agent, and record what its hook receives."""
    path.write_bytes(AFTER.encode())
    payload = {
        "session_id": "3d0e5c77-4f6f-4a66-a5a7-1f2d3c4b5a69",
        "cwd": str(project.root),
        "prompt_id": "p1",
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_use_id": "t1",
        "tool_input": {"file_path": str(path), "content": AFTER},
        "tool_response": {"type": "update", "originalFile": BEFORE, "structuredPatch": []},
    }
    for trail in store_event(json.dumps(payload).encode(), lambda: "/"):
        assert trail == str(project.root / ".ai-audit")
    fold_events(project.recorder.directory)


def kinds(project: Project, path: str, run_vibes: RunVibes) -> list[str]:
    done = run_vibes("blame", "--json", "--", path, cwd=project.root)
    assert done.code == 0, done.err
    return [each["kind"] for each in json.loads(done.out)["lines"]]


def recorded_paths(project: Project) -> list[Any]:
    return [line["file_path"] for line in project.records("line")]


@pytest.mark.parametrize(
    ("link", "target", "edited"),
    [
        ("CLAUDE.md", "AGENTS.md", "CLAUDE.md"),
        ("CLAUDE.md", "docs/rules.md", "CLAUDE.md"),
        ("alias", "docs", "alias/rules.md"),
        ("docs/b", "../docs/deep", "docs/b/rules.md"),
    ],
)
def test_an_edit_through_a_link_is_of_the_file_that_git_has(
    project: Project, run_vibes: RunVibes, link: str, target: str, edited: str
) -> None:
    (project.root / "docs/deep").mkdir(parents=True)
    (project.root / link).symlink_to(target)
    real = (project.root / edited).resolve()
    real.write_text(BEFORE)
    Repository(project.root).commit("before")
    edit(project, project.root / edited)
    name = real.relative_to(project.root.resolve()).as_posix()
    assert recorded_paths(project) == [name]
    for path in (edited, name):
        assert kinds(project, path, run_vibes)[-2:] == ["ai", "ai"]


def test_the_link_and_its_file_are_one_file_to_every_program(
    project: Project, run_vibes: RunVibes
) -> None:
    project.file("AGENTS.md", AFTER)
    (project.root / "CLAUDE.md").symlink_to("AGENTS.md")
    annotation = project.annotate(project.session(), 2, 3, path="CLAUDE.md")
    assert recorded_paths(project) == ["AGENTS.md"]
    shown = run_vibes("show", "CLAUDE.md:3", "--json", cwd=project.root)
    assert annotation in shown.out
    found = json.loads(run_vibes("find", "--json", cwd=project.root).out)["placements"]
    assert [(each["filePath"], each["state"]) for each in found] == [("AGENTS.md", "exact")]


def test_a_link_out_of_the_project_is_no_file_of_it(project: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.md").write_text(BEFORE)
    (project.root / "CLAUDE.md").symlink_to(tmp_path / "elsewhere.md")
    edit(project, project.root / "CLAUDE.md")
    assert recorded_paths(project) == []


def test_a_link_to_a_file_of_another_project_is_recorded_there(
    project: Project, tmp_path: Path
) -> None:
    other = new_project(tmp_path / "other")
    other.file("AGENTS.md", BEFORE)
    (project.root / "CLAUDE.md").symlink_to(other.root / "AGENTS.md")
    (other.root / "AGENTS.md").write_bytes(AFTER.encode())
    members = {
        "file": "CLAUDE.md",
        "lineStart": 2,
        "lineEnd": 3,
        "action": "create",
        "tool": {"name": "t", "version": "1"},
        "model": {"name": "m", "version": "1"},
    }
    done = vibes("record", "annotate", cwd=project.root, given=json.dumps(members).encode())
    assert (done.code, done.err) == (0, "")
    assert recorded_paths(other) == ["AGENTS.md"]
    assert recorded_paths(project) == []


@pytest.mark.parametrize(
    "name",
    ["a\tb.md", "a\nb.md", "\x1b[31mred.md", " ", " lead.md", '"quoted".md', "sub\tdir/é.md"],
)
def test_every_name_that_git_has_is_a_name(
    project: Project, run_vibes: RunVibes, name: str
) -> None:
    project.file(name, BEFORE)
    repository = Repository(project.root)
    repository.commit("before")
    edit(project, project.root / name)
    assert recorded_paths(project) == [name]
    assert kinds(project, name, run_vibes)[-2:] == ["ai", "ai"]
    repository.commit("after")
    assert kinds(project, name, run_vibes)[-2:] == ["ai", "ai"]
    checked = json.loads(run_vibes("check", "--json", cwd=project.root).out)
    assert [each for each in checked["findings"] if each["severity"] == "error"] == []
    for command in (["find"], ["log"], ["stats"], ["diff", "HEAD~1"], ["blame", "--", name]):
        done = run_vibes(*command, cwd=project.root)
        assert done.code == 0, done.err
        assert "\x1b[31m" not in done.out
        assert "\t" not in done.out
