"""The snippets of `docs/knowledge.md` work."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.demo.workspace import copied
from tests.docs.code_blocks import code_blocks, run_shell
from tests.requirements import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path


PAGE = (REPOSITORY / "docs" / "knowledge.md").read_text(encoding="utf-8")


def test_the_snippets_propose_approve_and_ask(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/auth.py").write_text("import bcrypt\n\n")
    first, second, shim = code_blocks(PAGE, "sh")
    run = run_shell(f"{shim}\n{first}\nvouch search salted\n{second}", tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "approved: claim/passwords-are-stored-as-bcrypt-hashes" in run.stdout
    assert "import bcrypt" in run.stdout
    hits = json.loads(run.stdout.splitlines()[-1])["result"]
    assert hits[0]["id"] == "passwords-are-stored-as-bcrypt-hashes"


def test_claims_on_an_ais_word_are_found_and_the_trail_is_cited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copied(tmp_path / "shop").root
    propose = "vibes kb propose-claim --text 'Passwords are salted' --lines src/auth.py:23-25"
    prepared = run_shell(
        f'vibes kb init; vibes kb approve "$(VOUCH_AGENT=codex {propose})"', project
    )
    assert prepared.returncode == 0, prepared.stderr
    report, add = code_blocks(PAGE, "sh provenance")
    found = run_shell(report, project)
    assert (found.returncode, found.stdout.count("rests on unreviewed AI lines")) == (1, 2)
    session = run_shell("vibes stats --by session --json | grep -m 1 session_id", project).stdout
    monkeypatch.setenv("SESSION", session.split('"')[3])
    added = run_shell(add, project)
    assert (added.returncode, added.stderr) == (0, "")
    waiting = run_shell("vibes kb pending", project).stdout
    assert "Passwords are hashed because" in waiting
