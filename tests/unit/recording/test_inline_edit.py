"""An edit inside an earlier one leaves the records that `docs/recording.md` shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.placements import placed_by_records
from tests.requirements import REPOSITORY
from tests.unit.recording.projects import MODEL, TOOL, new_project
from vibes_lsp.anchors.text import Text
from vibes_lsp.recording import Origin, Prompt, PromptType
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (REPOSITORY / "docs" / "recording.md").read_text(encoding="utf-8")
DRAWN = re.findall(
    r"^  (\d)  (.*?) +([AB])(?= |$)", PAGE.partition("### An edit inside")[2], re.MULTILINE
)
"""The lines of the picture: number, text, owner."""
AFTER = "".join(f"{text}\n" for _, text, _ in DRAWN)
BEFORE = AFTER.replace("paid(prices)", "prices")


def test_records_and_owners_are_those_of_the_documentation(tmp_path: Path) -> None:
    assert [int(number) for number, _, _ in DRAWN] == [4, 5, 6, 7, 8]
    project = new_project(tmp_path)
    file = project.file("shop.py", "\n\n\n" + BEFORE)
    asked = [
        Prompt(text, PromptType.CHAT_MESSAGE) for text in ("Add up prices.", "Skip what is free.")
    ]
    first = project.recorder.annotate_lines(
        "shop.py", 4, 8, "create", Origin(tool=TOOL, model=MODEL, prompt=asked[0])
    )
    before = project.records()
    file.write_text("\n\n\n" + AFTER)
    second = project.recorder.annotate_lines(
        "shop.py", 6, 6, "modify", Origin(tool=TOOL, model=MODEL, prompt=asked[1])
    )
    written = project.records()[len(before) :]
    assert project.records()[: len(before)] == before
    line, *edges = written
    assert line == second.record
    assert (line["line_start"], line["line_end"], line["action"]) == (6, 6, "modify")
    assert [(edge["edge_type"], edge["source_ref"], edge["target_ref"]) for edge in edges] == [
        ("caused_by", second.annotation_id, line["prompt_hash"]),
        ("depends_on", second.annotation_id, first.annotation_id),
    ]
    trail = Trail(project.recorder.directory)
    trail.refresh()
    names = {first.annotation_id: "A", second.annotation_id: "B"}
    owners = {
        number: names[placement.current.id]
        for placement in placed_by_records(trail, "shop.py", Text(file.read_text()))
        for start, end in placement.owned_ranges
        for number in range(start, end + 1)
    }
    assert owners == {int(number): owner for number, _, owner in DRAWN}
    assert project.entry(line["prompt_hash"])["prompt_text"] == "Skip what is free."
