"""The gate asks history only in doubt, for all files at once.

Its results equal those of asking for each file.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.gate_project import GateProject
from tests.trails import OMIT
from vibes_lsp.anchors.location import State
from vibes_lsp.gate.annotations import AnnotationCollector
from vibes_lsp.gate.changed_files import FileContents
from vibes_lsp.git.project_files import read_source
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from vibes_lsp.placing.placements import Placement

FILES = ("a.py", "b/c.py", "d.py")


def grown(project: GateProject, random: Random) -> None:
    """Write blocks as an AI; edit, move, remove and rename as people; commit sometimes."""
    texts: dict[str, list[str]] = {path: [f"# {path}"] for path in FILES}
    for number in range(30):
        path = random.choice(sorted(texts))
        lines = texts[path]
        at = random.randrange(len(lines) + 1)
        match random.randrange(5):
            case 0 | 1:
                block = [
                    f"    value_{number}_{line} = compute({random.randrange(10_000)})"
                    for line in range(random.randrange(1, 6))
                ]
                lines[at:at] = block
                text = "\n".join(lines) + "\n"
                anchored: dict[str, Any] = (
                    {} if random.randrange(4) else {"file_content_hash": OMIT, "anchor_hash": OMIT}
                )
                project.line(
                    path,
                    at + 1,
                    at + len(block),
                    text=text,
                    environment=project.risky,
                    session="s",
                    **anchored,
                )
            case 2:
                lines[at : at + 1] = [
                    f"    edited_{number} = {line}" for line in range(random.randrange(3))
                ]
            case 3 if len(lines) > 4:
                moved = [lines.pop(random.randrange(len(lines))) for _ in range(2)]
                lines[:0] = moved
            case _ if lines and at < len(lines):
                lines[at] += "  # later"
        project.file(path, "\n".join(lines) + "\n")
        if random.randrange(3) == 0:
            project.commit(f"Step {number}")
    (project.root / "d.py").rename(project.root / "e.py")
    project.commit("Rename")
    project.file("a.py", "\n".join(["# at the top", *texts["a.py"]]) + "\n")


def found(placements: Iterable[Placement]) -> set[tuple[str, str, object]]:
    return {
        (
            each.path,
            each.current.id,
            None if each.located.state == State.LOST else (each.located.start, each.located.end),
        )
        for each in placements
    }


@pytest.mark.parametrize("seed", range(4))
def test_the_gate_finds_what_each_file_is_found_to_have(tmp_path: Path, seed: int) -> None:
    project = GateProject(tmp_path / "project")
    grown(project, Random(seed))
    trail = Trail(AuditDir(project.root / ".ai-audit"))
    trail.refresh()
    with ProjectLocator(trail) as locator:
        at_once = found(
            placement
            for _, placement in AnnotationCollector(
                locator, FileContents(locator.trail.directory.project)
            ).collect()
        )
        files = [*locator.annotated_files(), *locator.other_files()]
        one_by_one = found(
            each for path in files for each in locator.locate(path, read_source(project.root, path))
        )
    assert len(at_once) > 5
    assert at_once == one_by_one
