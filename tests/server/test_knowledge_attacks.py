"""Attacks on a knowledge base in the editor: what a repository could ship below `.vouch/`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.server.editor import Editor
from tests.server.knowledge_base import KnowledgeFiles
from tests.server.project import STORY

SECRET = "\n".join(f"secret line {number} of another project" for number in range(1, 20))
LINES = {"start": {"line": 3, "character": 0}, "end": {"line": 7, "character": 0}}


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeFiles:
    """A knowledge base with one sound claim about the story in `a.py`; a secret lies beside it."""
    files = KnowledgeFiles(tmp_path / "known")
    (files.project / "a.py").write_text(STORY)
    files.cited("a.py", STORY, "L4-L7", claim="sound")
    (tmp_path / "secret.txt").write_text(SECRET)
    return files


async def claims(editor: Editor, uri: str) -> list[tuple[str, str]]:
    found = await editor.run("vibes.kbAt", {"uri": uri})
    return [(each["claimId"], each["state"]) for each in found["claims"]]


async def test_ten_megabytes_of_yaml_spoil_nothing_else(editor: Editor, kb: KnowledgeFiles) -> None:
    large = kb.path / "claims/large.yaml"
    large.write_text("id: large\ntext: x\nevidence: [ev-sound]\ntags:\n" + "- tag\n" * 1_700_000)
    uri = editor.open(kb.project / "a.py")
    assert await claims(editor, uri) == [("sound", "exact")]
    (found,) = await editor.diagnostics(editor.open(large))
    assert "expected at most" in found.message


@pytest.mark.parametrize(
    "bomb",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\nid: *b\n",
        "id: " + "[" * 100_000,
        "!!python/object/apply:os.system ['touch /tmp/x']",
        "\x00\x01",
        "- " * 50_000,
    ],
    ids=["aliases", "depth", "tag", "control", "nested-lists"],
)
async def test_yaml_that_is_an_attack_is_a_diagnostic(
    editor: Editor, kb: KnowledgeFiles, bomb: str
) -> None:
    file = kb.path / "claims/bomb.yaml"
    file.write_text(bomb)
    assert await claims(editor, editor.open(kb.project / "a.py")) == [("sound", "exact")]
    found = await editor.diagnostics(editor.open(file))
    assert {each.code for each in found} == {"broken-object"}


@pytest.mark.parametrize("bomb", ["[" * 100_000, "? a\n: " + "- " * 60_000, "a: \ud800"])
@pytest.mark.parametrize("name", ["sound", "sound.yaml"])
async def test_an_open_text_that_is_an_attack_has_no_places(
    editor: Editor, kb: KnowledgeFiles, name: str, bomb: str
) -> None:
    source = editor.open(kb.project / "a.py", STORY.replace("digest", "other"))
    assert [state for _, state in await claims(editor, source)] != ["exact"]
    found = await editor.diagnostics(editor.open(kb.path / "claims" / name, bomb))
    assert {str(each.code).partition("-")[0] for each in found} <= {"broken", "evidence"}
    assert await claims(editor, source)


async def test_evidence_in_a_file_of_a_knowledge_base_within_is_that_ones(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    inner = KnowledgeFiles(kb.project / "inner")
    (inner.project / "b.py").write_text("changed\n")
    inner.cited("b.py", STORY, "L4-L7", claim="twin")
    kb.cited("inner/b.py", STORY, "L4-L7", claim="twin")
    uri = editor.open(kb.path / "claims/twin.yaml")
    assert await claims(editor, uri) == []
    faults = await editor.diagnostics(uri)
    assert {each.code for each in faults} == {"stale-claim"}
    uri = editor.open(kb.path / "evidence/ev-twin.yaml")
    found = await editor.client.text_document_references_async(
        types.ReferenceParams(
            types.ReferenceContext(include_declaration=False),
            types.TextDocumentIdentifier(uri),
            types.Position(0, 5),
        )
    )
    assert not [each for each in found or [] if each.uri.endswith("b.py")]


@pytest.mark.parametrize(
    ("locator", "path"),
    [
        ("L1-L3", "../secret.txt"),
        ("L1-L3", "a/../../secret.txt"),
        ("../secret.txt#L1-L3", "a.py"),
        ("L" + "1" * 1_000_000, "a.py"),
        ("L4-L999999999", "a.py"),
        ("b0-999999999999", "a.py"),
        ("L4-L7", "a.py\x00"),
        ("L4-L7", "x" * 100_000),
    ],
    ids=["up", "around", "locator-up", "endless", "beyond", "bytes-beyond", "nul", "long"],
)
async def test_a_locator_leads_nowhere_else(
    editor: Editor, kb: KnowledgeFiles, locator: str, path: str
) -> None:
    kb.claim("c", "Elsewhere.", kb.evidence("ev-c", kb.source(path, f"{STORY}# more\n"), locator))
    found = dict(await claims(editor, editor.open(kb.project / "a.py")))
    assert found.pop("c", "unverified") in {"unverified", "lost"}
    assert found == {"sound": "exact"}
    assert await claims(editor, (kb.project.parent / "secret.txt").as_uri()) == []
    pending = await editor.run("vibes.kbPending", {"uri": kb.project.as_uri()})
    assert pending["pending"] == []


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
async def test_no_link_leads_out_of_the_project(editor: Editor, kb: KnowledgeFiles) -> None:
    secret = kb.project.parent / "secret.txt"
    (kb.project / "link.txt").symlink_to(secret)
    source = kb.source("link.txt", SECRET, captured=False)
    (kb.path / "sources" / source / "content").symlink_to(secret)
    kb.claim("c", "Linked.", kb.evidence("ev-c", source, "L4-L7"))
    link = (kb.project / "link.txt").as_uri()
    found = await editor.run("vibes.kbAt", {"uri": link})
    assert [(each["claimId"], each["state"], each["quote"]) for each in found["claims"]] == [
        ("c", "lost", None)
    ]
    with pytest.raises(JsonRpcException, match="outside the project"):
        await editor.run("vibes.kbPropose", {"uri": link, "range": LINES, "text": "A secret."})
    shown = await editor.run("vibes.kbShow", {"uri": link, "claimIds": ["c"], "show": False})
    assert "secret line" not in shown["text"]


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
async def test_a_linked_knowledge_base_is_none(
    editor: Editor, kb: KnowledgeFiles, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text(STORY)
    (other / ".vouch").symlink_to(kb.path)
    uri = editor.open(other / "a.py")
    assert (await editor.run("vibes.kbAt", {"uri": uri}))["project"] is None


async def test_ids_lead_to_no_other_file(editor: Editor, kb: KnowledgeFiles) -> None:
    uri = editor.open(kb.project / "a.py")
    read = {"uri": uri, "method": "kb.read_claim", "params": {"id": "../config"}}
    assert await editor.run("vibes.kb", read) is None
    for method, params in (
        ("kb.confirm", {"id": "../../secret"}),
        ("kb.approve", {"proposal_id": "../claims/sound"}),
    ):
        with pytest.raises(JsonRpcException, match="id: expected letters"):
            await editor.run("vibes.kb", {"uri": uri, "method": method, "params": params})
    reanchor = {"uri": uri, "claimId": "sound", "evidenceId": "../claims/sound", "range": LINES}
    with pytest.raises(JsonRpcException, match="does not cite"):
        await editor.run("vibes.kbReanchor", reanchor)


async def test_a_file_of_the_knowledge_base_is_no_evidence(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    uri = editor.open(kb.path / "claims/sound.yaml")
    with pytest.raises(JsonRpcException, match="is no evidence"):
        await editor.run("vibes.kbPropose", {"uri": uri, "range": LINES, "text": "Of itself."})


async def test_a_broken_configuration_hides_the_claims_and_is_reported(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    (kb.path / "config.yaml").write_text("review: [\n")
    assert await claims(editor, editor.open(kb.project / "a.py")) == []
    (found,) = await editor.diagnostics(editor.open(kb.path / "config.yaml"))
    assert found.code == "broken-config"
