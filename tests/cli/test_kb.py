"""`vibes kb`: the way from nothing to a reviewed claim, and what a script reads of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest

from tests.cli.run_vibes import vibes
from vibes_lsp.cli.kb import command


class Shell:
    """Runs commands in a project.

    Args:
        project: The project.
    """

    def __init__(self, project: Path) -> None:
        self._project = project

    def __call__(self, *arguments: str, actor: str = "agent", code: int = 0) -> str:
        """Run a command, which must exit with `code`; return what it prints."""
        done = vibes("kb", *arguments, cwd=self._project, VOUCH_AGENT=actor)
        assert done.code == code, done.err
        return done.out.strip() or done.err.strip()


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
    assert "made proposal" in kb("approve", proposal, code=2)
    assert kb("approve", proposal, actor="person") == "approved: claim/auth-uses-jwt"
    assert kb("search", "jwt").startswith("claim/auth-uses-jwt")
    assert "import jwt" in kb("cite", "auth-uses-jwt")
    assert "claims     1" in kb("status")
    assert source in kb("audit", "--json")
    assert re.search(rf"now +source.register +agent +{source[:8]}$", kb("audit"), re.MULTILINE)
    assert kb("doctor") == "0 errors, 0 warnings"
    assert json.loads(kb("list", "claims", "--json"))["claims"][0]["approved_by"] == "person"


def test_a_folder_that_is_named_must_be_there(kb: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOUCH_KB_PATH", "nowhere/.vouch")
    assert "VOUCH_KB_PATH: no folder nowhere/.vouch" in kb("status", code=2)


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
    own = kb("session", "start")
    assert kb("crystallize", own, "--no-page") == "the session has no proposal that waits"
    proposal = kb("propose-claim", "--text", "x", "--lines", "auth.py:1")
    file = tmp_path / f".vouch/proposed/{proposal}.yaml"
    file.write_text(file.read_text().replace("session_id: null", f"session_id: {own}"))
    assert f"not approved: {proposal}" in kb("crystallize", own, "--no-page", code=2)
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
    assert "--lines FILE:N-M" in kb("propose-claim", "--text", "x", code=2)
    assert "vibes kb pending" in kb("approve", "nothing", code=2)
    assert "vibes kb list KIND" in kb("read", "nothing", code=2)
    assert kb("search", "nothing") == "nothing found"
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    assert "vibes kb init" in Shell(outside)("status", code=2)


def test_a_hostile_claim_does_not_reach_the_terminal(kb: Shell) -> None:
    source = kb("source", "add", "auth.py")
    kb("propose-claim", "--text", "red \x1b[31m\u202e text", "--source", source)
    printed = kb("pending")
    assert "\x1b" not in printed
    assert "\u202e" not in printed


HIDING = "safe\x1b[2J\x9b31m\u202egnp\u200b\x07\u2028done"
"""Text that clears the terminal, reverses what follows, and has invisible characters."""


def test_hostile_text_is_inert_in_every_output(kb: Shell, tmp_path: Path) -> None:
    """A peer or a repository can write any text; what we print has no control characters."""
    members = {"id": "hostile", "text": HIDING, "evidence": [HIDING[:4]], "tags": [HIDING]}
    folder = tmp_path / ".vouch"
    (folder / "claims/hostile.yaml").write_text(json.dumps(members))
    (folder / "claims/broken.yaml").write_text(json.dumps({**members, HIDING: HIDING, "id": []}))
    page = json.dumps({"id": "hostile", "title": HIDING})
    (folder / "pages/hostile.md").write_text(f"---\n{page}\n---\n{HIDING}\n")
    proposal = {"id": "p", "kind": "claim", "proposed_by": HIDING, "payload": members}
    (folder / "proposed/p.yaml").write_text(json.dumps(proposal))
    event = {"id": "x", "event": HIDING, "actor": HIDING, "created_at": HIDING}
    log = folder / "audit.log.jsonl"
    log.write_text(json.dumps({**event, "object_ids": [HIDING]}) + "\n")
    for arguments, code in (
        (("pending",), 0), (("pending", "--json"), 0), (("show", "p"), 0),
        (("search", "safe"), 0), (("search", "safe", "--json"), 0), (("context", "safe"), 0),
        (("read", "hostile", "--kind", "claim"), 0), (("list", "claims"), 0),
        (("list", "pages", "--json"), 0), (("cite", "hostile"), 0), (("audit",), 0),
        (("audit", "--json"), 0), (("lint",), 1), (("doctor",), 1),
        (("approve", HIDING), 2), (("read", HIDING), 2), (("archive", HIDING), 2),
        (("expire", "--days", "1"), 0),
    ):  # fmt: skip
        printed = kb(*arguments, code=code)
        hidden = {each for each in printed if not each.isprintable() and each not in "\n\t"}
        assert not hidden, (arguments, hidden)


def test_the_help_lists_every_command() -> None:
    assert isinstance(command, click.Group)
    assert sorted(command.list_commands(click.Context(command))) == sorted(command.commands)
