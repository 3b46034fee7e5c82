"""A record has the hash of each line that its edit wrote (R32), but of no secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.recording.projects import MODEL, TOOL, new_project
from vibes_lsp.anchors.line_hashes import MASKED, join_hashes
from vibes_lsp.recording import Origin

if TYPE_CHECKING:
    from pathlib import Path

LINES = ("total = 1", 'token = "ghp_012345678901234567890123456789abcdef"', "print(total)")
ORIGIN = Origin(tool=TOOL, model=MODEL)


@pytest.mark.parametrize("action", ["create", "modify", "delete"])
def test_each_line_has_its_hash_and_a_secret_has_none(tmp_path: Path, action: str) -> None:
    project = new_project(tmp_path / "project", "high")
    (tmp_path / "project" / "b.py").write_text("\n".join(LINES), "utf-8")
    project.recorder.annotate_lines("b.py", 1, 3, action, ORIGIN)
    [record] = project.records("line")
    assert record["line_hashes"] == join_hashes(LINES, {1})
    assert record["line_hashes"][8:16] == MASKED


def test_a_review_wrote_no_line(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project", "high")
    project.recorder.annotate_lines("a.py", 4, 6, "review", ORIGIN)
    [record] = project.records("line")
    assert "line_hashes" not in record
