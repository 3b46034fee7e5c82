"""A text that was kept shows whose lines are before their commit, but decides nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.gate_project import GateProject
from vibes_lsp.recording import Model, Origin, Prompt, PromptType, Recorder, Tool
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from tests.cli.run_vibes import RunVibes

WRITTEN = """def digest(data):
    try:
        found = hashlib.sha256(data)
        pass
    finally:
        return found.hexdigest()
"""
APART = WRITTEN.replace(
    "        pass\n", "        # one person\n        pass\n        # another person\n"
)
"""The text with a line that could be anybody's, if the text right after the edit were not kept."""
BY = Origin(
    tool=Tool("Some Tool", "1"),
    model=Model("some-model", "1", {"temperature": 0.9}),
    prompt=Prompt("Write it.", PromptType.USER_INSTRUCTION),
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = GateProject(tmp_path / "project")
    project.file("b.py", WRITTEN)
    with Recorder(project.root) as recorder:
        recorder.annotate_lines("b.py", 1, 6, "create", BY)
    project.file("b.py", APART)
    project.repository.git("add", "b.py")
    return project.root


@pytest.mark.parametrize("command", ["gate", "badge"])
def test_who_decides_or_publishes_answers_the_same_without_kept_texts(
    root: Path, run_vibes: RunVibes, command: str
) -> None:
    def shown() -> object:
        return run_vibes("blame", "b.py", "--json", cwd=root).json["lines"]

    known, answer = shown(), run_vibes(command, "--json", cwd=root).json
    shutil.rmtree(AuditDir(root / ".ai-audit").kept_texts)
    assert shown() != known, "blame uses them"
    assert run_vibes(command, "--json", cwd=root).json == answer
