"""`vibes kb`: the way from nothing to a reviewed claim, and what a script reads of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


class Shell:
    """Runs commands in a project.

    Args:
        project: The project.
    """

    def __init__(self, project: Path) -> None:
        self._project = project

    def __call__(self, *arguments: str, actor: str = "agent", code: int = 0) -> str:
        """Run a command, which must exit with `code`; return what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "vibes_lsp", "kb", *arguments],
            cwd=self._project,
            env={**os.environ, "VOUCH_AGENT": actor},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout.strip() or done.stderr.strip()


@pytest.fixture
def kb(tmp_path: Path) -> Shell:
    (tmp_path / "auth.py").write_text("import jwt\n\nTOKEN = 1\n")
    shell = Shell(tmp_path)
    shell("init")
    return shell


def test_from_nothing_to_a_reviewed_claim(kb: Shell) -> None:
    source = kb("source", "add", "auth.py")
    proposal = kb("propose-claim", "--text", "Auth uses JWT", "--lines", "auth.py:1")
    assert "Auth uses JWT" in kb("pending")
    assert "made proposal" in kb("approve", proposal, code=1)
    assert kb("approve", proposal, actor="person") == "approved: claim/auth-uses-jwt"
    assert kb("search", "jwt").startswith("claim/auth-uses-jwt")
    assert "import jwt" in kb("cite", "auth-uses-jwt")
    assert "claims     1" in kb("status")
    assert source in kb("audit", "--json")
    assert kb("doctor") == "0 errors, 0 warnings"
    assert json.loads(kb("list-claims", "--json"))["claims"][0]["approved_by"] == "person"


def test_a_rejection_and_lifecycle(kb: Shell) -> None:
    source = kb("source", "add", "auth.py")
    texts = ("It is black", "It is white", "It is wrong")
    proposals = [kb("propose-claim", "--text", text, "--source", source) for text in texts]
    assert kb("approve", *proposals[:2], actor="person").count("approved:") == 2
    assert kb("reject", proposals[2], "--reason", "no", actor="person").startswith("rejected:")
    assert kb("contradict", "it-is-black", "it-is-white") == "it-is-black contradicts it-is-white"
    assert "superseded by" in kb("supersede", "it-is-black", "it-is-white")
    assert "cycle" in kb("supersede", "it-is-white", "it-is-black", code=2)


def test_bundles_and_sessions(kb: Shell, tmp_path: Path) -> None:
    session = kb("session", "start", "--task", "look")
    assert kb("session", "end", session).endswith("0 proposals")
    kb("source", "add", "auth.py")
    assert "files" in kb("export", "--out", "kb.tar.gz")
    assert kb("export-check", "kb.tar.gz").endswith("as the manifest says")
    assert "0 new, 0 conflicting" in kb("import-check", "kb.tar.gz")
    assert kb("import-apply", "kb.tar.gz").startswith("0 imported")
    (tmp_path / "auth.py").write_text("changed\n")
    assert "drift" in kb("source", "verify", "--fail-on-issue", code=1)


def test_what_is_wrong_is_said_in_one_line(kb: Shell, tmp_path: Path) -> None:
    assert "no source or evidence" in kb(
        "propose-claim", "--text", "x", "--source", "nothing", code=2
    )
    assert "expected FILE:N" in kb("propose-claim", "--text", "x", "--lines", "auth.py", code=2)
    assert "leads out" in kb("source", "add", "/etc/hostname", code=2)
    assert "no lines L9-L9" in kb("propose-claim", "--text", "x", "--lines", "auth.py:9", code=2)
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    assert "vibes kb init" in Shell(outside)("status", code=2)


def test_a_hostile_claim_does_not_reach_the_terminal(kb: Shell) -> None:
    source = kb("source", "add", "auth.py")
    kb("propose-claim", "--text", "red \x1b[31m\u202e text", "--source", source)
    printed = kb("pending")
    assert "\x1b" not in printed
    assert "\u202e" not in printed
