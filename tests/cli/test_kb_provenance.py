"""`vibes kb provenance`: claims that rest on an AI's unreviewed lines, and the trail as a source."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import CommandResult, vibes
from tests.demo.workspace import copied

if TYPE_CHECKING:
    from pathlib import Path


HUMAN, APPROVED, UNREVIEWED = "src/auth.py:3-3", "src/auth.py:13-15", "src/auth.py:23-25"


class Knowledge:
    """The demo project with a knowledge base, whose claims are approved at once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self("init")

    def __call__(self, *arguments: str, actor: str = "agent", code: int = 0) -> CommandResult:
        done = vibes("kb", *arguments, cwd=self.root, VOUCH_AGENT=actor)
        assert done.code == code, (done.out, done.err)
        return done

    def claim(self, text: str, *cited: str) -> str:
        """Propose a claim and approve it; return its id."""
        options = [part for each in cited for part in (_option(each), each)]
        proposal = self("propose-claim", "--text", text, *options).out.strip()
        return self("approve", proposal, actor="ada").out.strip().rpartition("/")[2]

    def report(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        """Return the claims of the report by id."""
        found = self("provenance", "report", "--json", *arguments, code=code).json
        counts = found["counts"]
        claims = {each["claim_id"]: each for each in found["claims"]}
        assert counts["ai_written"] == len(claims)
        assert counts["rests_on_unreviewed"] == len(self.resting(claims))
        return claims

    @staticmethod
    def resting(claims: dict[str, Any]) -> set[str]:
        """Return the claims that rest on unreviewed lines."""
        return {name for name, each in claims.items() if each["rests_on_unreviewed"]}


def _option(cited: str) -> str:
    return "--lines" if ":" in cited else "--source"


@pytest.fixture
def kb(tmp_path: Path) -> Knowledge:
    return Knowledge(copied(tmp_path / "shop").root)


def test_a_claim_that_cites_only_unreviewed_ai_lines_is_a_finding(kb: Knowledge) -> None:
    kb.claim("The team owns it", HUMAN)
    approved = kb.claim("Addresses fit a pattern", APPROVED)
    alone = kb.claim("Passwords are salted", UNREVIEWED)
    mixed = kb.claim("Sign-up is safe", UNREVIEWED, HUMAN)
    found = kb.report("--check", code=1)
    assert set(found) == {approved, alone, mixed}  # the first cites no line of an AI
    assert kb.resting(found) == {alone}
    [evidence] = found[alone]["evidence"]
    assert (evidence["path"], evidence["line_start"], evidence["line_end"]) == (
        "src/auth.py",
        23,
        25,
    )
    assert (evidence["verified_lines"], evidence["unreviewed_lines"]) == (3, 3)
    assert (evidence["state"], len(evidence["annotation_ids"])) == ("exact", 1)
    [evidence] = found[approved]["evidence"]
    assert (evidence["ai_written"], evidence["unreviewed_lines"]) == (True, 0)

    text = kb("provenance", "report").out
    assert f"{alone}  rests on unreviewed AI lines" in text
    assert f"{mixed}  has other evidence" in text
    assert f"{approved}  reviewed" in text
    assert "src/auth.py:23-25: AI lines: 3 verified; 3 unreviewed (df11e501)" in text
    assert "4 open claims, 3 with evidence that an AI wrote, 1 resting on" in text


def test_a_persons_approval_of_the_lines_settles_it(kb: Knowledge) -> None:
    alone = kb.claim("Passwords are salted", UNREVIEWED)
    assert kb.resting(kb.report("--check", code=1)) == {alone}
    done = vibes("record", "review", UNREVIEWED, "--verdict", "rejected", cwd=kb.root)
    assert done.code == 0, done.err
    assert kb.resting(kb.report("--check", code=1)) == {alone}
    vibes("record", "review", UNREVIEWED, "--verdict", "approved", cwd=kb.root)
    assert kb.resting(kb.report("--check")) == set()


def test_evidence_is_followed_to_where_its_lines_are_now(kb: Knowledge) -> None:
    alone = kb.claim("Passwords are salted", UNREVIEWED)
    file = kb.root / "src/auth.py"
    before = file.read_text()
    file.write_text("# One.\n# Two.\n" + before)
    [evidence] = kb.report(alone)[alone]["evidence"]
    assert (evidence["line_start"], evidence["state"]) == (25, "moved")
    assert evidence["unreviewed_lines"] == 3
    file.unlink()
    assert kb.report() == {}
    file.symlink_to("/etc/hostname")
    assert kb.report() == {}


def test_a_claim_that_counts_no_longer_is_no_finding(kb: Knowledge) -> None:
    alone = kb.claim("Passwords are salted", UNREVIEWED)
    kb("archive", alone, actor="ada")
    assert kb.report("--check") == {}


def test_a_file_that_is_cited_as_a_whole_counts_with_all_its_lines(kb: Knowledge) -> None:
    source = kb("source", "add", "src/limits.py").out.strip()
    alone = kb.claim("Attempts are limited", source)
    [evidence] = kb.report()[alone]["evidence"]
    assert (evidence["evidence_id"], evidence["path"]) == (source, "src/limits.py")
    assert evidence["unreviewed_lines"] > 0
    assert kb.resting(kb.report()) == {alone}


def test_a_session_becomes_a_source_that_is_an_ais_word(kb: Knowledge) -> None:
    sessions = vibes("stats", "--by", "session", "--json", cwd=kb.root).json["sessions"]
    [session] = [each for each in sessions if "Accounts" in json.dumps(each)]
    identifier = session["session_id"]
    source = kb("provenance", "add", identifier[:8]).out.strip()
    assert kb("provenance", "add", identifier).out.strip() == source  # the same bytes
    folder = kb.root / ".vouch/sources" / source
    content = (folder / "content").read_bytes()
    assert hashlib.sha256(content).hexdigest() == source
    parts = [json.loads(line) for line in content.splitlines()]
    entries = json.loads((kb.root / ".ai-audit/manifest.json").read_bytes())["entries"]
    log = (kb.root / ".ai-audit/annotations.jsonl").read_bytes().splitlines()
    records = [json.loads(line) for line in log]
    named = {each["id"]: each["entry"] for each in parts if each["kind"] == "entry"}
    assert named.items() <= entries.items()
    assert {"prompt", "environment"} <= {each["type"] for each in named.values()}
    told = [each["record"] for each in parts if each["kind"] == "record"]
    assert all(each in records for each in told)
    assert {each["type"] for each in told} >= {"session", "line"}

    alone = kb.claim("The session was asked for safe passwords", source)
    found = kb.report()[alone]
    assert (found["rests_on_unreviewed"], found["evidence"][0]["from_trail"]) == (True, True)
    assert "an AI's word" in kb("provenance", "report").out
    assert kb("doctor").out.strip() == "0 errors, 0 warnings"


def test_a_copy_of_the_trail_in_a_file_is_still_an_ais_word(kb: Knowledge) -> None:
    entries = json.loads((kb.root / ".ai-audit/manifest.json").read_bytes())["entries"]
    key = next(key for key, entry in entries.items() if entry["type"] == "decision")
    source = kb("provenance", "add", key[:12]).out.strip()
    content = (kb.root / ".vouch/sources" / source / "content").read_bytes()
    (kb.root / "notes.md").write_bytes(content)
    copied_only = kb.claim("The decision was noted", "notes.md:1")
    [evidence] = kb.report()[copied_only]["evidence"]
    assert evidence["from_trail"]
    assert kb.resting(kb.report("--check", code=1)) == {copied_only}


def test_what_was_a_plain_file_first_becomes_an_ais_word(kb: Knowledge) -> None:
    entries = json.loads((kb.root / ".ai-audit/manifest.json").read_bytes())["entries"]
    key = next(key for key, entry in entries.items() if entry["type"] == "decision")
    source = kb("provenance", "add", key[:12]).out.strip()
    folder = kb.root / ".vouch/sources" / source
    (kb.root / "notes.md").write_bytes((folder / "content").read_bytes())
    shutil.rmtree(folder)
    assert kb("source", "add", "notes.md").out.strip() == source
    added = kb("provenance", "add", key[:12], "--json").json
    assert added["deduplicated"]
    assert (added["locator"], added["metadata"]["vibes"]["id"]) == ("notes.md", key)
    alone = kb.claim("The decision was noted", source)
    assert kb.resting(kb.report("--check", code=1)) == {alone}
    assert kb("doctor").out.strip() == "0 errors, 0 warnings"


def test_a_decision_becomes_a_source(kb: Knowledge) -> None:
    entries = json.loads((kb.root / ".ai-audit/manifest.json").read_bytes())["entries"]
    key, entry = next(each for each in entries.items() if each[1]["type"] == "decision")
    found = kb("provenance", "add", key[:12], "--json").json
    assert (found["type"], found["locator"]) == ("message", f"vibes:decision/{key}")
    assert found["metadata"]["vibes"]["kind"] == "decision"
    assert found["metadata"]["vibes"]["annotation_ids"]
    content = (kb.root / ".vouch/sources" / found["id"] / "content").read_bytes()
    assert json.loads(content) == {"kind": "entry", "id": key, "entry": entry}


def test_what_is_wrong_is_said(kb: Knowledge, tmp_path: Path) -> None:
    assert "no record, context entry or session" in kb("provenance", "add", "ffffff", code=2).err
    assert "no claim 'nothing'" in kb("provenance", "report", "nothing", code=2).err
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.py").write_text("A = 1\n")
    other = Knowledge(plain)
    other.claim("A is one", "a.py:1")
    assert other.report("--check") == {}  # no trail says anything about its lines
    assert "no .ai-audit/" in other("provenance", "add", "abcdef", code=2).err


def test_programs_ask_by_methods_that_are_advertised_as_extensions(kb: Knowledge) -> None:
    alone = kb.claim("Passwords are salted", UNREVIEWED)
    capabilities = kb("capabilities").json
    offered = capabilities["extensions"]["provenance"]
    assert not set(offered) & set(capabilities["methods"])
    assert offered == ["kb.provenance_report", "kb.register_provenance"]
    asked = [
        {"id": "1", "method": "kb.provenance_report", "params": {"claim_id": alone}},
        {"id": "2", "method": "kb.register_provenance", "params": {}},
        {"id": "3", "method": "kb.register_provenance", "params": {"id": "../../etc"}},
    ]
    done = vibes(
        "kb", "serve", "--transport", "jsonl",
        cwd=kb.root, given="".join(json.dumps(each) + "\n" for each in asked), VOUCH_AGENT="agent",
    )  # fmt: skip
    assert done.code == 0, done.err
    first, second, third = map(json.loads, done.lines)
    assert first["result"]["claims"][0]["rests_on_unreviewed"]
    assert second["error"]["code"] == "missing_param"
    assert not third["ok"]
