"""Which lines are claimed (R7, R15): proof comes before rank, and no guess extends a claim."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.server.project import Project
from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

USER = """def load_user(path):
    with open(path) as file:
        found = json.load(file)
    return found["user"]
"""
GROUP = USER.replace("user", "group")
DOUBLE = "def double(x):\n    return x * 2\n\n\ndef main():\n    print(double(2))\n\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path / "project")
    project.config(tracked_extensions=[".py"])
    project.environment()
    return project


def blame_json(
    run_vibes: RunVibes, project: Project, path: str = "a.py"
) -> tuple[dict[str, dict[str, object]], dict[int, str]]:
    """Return the placements by id, and the owner of each line."""
    told = json.loads(run_vibes("blame", path, "--json", cwd=project.root).out)
    return {each["annotationId"]: each for each in told["placements"]}, {
        each["line"]: each["annotationId"] for each in told["lines"]
    }


@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "not-committed"])
def test_an_uncertain_placement_takes_no_line_from_a_certain_one(
    project: Project, run_vibes: RunVibes, *, is_committed: bool
) -> None:
    """The log of a branch was merged without its function."""
    repository = Repository(project.root)
    header = "import json\n\n\n"
    project.file("a.py", header)
    repository.commit("begun", "2026-02-01T09:00:00+00:00")
    user = project.line("a.py", 4, 7, text=header + USER)
    group = project.line("a.py", 4, 7, text=header + GROUP)
    project.file("a.py", header + USER)
    if is_committed:
        repository.commit("made", "2026-02-03T11:00:00+00:00")
    placements, owner = blame_json(run_vibes, project)
    assert (placements[user]["state"], placements[user]["ambiguous"]) == ("exact", False)
    assert placements[group]["ownedRanges"] == []
    assert owner == dict.fromkeys(range(4, 8), user)
    out = project.root.parent / "exported"
    assert run_vibes("export", "--current", out, cwd=project.root).code == 0
    lines = [
        json.loads(line)
        for line in (out / ".ai-audit" / "annotations.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    ]
    kept = {
        each.get("source_annotation_id", each["annotation_id"]): (
            each["line_start"],
            each["line_end"],
        )
        for each in lines
        if each["type"] == "line"
    }
    assert kept.get(user) == (4, 7)
    assert sum(end - start + 1 for start, end in kept.values()) == 4


def test_a_guess_does_not_grow_and_owns_no_line(project: Project, run_vibes: RunVibes) -> None:
    """Two lines were recorded, then discarded with `git checkout`."""
    repository = Repository(project.root)
    project.file("double.py", DOUBLE)
    repository.commit("begun", "2026-02-03T10:00:00+00:00")
    made = DOUBLE.replace("\n\ndef main", "def twice(x):\n    return x + x\n\n\ndef main", 1)
    guess = project.line("double.py", 3, 4, text=made, timestamp="2026-02-03T10:00:01Z")
    placements, owner = blame_json(run_vibes, project, "double.py")
    placement = placements[guess]
    assert (placement["ownedRanges"], owner) == ([], {})
    start, end = placement["lineStart"], placement["lineEnd"]
    assert start is None or (isinstance(start, int) and isinstance(end, int) and end - start < 2)
    (file,) = json.loads(run_vibes("stats", "--by", "file", "--json", cwd=project.root).out)[
        "files"
    ]
    assert file["verifiedLines"] == file["claimedLines"] == file["editedLines"] == 0


AREA = "class Area:\n    width: int\n    height: int\n"


def replaced_file(project: Project) -> tuple[str, str]:
    """Record an edit, and one that replaces the whole file with `AREA`; return their ids."""
    older = project.line("a.py", 1, 4, text=USER)
    newer = project.line("a.py", 1, 3, text=AREA, action="modify")
    project.file("a.py", AREA)
    return older, newer


def test_an_edit_of_the_whole_file_replaces_lost_annotations(
    project: Project, run_vibes: RunVibes
) -> None:
    older, newer = replaced_file(project)
    placements, owner = blame_json(run_vibes, project)
    assert (placements[older]["state"], placements[older].get("replacedBy")) == ("lost", newer)
    assert (placements[newer].get("replacedBy"), owner) == (None, dict.fromkeys(range(1, 4), newer))
    shown = run_vibes("blame", "a.py", cwd=project.root).lines[-1]
    assert (
        shown
        == f"{older[:8]} create: replaced by {newer[:8]}, which wrote the whole file (was lines 1-4)"
    )


@pytest.mark.parametrize(
    ("start", "end"), [(1, 2), (2, 3)], ids=["not to the end", "not from the beginning"]
)
def test_an_edit_of_a_part_replaces_no_lost_annotation(
    project: Project, run_vibes: RunVibes, start: int, end: int
) -> None:
    older = project.line("a.py", 1, 4, text=USER)
    project.line("a.py", start, end, text=AREA, action="modify")
    project.file("a.py", AREA)
    placements, _ = blame_json(run_vibes, project)
    assert (placements[older]["state"], placements[older].get("replacedBy")) == ("lost", None)
