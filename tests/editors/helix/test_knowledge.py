"""Claims of the knowledge base in Helix: hover and code actions of the server, without a plugin."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.editors.helix.conftest import Open
from tests.server.knowledge_base import KnowledgeFiles
from tests.server.project import STORY


def test_a_proposal_is_approved_and_its_claim_archived(open_helix: Open, tmp_path: Path) -> None:
    kb = KnowledgeFiles(tmp_path / "known")
    (kb.project / "a.py").write_text(STORY, encoding="utf-8")
    evidence = kb.evidence("ev", kb.source("a.py", STORY), "L4-L7")
    kb.proposal("p-1", "Digests are SHA-256.", evidence)
    terminal = open_helix(kb.project, "a.py")
    terminal.shows("def digest")
    terminal.text("5gg")

    def asks(keys: str, expected: str, absent: str) -> None:
        """Press keys until the answer is there; the server may be starting."""

        def answered() -> bool:
            screen = terminal.screen()
            if expected in screen:
                return True
            if "No configured language server" in screen or absent in screen:
                terminal.text(keys)
            return False

        terminal.text(keys)
        terminal.until(answered, expected)

    asks(" k", "Digests are SHA-256.", "No hover results")
    terminal.shows("waits for a decision")
    terminal.keys("Escape")
    terminal.until(lambda: "waits for a" not in terminal.screen(), "the hover to close")
    asks(" a", "Approve: “Digests are SHA-256.”", "No code actions")
    screen = terminal.screen()
    assert "Reject with reason" not in screen, "it needs a client that asks"
    assert "Propose a claim" not in screen
    terminal.keys("Up", "Enter")  # the last one: those of other servers come first
    terminal.until(lambda: not (kb.path / "proposed/p-1.yaml").exists(), "the approval")
    (file,) = terminal.until(lambda: list((kb.path / "claims").glob("*.yaml")), "the claim")
    assert yaml.safe_load(file.read_bytes())["approved_by"] == "Ada Example"

    asks(" a", "Archive claim: “Digests are SHA-256.”", "No code actions")
    terminal.keys("Up", "Enter")
    terminal.until(
        lambda: yaml.safe_load(file.read_bytes())["status"] == "archived",
        "the claim in the archive",
    )
