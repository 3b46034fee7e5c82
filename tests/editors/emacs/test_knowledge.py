"""Claims of the knowledge base in Emacs: hover and code actions of the server, without a plugin."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.editors.emacs.conftest import OLD, STABLE, Open
from tests.server.knowledge_base import KnowledgeFiles
from tests.server.project import STORY


@pytest.mark.parametrize("suite", [OLD, STABLE])
def test_a_proposal_is_approved_and_its_claim_archived(
    open_emacs: Open, tmp_path: Path, suite: str
) -> None:
    kb = KnowledgeFiles(tmp_path / "known")
    (kb.project / "a.py").write_text(STORY, encoding="utf-8")
    kb.proposal("p-1", "Digests are SHA-256.", kb.evidence("ev", kb.source("a.py", STORY), "L4-L7"))
    editor = open_emacs(suite, kb.project, "a.py")
    editor.until(lambda: "[eglot:known]" in (editor.mode_line("a.py") or ""), "the server")
    editor.go_to(4)
    editor.terminal.shows("Digests are SHA-256.")  # in the echo area
    editor.terminal.keys("C-h", ".")
    editor.terminal.shows("*eldoc*", "Digests are SHA-256.", "waits for a decision")
    editor.alone()

    editor.choose_action("Approve: “Digests are SHA-256.”")
    editor.until(lambda: not (kb.path / "proposed/p-1.yaml").exists(), "the approval")
    (file,) = editor.until(lambda: list((kb.path / "claims").glob("*.yaml")), "the claim")
    assert yaml.safe_load(file.read_bytes())["approved_by"] == "Ada Example"
    editor.choose_action("Archive claim: “Digests are SHA-256.”")
    editor.until(
        lambda: yaml.safe_load(file.read_bytes())["status"] == "archived",
        "the claim in the archive",
    )
