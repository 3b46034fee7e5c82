"""Attributes that a branch sets hide no line from the gate: what has no anchors is claimed, and judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.gate_project import GateProject
from tests.filters import SECRETS, add_filter
from vibes_lsp.model.hashing import ANCHOR_MEMBERS
from vibes_lsp.recording import Model, Origin, Prompt, PromptType, Recorder, Tool

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

RISKY = Origin(
    tool=Tool("Some Tool", "1"),
    model=Model("some-model", "1", {"temperature": 0.9}),
    prompt=Prompt("Write it.", PromptType.USER_INSTRUCTION),
)


def record(project: GateProject, path: str, text: str, start: int, end: int) -> None:
    project.file(path, text)
    with Recorder(project.root) as recorder:
        done = recorder.annotate_lines(path, start, end, "create", RISKY)
    assert done.record is not None
    assert not set(ANCHOR_MEMBERS) & set(done.record)


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    return GateProject(tmp_path / "project")


def test_a_filter_that_a_branch_sets_for_its_code(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.repository.write(".gitattributes", "*.py filter=x\n")
    record(project, "b.py", SECRETS, 3, 4)
    record(project, "a.py", "import hashlib\n\n\ndef hash_it():\n    return hashlib.md5()\n", 4, 5)
    project.commit()
    gated = project.gate_json(run_vibes)
    assert {each["filePath"]: each["decision"] for each in gated["items"]} == {
        "a.py": "block",
        "b.py": "block",
    }


def test_a_filter_does_not_hide_what_is_recorded_with_anchors(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write("a.py")
    project.commit()
    before = project.gate_json(run_vibes)
    project.repository.write(".gitattributes", "*.py filter=x\n")
    project.commit()
    assert project.gate_json(run_vibes)["items"] == before["items"]


@pytest.mark.parametrize("program", ["crypt", "lfs"])
def test_lines_that_ci_cannot_read(project: GateProject, run_vibes: RunVibes, program: str) -> None:
    add_filter(project.repository, program, "*.env", program=program)
    record(project, "b.env", "\n" * 999 + SECRETS, 1002, 1003)
    project.commit()
    blob = project.repository.git("cat-file", "blob", "HEAD:b.env")
    project.repository.write("b.env", blob)  # as in a clone without the key
    gated = project.gate_json(run_vibes)
    assert gated["result"] == "FAIL"
    items = [(each["filePath"], each["state"], each["decision"]) for each in gated["items"]]
    unread = [each["file"] for each in gated["findings"] if each["check"] == "gate-unread"]
    if program == "crypt":
        assert (items, unread) == ([("b.env", "unverified", "block")], [])
    else:
        assert (items, unread) == ([], ["b.env"])
