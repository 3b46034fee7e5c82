"""`vibes doctor`: which step between the program and an annotation fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import vibes
from tests.trails import complete

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import CommandResult, RunVibes
    from tests.trails import CompleteTrail
    from tests.unit.checks.projects import Project


def steps(done: CommandResult) -> dict[str, tuple[str, str]]:
    """Return health and message of each step, by its subject."""
    return {step["about"]: (step["health"], step["message"]) for step in done.json["steps"]}


def steps_of(done: CommandResult, *groups: str) -> list[str]:
    """Return what the steps of some groups are about."""
    return [step["about"] for step in done.json["steps"] if step["group"] in groups]


def test_a_valid_trail_is_ok_at_each_step(valid_trail: CompleteTrail) -> None:
    done = vibes("doctor", cwd=valid_trail.root)
    assert (done.code, done.err) == (0, "")
    shown = [line for line in done.lines if not line.startswith("  ")]
    assert shown[1].startswith("ok      program: vibes-lsp ")
    begin, end = shown.index("Audit trail"), shown.index("Coding agents")
    assert shown[begin:end] == [
        "Audit trail",
        f"ok      audit directory: {valid_trail.root / '.ai-audit'}",
        "ok      config.json: standard 1.0, level high, PRISM off",
        "ok      manifest.json: 11 context entries",
        "ok      annotations.jsonl: 25 lines",
        "ok      annotations: 7 annotations in 3 files",
        "",
        "Git",
        "ok      git: union merge is configured and derived files are ignored",
        "note    git hook: no pre-commit hook updates the audit trail",
        "",
    ]


def test_json_has_the_same_steps(valid_trail: CompleteTrail, run_vibes: RunVibes) -> None:
    done = run_vibes("doctor", "--json", cwd=valid_trail.root)
    members = {"group", "about", "health", "message", "hint"}
    assert all(set(step) == members for step in done.json["steps"])
    assert done.json["fixes"] == []
    assert steps_of(done, "program")[0] == "program"
    assert steps_of(done, "trail", "git") == [
        "audit directory", "config.json", "manifest.json", "annotations.jsonl", "annotations", "git", "git hook",
    ]  # fmt: skip
    assert steps_of(done, "recording") == ["waiting events", "locks", "permissions"]


def test_without_a_directory_it_says_how_to_make_one(tmp_path: Path) -> None:
    done = vibes("doctor", cwd=tmp_path)
    assert (done.code, done.err) == (1, "")
    assert done.lines[-3:] == [
        "Audit trail",
        f"problem audit directory: no .ai-audit/ in {tmp_path} or above it",
        "          run `vibes init` in the project, or name one with --audit-dir",
    ]


def test_without_git_it_says_what_is_missing(tmp_path: Path, run_vibes: RunVibes) -> None:
    complete(tmp_path)
    done = run_vibes("doctor", "--json", cwd=tmp_path)
    assert done.code == 0
    assert steps(done)["git"] == (
        "note",
        "the project is not in a git work tree, or git is not installed",
    )


def test_git_attributes_that_damage_the_trail_are_a_problem(
    project: Project, run_vibes: RunVibes
) -> None:
    (project.audit / ".gitattributes").write_bytes(b"")
    done = run_vibes("doctor", "--json", cwd=project.root)
    assert done.code == 1
    assert steps(done)["git"] == (
        "problem",
        ".ai-audit/.gitattributes: missing attributes for annotations.jsonl, manifest.json",
    )


def test_on_the_wrong_branch_the_trail_names_other_files(
    project: Project, run_vibes: RunVibes
) -> None:
    for file in project.trail.writer.root.glob("src/*"):
        (project.root / "src" / file.name).unlink()
    done = run_vibes("doctor", "--json", cwd=project.root)
    assert done.code == 1
    assert steps(done)["annotations"] == (
        "problem",
        "7 annotations in 3 files; 3 files are not in this checkout",
    )


def test_a_trail_without_annotations_is_a_note(tmp_path: Path, run_vibes: RunVibes) -> None:
    run_vibes("init", cwd=tmp_path)
    done = run_vibes("doctor", "--json", cwd=tmp_path)
    assert done.code == 0
    assert steps(done)["annotations"] == ("note", "the log has no annotations yet")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", b"{\n oops", "line 2: expecting property name enclosed in double quotes"),
        ("manifest.json", b"", "line 1: expecting value"),
        ("annotations.jsonl", b"{}\noops\n", "line 2: expecting value"),
    ],
)
def test_a_broken_file_is_a_problem_at_its_line(
    project: Project, run_vibes: RunVibes, file: str, content: bytes, message: str
) -> None:
    (project.audit / file).write_bytes(content)
    done = run_vibes("doctor", "--json", cwd=project.root)
    assert done.code == 1
    assert steps(done)[file] == ("problem", message)


@pytest.mark.parametrize("file", ["src/auth.py", "./src/auth.py", "src/../src/auth.py"])
def test_a_file_that_is_annotated(
    valid_trail: CompleteTrail, run_vibes: RunVibes, file: str
) -> None:
    done = run_vibes("doctor", file, "--json", cwd=valid_trail.root)
    assert done.code == 0
    group, about, health, message, _ = done.json["steps"][-1].values()
    assert group == "file"
    assert about.endswith("auth.py")
    assert (health, message) == ("ok", "3 annotations")


def test_a_file_is_relative_to_the_current_folder(
    valid_trail: CompleteTrail, run_vibes: RunVibes
) -> None:
    below = run_vibes("doctor", "auth.py", "--json", cwd=valid_trail.root / "src")
    absolute = run_vibes(
        "doctor", valid_trail.root / "src" / "auth.py", "--json", cwd=valid_trail.root / "src"
    )
    assert below.code == absolute.code == 0
    assert below.json["steps"][-1]["message"] == absolute.json["steps"][-1]["message"]


def test_a_project_or_a_file_may_be_reached_through_a_link(
    valid_trail: CompleteTrail, run_vibes: RunVibes, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(valid_trail.root, target_is_directory=True)
    for file, directory in ((valid_trail.root, link), (link, valid_trail.root), (link, link)):
        done = run_vibes("doctor", file / "src" / "auth.py", "--audit-dir", directory, cwd=tmp_path)
        assert done.code == 0
        assert "3 annotations" in done.out


def test_an_untracked_file(project: Project, run_vibes: RunVibes) -> None:
    (project.root / "notes.md").write_text("Notes\n")
    done = run_vibes("doctor", "notes.md", "--json", cwd=project.root)
    assert done.code == 0
    untracked, unnamed = done.json["steps"][-2:]
    assert (untracked["health"], untracked["message"]) == (
        "note",
        "the policy of the project leaves this file out",
    )
    assert (unnamed["health"], unnamed["message"]) == (
        "note",
        "the log has no annotation of this file",
    )


def test_a_file_that_no_record_names_and_one_that_moved(
    project: Project, run_vibes: RunVibes
) -> None:
    (project.root / "lib").mkdir()
    (project.root / "src" / "auth.py").rename(project.root / "lib" / "auth.py")
    moved, unnamed = (
        run_vibes("doctor", file, "--json", cwd=project.root)
        for file in ("lib/auth.py", "lib/new.py")
    )
    assert moved.code == unnamed.code == 1
    assert moved.json["steps"][-1]["hint"] == "the log has annotations of src/auth.py"
    assert unnamed.json["steps"][-1]["hint"] == "the file does not exist; check its path"


@pytest.mark.parametrize("file", ["../outside.py", "src/../../outside.py", "/outside.py"])
def test_a_file_outside_the_project(
    valid_trail: CompleteTrail, run_vibes: RunVibes, file: str
) -> None:
    done = run_vibes("doctor", file, "--json", cwd=valid_trail.root)
    assert done.code == 1
    last = done.json["steps"][-1]
    assert (last["health"], last["message"]) == (
        "problem",
        "the file is outside the project of this audit directory",
    )
