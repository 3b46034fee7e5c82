"""Corrections of an annotation's place: reanchored or marked as lost (R4, R7, R14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.placements import placed_by_records
from tests.unit.recording.projects import SOURCE, Project, session_origin
from tests.unit.recording.request_builders import function_request, reanchor_request
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnknownId
from vibes_lsp.recording import (
    MarkLost,
    WrongArgument,
)
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from vibes_lsp.placing.placements import Placement

OTHER = "alpha = 1\nbeta = 2\ngamma = 3\ndelta = 4\n"
TWICE = "x = 1\ny = 2\n\n\nx = 1\ny = 2\n"


@pytest.fixture
def annotation(project: Project) -> str:
    return project.annotate(project.session(), 4, 6)


def placed(project: Project, text: str, path: str = "a.py") -> Placement:
    trail = Trail(AuditDir(project.root / ".ai-audit"))
    trail.refresh()
    (found,) = placed_by_records(trail, path, Text(text))
    return found


def where(
    project: Project, text: str, path: str = "a.py"
) -> tuple[int | None, int | None, str, bool]:
    located = placed(project, text, path).located
    return located.start, located.end, located.state.value, located.sure


def test_reanchored_lines_replace_lost_ones(project: Project, annotation: str) -> None:
    assert where(project, OTHER)[2] == "lost"
    done = project.recorder.execute(reanchor_request(annotation, "a.py", (2, 3), OTHER))
    assert where(project, OTHER) == (2, 3, "edited", False)
    assert where(project, SOURCE)[2:] == ("moved", True)
    assert where(project, "else = 1\n")[2] == "lost"
    old, new = project.records("line")
    changed = {"action", "line_start", "line_end", "file_content_hash", "annotation_id"}
    assert {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)} == changed
    assert (new["action"], new["line_start"], new["line_end"]) == ("rebase_remap", 2, 3)
    assert done.record == new
    edge = project.records("edge")[-1]
    assert (edge["edge_type"], edge["source_ref"], edge["target_ref"]) == (
        "supersedes",
        done.annotation_id,
        annotation,
    )
    assert edge["metadata"] == {"reason": "rewrite"}


def test_the_same_again_writes_nothing(project: Project, annotation: str) -> None:
    first = project.recorder.execute(reanchor_request(annotation, "a.py", (2, 3), OTHER))
    before = project.records()
    again = project.recorder.execute(reanchor_request(annotation, "a.py", (2, 3), OTHER))
    assert (again.annotation_id, again.edges, again.record) == (first.annotation_id, (), None)
    assert project.records() == before


def test_an_annotation_is_reanchored_in_a_renamed_file(project: Project, annotation: str) -> None:
    project.file("b.py", OTHER)
    project.recorder.execute(reanchor_request(annotation, "b.py", (1, 2)))
    assert where(project, OTHER, "b.py") == (1, 2, "edited", False)


def test_only_a_certain_match_counts_after_mark_lost(project: Project) -> None:
    project.file("b.py", TWICE)
    annotation = project.annotate(project.session(), 1, 2, path="b.py")
    twice = "\n\n" + TWICE
    assert where(project, twice, "b.py")[2] == "lost", "it may be either copy"
    done = project.recorder.execute(MarkLost(annotation_id=annotation))
    assert where(project, twice, "b.py")[2] == "lost"
    assert where(project, TWICE, "b.py") == (1, 2, "exact", True)
    orphan = project.records("line")[-1]
    assert (orphan["action"], orphan["annotation_id"]) == ("rebase_orphan", done.annotation_id)
    assert project.records("edge")[-1]["metadata"] == {"reason": "orphan"}
    assert project.recorder.execute(MarkLost(annotation_id=annotation)).edges == ()
    project.recorder.execute(reanchor_request(annotation, "b.py", (3, 4), twice))
    assert where(project, twice, "b.py")[:2] == (3, 4)


@pytest.mark.parametrize("lines", [(0, 1), (3, 2), (1, 5)])
def test_lines_outside_the_file_are_refused(
    project: Project, annotation: str, lines: tuple[int, int]
) -> None:
    before = project.records()
    with pytest.raises(WrongArgument, match="line_start"):
        project.recorder.execute(reanchor_request(annotation, "a.py", lines, OTHER))
    assert project.records() == before


def test_only_line_annotations_can_be_corrected(project: Project) -> None:
    function = (
        project.recorder.execute(
            function_request("a.py", "digest", "create", session_origin(project.session()))
        ).annotation_id
        or ""
    )
    for identifier, error in ((function, WrongArgument), ("ab" * 32, UnknownId)):
        for request in (
            MarkLost(annotation_id=identifier),
            reanchor_request(identifier, "a.py", (1, 2)),
        ):
            with pytest.raises(error):
                project.recorder.execute(request)


def test_a_repeated_correction_has_the_same_result(project: Project, annotation: str) -> None:
    given: Any = {"request_id": "one"}
    first = project.recorder.execute(reanchor_request(annotation, "a.py", (2, 3), OTHER, **given))
    assert (
        project.recorder.execute(reanchor_request(annotation, "a.py", (2, 3), OTHER, **given))
        == first
    )
