"""Answers from git history: kinds of lines, survival, moved files and functions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.server.project import EDITED, STORY, Project
from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

LINES = STORY.splitlines(keepends=True)


@pytest.fixture
def story(tmp_path: Path) -> Project:
    """Two functions of two models, committed with their records."""
    project = Project(tmp_path / "story")
    project.config(tracked_extensions=[".py"])
    project.environment(model="older-model")
    project.line("a.py", 4, 7, text=STORY)
    project.environment(model="newer-model")
    project.line("a.py", 10, 13, text=STORY)
    project.file("a.py")
    Repository(project.root).commit("made", "2026-02-03T11:00:00+00:00")
    return project


def test_blame_gives_no_line_of_a_person_to_an_edit(story: Project, run_vibes: RunVibes) -> None:
    story.file("a.py", EDITED)
    told = json.loads(run_vibes("blame", "a.py", "--json", cwd=story.root).out)
    assert {each["kind"] for each in told["lines"]} == {"ai"}
    assert len(told["lines"]) == 7, "neither the inserted line nor the changed one is an AI's"
    assert {each["commitMethod"] for each in told["placements"]} == {"log"}


def test_without_git_fewer_lines_are_verified(story: Project, run_vibes: RunVibes) -> None:
    story.file("a.py", EDITED)
    told = json.loads(run_vibes("blame", "a.py", "--json", "--no-git", cwd=story.root).out)
    edited = next(each for each in told["placements"] if each["state"] == "edited")
    assert (edited["intactLines"], edited.get("commitHash")) == (None, None)


def test_coverage_does_not_count_a_persons_lines(story: Project, run_vibes: RunVibes) -> None:
    story.file("a.py", EDITED)
    (file,) = json.loads(run_vibes("stats", "--by", "file", "--json", cwd=story.root).out)["files"]
    parts = {"verifiedLines": 7, "claimedLines": 0, "editedLines": 0}
    assert file == {"filePath": "a.py", "lines": 14, **parts, "share": 0.5}


def test_survival_by_model_and_file(story: Project, run_vibes: RunVibes) -> None:
    story.file("a.py", EDITED)
    told = json.loads(run_vibes("stats", "--survival", "--json", cwd=story.root).out)["survival"]
    assert told["total"] == {
        "name": "in all",
        "lines": 8,
        "intactLines": 7,
        "unknownLines": 0,
        "lostFunctions": 0,
        "share": 0.875,
    }
    assert {each["name"].split()[0]: each["share"] for each in told["models"]} == {
        "older-model": 0.75,
        "newer-model": 1.0,
    }
    assert [(each["name"], each["intactLines"]) for each in told["files"]] == [("a.py", 7)]
    shown = run_vibes("stats", "--survival", cwd=story.root)
    assert shown.code == 0
    assert any(line.split()[:1] == ["88%"] and "in all" in line for line in shown.lines)


def test_survival_counts_unverified_lines_separately(story: Project, run_vibes: RunVibes) -> None:
    story.line("a.py", 1, 2)
    story.file("a.py")
    told = json.loads(run_vibes("stats", "--survival", "--json", cwd=story.root).out)["survival"][
        "total"
    ]
    assert (told["lines"], told["intactLines"], told["unknownLines"]) == (8, 8, 2)


@pytest.mark.parametrize("target", ["b.py", "new.py"])
def test_survival_counts_lines_that_moved_to_another_file_once(
    story: Project, run_vibes: RunVibes, target: str
) -> None:
    story.line("b.py", 1, 2)
    story.file("b.py", "first_line_of_another = 1\nsecond_line_of_another = 2\n")
    repository = Repository(story.root)
    repository.commit("another", "2026-02-03T12:00:00+00:00")
    before = (story.root / target).read_text() if target == "b.py" else ""
    story.file(target, before + "".join(LINES[3:]))
    story.file("a.py", "nothing_is_left_here = 0\n")
    repository.commit("moved", "2026-02-03T13:00:00+00:00")
    told = json.loads(run_vibes("stats", "--survival", "--json", cwd=story.root).out)["survival"]
    assert (told["total"]["lines"], told["total"]["intactLines"]) == (8, 8)
    assert {each["name"] for each in told["files"] if each["lines"]} == {target}


def test_survival_counts_functions_that_are_gone(story: Project, run_vibes: RunVibes) -> None:
    for name, action in (
        ("gone", "create"),
        ("also_gone", "modify"),
        ("removed", "delete"),
        ("parse", "create"),
    ):
        story.function("a.py", name, action=action)
    story.file("a.py", f"{STORY}\ndef parse():\n    pass\n")
    told = json.loads(run_vibes("stats", "--survival", "--json", cwd=story.root).out)["survival"]
    assert (
        told["total"]["lines"],
        told["total"]["unknownLines"],
        told["total"]["lostFunctions"],
    ) == (8, 0, 2)
    assert {each["name"].split()[0]: each["lostFunctions"] for each in told["models"]} == {
        "older-model": 0,
        "newer-model": 2,
    }
    assert [each["lostFunctions"] for each in told["files"]] == [2]
    total = run_vibes("stats", "--survival", cwd=story.root).lines[-1].split()
    assert total == ["100%", "8", "0", "2", "in", "all"]


def test_the_reason_why_lines_are_unverified_is_printed(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    project = Project(tmp_path / "late")
    project.environment()
    project.file("a.py")
    Repository(project.root).commit("made", "2026-02-03T08:00:00+00:00")
    project.line("a.py", 4, 7, text=STORY, timestamp="2026-02-03T09:00:00Z")
    project.line("a.py", 10, 13, timestamp="2026-02-03T09:00:00Z")
    project.line("a.py", 14, 14, timestamp="2026-02-03T09:00:00Z")
    project.file("a.py", STORY + "# of the AI\n")
    commit = Repository(project.root).git("rev-parse", "HEAD")
    when = f"since 2026-02-03 or earlier (commit {commit[:8]})"
    text, lines = (
        "its text was in git before it was recorded",
        "its lines were in git before it was recorded",
    )
    nothing = "the record has nothing to check against"
    found = run_vibes("find", cwd=project.root).lines
    assert set(found[-3:]) == {f"1 unverified: {why}" for why in (text, lines, nothing)}
    blamed = run_vibes("blame", "a.py", cwd=project.root).lines
    assert [line.partition(": ")[2] for line in blamed[-3:]] == [
        f"not verified: {text}, {when}",
        f"not verified: {lines}, {when}",
        f"not verified: {nothing}",
    ]
    hint = run_vibes("doctor", "a.py", "--json", cwd=project.root).json["steps"][-1]["hint"]
    assert hint == (
        f"1 unverified: {text}, {when}; record edits before committing them; 1 unverified: {lines}, {when}; 1 unverified: {nothing}"
    )
    told = run_vibes("find", "--json", cwd=project.root).json["placements"]
    assert [each["method"] for each in told] == [
        "anchor-before-edit",
        "older-than-edit",
        "recorded",
    ]
    assert [each.get("inGitSince") for each in told] == [
        {"commit": commit, "at": "2026-02-03T08:00:00.000Z"}
    ] * 2 + [None]
    assert [each["ownedRanges"] == [] for each in told] == [True, True, False]


def test_find_follows_a_file_that_was_renamed(story: Project, run_vibes: RunVibes) -> None:
    repository = Repository(story.root)
    repository.git("mv", "a.py", "b.py")
    repository.commit("renamed", "2026-02-03T12:00:00+00:00")
    found = json.loads(run_vibes("find", "--json", cwd=story.root).out)["placements"]
    assert {(each["filePath"], each["movedFrom"], each["state"]) for each in found} == {
        ("b.py", "a.py", "exact")
    }


def test_find_finds_a_function_in_a_file_that_has_no_annotations_of_its_own(
    story: Project, run_vibes: RunVibes
) -> None:
    story.file("a.py", "".join([*LINES[:3], *LINES[7:]]))
    story.file("new.py", "import hashlib\n\n" + "".join(LINES[3:7]))
    Repository(story.root).commit("split", "2026-02-03T12:00:00+00:00")
    found = json.loads(run_vibes("find", "--json", cwd=story.root).out)["placements"]
    assert {(each["filePath"], each.get("movedFrom"), each["lineStart"]) for each in found} == {
        ("new.py", "a.py", 3),
        ("a.py", None, 6),
    }


def test_text_that_moved_is_found_among_many_files_that_are_gone(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    """A file is compared with those of its folder first."""
    project = Project(tmp_path / "moves")
    project.config(tracked_extensions=[".py"])
    project.environment()
    project.line("z/old.py", 4, 7, text=STORY)
    for number in range(250):
        project.line(f"b/gone_{number}.py", 1, 2, text=f"x = {number}\ny = {number}\n")
    project.file("z/old.py")
    project.file("z/new.py", "import os\n")
    repository = Repository(project.root)
    repository.commit("made", "2026-02-03T11:00:00+00:00")
    (project.root / "z/old.py").unlink()
    project.file("z/new.py", "import os\n\n" + "".join(LINES[3:7]))
    found = json.loads(run_vibes("find", "--json", cwd=project.root).out)["placements"]
    moved = [(each["filePath"], each["movedFrom"]) for each in found if each.get("movedFrom")]
    assert moved == [("z/new.py", "z/old.py")]
    again = json.loads(run_vibes("find", "--json", cwd=project.root).out)["placements"]
    assert again == found
