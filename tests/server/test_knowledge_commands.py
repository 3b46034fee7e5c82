"""The commands of the knowledge base: claims at lines, propose, decide, re-anchor."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.server.editor import KNOWLEDGE_CHANGED, Editor
from tests.server.knowledge_base import KnowledgeFiles
from tests.server.project import EDITED, STORY


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeFiles:
    """A knowledge base in a project without a trail, with the story in `a.py`."""
    files = KnowledgeFiles(tmp_path / "known")
    (files.project / "a.py").write_text(STORY)
    return files


def lines(first: int, last: int) -> dict[str, Any]:
    """Return whole lines, 1-based and inclusive, as an LSP range."""
    return {
        "start": {"line": first - 1, "character": 0},
        "end": {"line": last, "character": 0},
    }


async def at(
    editor: Editor, uri: str, **members: Any
) -> list[tuple[str, int | None, int | None, str]]:
    """Return the claims of a file with their lines and states."""
    found = await editor.run("vibes.kbAt", {"uri": uri, **members})
    return [
        (each["claimId"], each["lineStart"], each["lineEnd"], each["state"])
        for each in found["claims"]
    ]


async def test_a_claim_is_at_the_lines_that_its_evidence_names(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    uri = editor.open(kb.project / "a.py")
    (claim,) = (await editor.run("vibes.kbAt", {"uri": uri}))["claims"]
    assert claim["range"] == lines(4, 7)
    assert (claim["claimId"], claim["evidenceId"], claim["state"]) == ("c", "ev-c", "exact")
    assert (claim["text"], claim["status"], claim["approvedBy"]) == ("Claim c.", "stable", "Grace")
    assert await at(editor, uri, range=lines(7, 9)) == [("c", 4, 7, "exact")]
    assert await at(editor, uri, range=lines(8, 9)) == []


@pytest.mark.parametrize("locator", ["L4-L7", "L4-7", "a.py#L4-L7", "b16-160"])
async def test_all_forms_of_locators_name_lines(
    editor: Editor, kb: KnowledgeFiles, locator: str
) -> None:
    content = STORY
    if locator.startswith("b"):
        start = content.index("def digest")
        end = content.index("\n\n\ndef same")
        locator = f"b{start}-{end}"
    kb.cited("a.py", content, locator)
    uri = editor.open(kb.project / "a.py")
    assert await at(editor, uri) == [("c", 4, 7, "exact")]


async def test_states_follow_the_unsaved_text(editor: Editor, kb: KnowledgeFiles) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    uri = editor.open(kb.project / "a.py")
    assert await at(editor, uri) == [("c", 4, 7, "exact")]
    editor.insert(uri, 0, "# above\n")
    assert await at(editor, uri) == [("c", 5, 8, "moved")]
    editor.replace(uri, (6, 4), (6, 4), "x")
    assert await at(editor, uri) == [("c", 5, 8, "edited")]
    editor.replace(uri, (6, 4), (6, 5), "")
    while await at(editor, uri) != [("c", 5, 8, "moved")]:
        pass  # until the pause after typing
    editor.replace(uri, (4, 0), (9, 0), "")
    assert await at(editor, uri) == [("c", None, None, "lost")]


async def test_only_the_captured_bytes_prove_lines(editor: Editor, kb: KnowledgeFiles) -> None:
    quote = "\n".join(STORY.splitlines()[3:7])
    gone = kb.source("a.py", STORY, captured=False)
    kb.claim("gone", "Bytes are gone.", kb.evidence("ev-gone", gone, "L4-L7", quote=quote))
    kb.claim("none", "No quote either.", kb.evidence("ev-none", gone, "L4-L7"))
    uri = editor.open(kb.project / "a.py")
    assert await at(editor, uri) == [("gone", 4, 7, "unverified"), ("none", 4, 7, "unverified")]


async def test_bytes_that_change_prove_nothing_in_an_open_file(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    uri = editor.open(kb.project / "a.py")
    assert await at(editor, uri) == [("c", 4, 7, "exact")]
    content = kb.path / "sources" / kb.source("a.py", STORY) / "content"
    content.write_text("other\n")
    editor.watched(content)
    assert await at(editor, uri) == [("c", 4, 7, "unverified")]
    content.write_text(STORY)
    editor.watched(content)
    assert await at(editor, uri) == [("c", 4, 7, "exact")]


async def test_bytes_that_change_are_told(editor: Editor, kb: KnowledgeFiles) -> None:
    """They are in no object, but prove the lines that a client shows."""
    kb.cited("a.py", STORY, "L4-L7")
    uri = editor.open(kb.project / "a.py")
    assert await at(editor, uri) == [("c", 4, 7, "exact")]
    after = len(editor.client.sent)
    content = kb.path / "sources" / kb.source("a.py", STORY) / "content"
    content.write_text("other\n")
    editor.watched(content)
    told = (KNOWLEDGE_CHANGED, {"uri": kb.project.as_uri()})
    await editor.client.until(lambda sent: sent == told, after=after)


async def test_bytes_or_quotes_that_contradict_prove_nothing(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    source = kb.source("a.py", STORY)
    kb.claim("quote", "Another quote.", kb.evidence("ev-q", source, "L4-L7", quote="def other():"))
    changed = kb.source("a.py", f"{STORY}# more\n")
    (kb.path / "sources" / changed / "content").write_text(STORY)
    kb.claim("bytes", "Changed bytes.", kb.evidence("ev-b", changed, "L4-L7"))
    uri = editor.open(kb.project / "a.py")
    assert await at(editor, uri) == [("bytes", 4, 7, "unverified"), ("quote", 4, 7, "unverified")]


async def test_a_file_that_is_not_open_is_read_as_saved(editor: Editor, kb: KnowledgeFiles) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    (kb.project / "a.py").write_text(EDITED)
    assert await at(editor, (kb.project / "a.py").as_uri()) == [("c", 4, 8, "edited")]


async def test_a_claim_is_proposed_approved_and_reanchored(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    uri = editor.open(kb.project / "a.py")
    editor.insert(uri, 0, "# not saved\n")
    proposed = await editor.run(
        "vibes.kbPropose", {"uri": uri, "range": lines(5, 8), "text": "Digests are SHA-256."}
    )
    found = await editor.run("vibes.kbAt", {"uri": uri})
    (pending,) = found["pending"]
    assert found["claims"] == []
    assert (pending["proposalId"], pending["text"]) == (
        proposed["proposalId"],
        "Digests are SHA-256.",
    )
    assert (pending["lineStart"], pending["lineEnd"], pending["state"]) == (5, 8, "exact")
    decide = {"proposal_id": proposed["proposalId"]}
    await editor.run("vibes.kb", {"uri": uri, "method": "kb.approve", "params": decide})
    (claim,) = (await editor.run("vibes.kbAt", {"uri": uri}))["claims"]
    assert claim["state"] == "exact"
    editor.replace(uri, (6, 4), (6, 4), "x")
    assert await at(editor, uri) == [(claim["claimId"], 5, 8, "edited")]
    members = {"claimId": claim["claimId"], "evidenceId": claim["evidenceId"]}
    arguments = {"uri": uri, **members, "requestId": str(kb.path)}
    again = await editor.run("vibes.kbReanchor", arguments)
    assert await at(editor, uri) == [(claim["claimId"], 5, 8, "exact")]
    assert await editor.run("vibes.kbReanchor", arguments) == again, "a repeated request"
    assert (kb.path / "evidence" / f"{claim['evidenceId']}.yaml").exists()
    last = json.loads(kb.events()[-1])
    assert (last["event"], last["object_ids"]) == ("claim.cite", [claim["claimId"]])
    assert last["data"] == {
        "evidence_added": [again["evidenceId"]],
        "replaces": claim["evidenceId"],
    }


async def test_a_rejection_needs_a_reason(editor: Editor, kb: KnowledgeFiles) -> None:
    source = kb.source("a.py", STORY)
    kb.proposal("p1", "An agent says so.", kb.evidence("ev-p", source, "L4-L7"))
    uri = editor.open(kb.project / "a.py")
    with pytest.raises(JsonRpcException, match="reason"):
        await editor.run(
            "vibes.kb", {"uri": uri, "method": "kb.reject", "params": {"proposal_id": "p1"}}
        )
    params = {"proposal_id": "p1", "reason": "not so"}
    await editor.run("vibes.kb", {"uri": uri, "method": "kb.reject", "params": params})
    assert (await editor.run("vibes.kbAt", {"uri": uri}))["pending"] == []


async def test_a_request_that_comes_again_changes_nothing(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    uri = editor.open(kb.project / "a.py")
    arguments = {"uri": uri, "range": lines(4, 7), "text": "Once.", "requestId": str(kb.path)}
    once = [editor.run("vibes.kbPropose", arguments) for _ in range(3)]
    first, second, third = await asyncio.gather(*once)
    assert first == second == third == await editor.run("vibes.kbPropose", arguments)
    versioned = {**arguments, "version": 1, "requestId": f"{kb.path} 2", "text": "Twice."}
    proposed = await editor.run("vibes.kbPropose", versioned)
    editor.insert(uri, 0, "# typed since\n")
    assert await editor.run("vibes.kbPropose", versioned) == proposed
    assert len(list((kb.path / "proposed").glob("*.yaml"))) == 2


async def test_what_another_program_writes_is_told(editor: Editor, kb: KnowledgeFiles) -> None:
    uri = editor.open(kb.project / "a.py")
    assert await at(editor, uri) == []
    after = len(editor.client.sent)
    kb.cited("a.py", STORY, "L4-L7")
    assert await at(editor, uri) == [("c", 4, 7, "exact")]
    told = (KNOWLEDGE_CHANGED, {"uri": kb.project.as_uri()})
    await editor.client.until(lambda sent: sent == told, after=after)


async def test_closed_claims_are_at_no_line(editor: Editor, kb: KnowledgeFiles) -> None:
    source = kb.source("a.py", STORY)
    evidence = kb.evidence("ev", source, "L4-L7")
    for status in ("superseded", "archived", "redacted"):
        kb.claim(status, "No more.", evidence, status=status)
    assert await at(editor, editor.open(kb.project / "a.py")) == []


@pytest.mark.parametrize(
    ("command", "members", "message"),
    [
        ("vibes.kb", {"method": "kb.nope"}, "no method"),
        ("vibes.kb", {"method": "kb.approve"}, "proposal_id is required"),
        ("vibes.kbPropose", {"range": lines(4, 7), "text": " "}, "text: is empty"),
        ("vibes.kbPropose", {"range": lines(40, 70), "text": "T."}, "the file has 13"),
        ("vibes.kbPropose", {"range": lines(4, 7), "text": "T.", "type": "x"}, "type"),
        ("vibes.kbPropose", {"range": lines(4, 7), "text": "T.", "version": 7}, "version 7"),
        (
            "vibes.kbReanchor",
            {"claimId": "no", "evidenceId": "ev", "range": lines(4, 7)},
            "no claim",
        ),
        ("vibes.kbReanchor", {"claimId": "c", "evidenceId": "ev"}, "could not be found"),
        (
            "vibes.kbReanchor",
            {"claimId": "c", "evidenceId": "ev", "range": lines(4, 7)},
            "does not cite",
        ),
    ],
)
async def test_what_is_wrong_is_named(
    editor: Editor, kb: KnowledgeFiles, command: str, members: dict[str, Any], message: str
) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    uri = editor.open(kb.project / "a.py")
    with pytest.raises(JsonRpcException, match=message):
        await editor.run(command, {"uri": uri, **members})


async def test_without_a_knowledge_base_there_is_nothing(editor: Editor, tmp_path: Path) -> None:
    file = tmp_path / "b.py"
    file.write_text(STORY)
    uri = editor.open(file)
    found = await editor.run("vibes.kbAt", {"uri": uri})
    assert (found["project"], found["claims"], found["pending"]) == (None, [], [])
    with pytest.raises(JsonRpcException, match=r"no \.vouch/"):
        await editor.run("vibes.kb", {"uri": uri, "method": "kb.status"})


async def test_what_waits_is_listed_with_the_lines_that_it_cites(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    evidence = kb.evidence("ev-1", kb.source("a.py", STORY), "L4-L7")
    kb.proposal("20260521-100000-00000002", "Digests are short", evidence)
    kb.proposal("20260521-100000-00000001", "Nothing is cited")
    kb.cited("a.py", STORY, "L10-L13")
    uri = editor.open(kb.project / "a.py")
    editor.insert(uri, 0, "# above\n")
    found = await editor.run("vibes.kbPending", {"uri": kb.project.as_uri()})
    assert found["project"] == kb.project.as_uri()
    first, second = found["pending"]
    assert (first["text"], first["proposedBy"]) == ("Nothing is cited", "codex")
    assert "uri" not in first
    assert (second["text"], second["filePath"], second["uri"]) == ("Digests are short", "a.py", uri)
    assert (second["lineStart"], second["lineEnd"], second["state"]) == (5, 8, "moved")

    decision = {"proposal_id": first["proposalId"], "reason": "cites nothing"}
    params = {"method": "kb.reject", "params": decision}
    await editor.run("vibes.kb", {"uri": uri, **params})
    assert (await editor.run("vibes.kbPending", {"uri": uri}))["pending"] == [second]
