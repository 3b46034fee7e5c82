"""Known locations are used for exactly the text for which they were set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.recording.projects import SOURCE, Project, session_origin
from vibes_lsp.anchors import locate as locate_module
from vibes_lsp.anchors.text import Text
from vibes_lsp.placing import locate_annotations as annotation_locating
from vibes_lsp.placing.locate_annotations import LocationsByLineage, locate_alone
from vibes_lsp.placing.placements import deduplicate
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.anchors.location import AnchoredRange, LocatedRange

LATER = "# about digests\n" + SOURCE.replace("sha256", "sha512").replace(
    "one == other", "one is other"
)


def known(project: Project, text: str) -> LocationsByLineage:
    """Return where everything is in a text, as an editor's server keeps it."""
    trail = Trail(project.recorder.directory)
    trail.refresh()
    source = Text(text)
    shown = deduplicate(trail.lineages_in("a.py"))
    located = locate_alone([each.lineage for each in shown], source)
    return {each.lineage.ids: where for each, where in zip(shown, located, strict=True)}


def edited(project: Project, start: int, end: int, text: str = LATER) -> list[tuple[str, str]]:
    """Record an edit of some lines; return what it says about earlier ones."""
    recorded = project.recorder.annotate_lines(
        "a.py", start, end, "modify", session_origin("s1"), text=text
    )
    kinds = {edge["annotation_id"]: edge for edge in project.records("edge")}
    told = [kinds[identifier] for identifier in recorded.edges]
    return [
        (edge["edge_type"], edge["target_ref"]) for edge in told if edge["edge_type"] != "caused_by"
    ]


@pytest.fixture
def ids(project: Project) -> list[str]:
    """Two functions and a line of one of them."""
    project.session()
    return [
        project.recorder.annotate_lines(
            "a.py", *lines, "create", session_origin("s1")
        ).annotation_id
        or ""
        for lines in ((4, 6), (9, 10), (5, 5))
    ]


@pytest.mark.parametrize(
    ("start", "end"), [(5, 7), (6, 6), (7, 7), (1, 11), (10, 11), (1, 1), (11, 11)]
)
def test_known_locations_do_not_change_the_result(
    project: Project, ids: list[str], start: int, end: int, tmp_path: Path
) -> None:
    twin = Project(tmp_path, project.recorder)
    placed = known(project, LATER)
    assert len(placed) == len(ids)
    log = project.recorder.directory.log
    before = log.read_bytes()
    searched = edited(project, start, end)
    log.write_bytes(before)
    twin.recorder.known_locations.set("a.py", LATER, placed)
    assert edited(project, start, end) == searched


@pytest.mark.usefixtures("ids")
def test_annotations_with_known_locations_are_not_located(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.recorder.known_locations.set("a.py", LATER, known(project, LATER))
    looked_for: list[AnchoredRange] = []
    real = locate_module.locate

    def locate(ranges: list[AnchoredRange], *more: Any) -> list[LocatedRange]:
        looked_for.extend(ranges)
        return real(ranges, *more)

    monkeypatch.setattr(annotation_locating, "locate", locate)
    assert edited(project, 5, 7)
    assert looked_for == []


def test_known_locations_of_another_text_are_ignored(project: Project, ids: list[str]) -> None:
    placed = known(project, LATER)
    project.recorder.known_locations.set("a.py", SOURCE, dict.fromkeys(placed, placed[ids[0],]))
    assert ids[1] not in [target for _, target in edited(project, 5, 7)]
