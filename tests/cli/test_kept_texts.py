"""A text that was changed before its commit is known where it was recorded, but not to the gate."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tests.cli.gate_project import GateProject
from vibes_lsp.recording import Model, Origin, Prompt, PromptType, Recorder, Tool
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

WRITTEN = "def digest(data):\n    found = hashlib.sha256(data)\n    return found.hexdigest()\n"
BY = Origin(
    tool=Tool("Some Tool", "1"),
    model=Model("some-model", "1", {"temperature": 0.9}),
    prompt=Prompt("Write it.", PromptType.USER_INSTRUCTION),
)


def test_the_gate_answers_the_same_without_kept_texts(tmp_path: Path, run_vibes: RunVibes) -> None:
    project = GateProject(tmp_path / "project")
    project.file("b.py", WRITTEN)
    with Recorder(project.root) as recorder:
        recorder.annotate_lines("b.py", 1, 3, "create", BY)
    project.file("b.py", '"""Digests."""\n\n' + WRITTEN.replace("sha256", "sha512"))
    project.repository.commit("Add a digest")

    def kinds() -> list[str]:
        shown = run_vibes("blame", "b.py", "--json", cwd=project.root)
        return [line["kind"] for line in shown.json["lines"]]

    known, gated = kinds(), run_vibes("gate", "--json", cwd=project.root).json
    shutil.rmtree(AuditDir(project.root / ".ai-audit").kept_texts)
    assert known == ["ai", "ai"]
    assert kinds() == known, "the hashes of a commit need no kept text"
    assert run_vibes("gate", "--json", cwd=project.root).json == gated
