"""Files of a knowledge base in the editor: every fault at the line of its member, while typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.server.editor import Editor
from tests.server.knowledge_base import KnowledgeFiles
from tests.server.project import EDITED, STORY

Found = list[tuple[int, str, str]]


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeFiles:
    """A knowledge base with one sound claim about the story in `a.py`, and a page."""
    files = KnowledgeFiles(tmp_path / "known")
    (files.project / "a.py").write_text(STORY)
    files.cited("a.py", STORY, "L4-L7", claim="sound")
    files.page("guide", "See [[sound]].\n", claims=["sound"])
    return files


async def faults(editor: Editor, uri: str) -> Found:
    """Return the diagnostics of a file: 1-based line, code, and the text that is marked."""
    document = await editor.diagnostics(uri)
    return [(each.range.start.line + 1, str(each.code), each.message) for each in document]


def claim(**members: str) -> str:
    """Return the text of a claim's file with some members as given."""
    lines = {
        "id": "id: sound",
        "text": "text: Claim sound.",
        "status": "status: stable",
        "evidence": "evidence:\n- ev-sound",
        "time": "created_at: 2026-11-01T10:00:00Z\nupdated_at: 2026-11-01T10:00:00Z",
    }
    return "\n".join({**lines, **members}.values()) + "\n"


async def test_sound_files_have_no_fault(editor: Editor, kb: KnowledgeFiles) -> None:
    uri = editor.open(kb.path / "claims/sound.yaml", claim())
    assert await faults(editor, uri) == []
    for name in ("pages/guide.md", "evidence/ev-sound.yaml", "config.yaml"):
        assert await faults(editor, editor.open(kb.path / name)) == []


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"status": "status: sure"}, (3, "broken-object", "status: Input should be")),
        ({"status": "confidence: 5"}, (3, "broken-object", "confidence: Input should be less")),
        ({"text": "text: ''"}, (2, "broken-object", "text: is empty")),
        ({"id": "id: other"}, (1, "broken-object", "id: expected sound")),
        ({"id": "id: ../up"}, (1, "broken-object", "id: is not an id")),
        ({"evidence": "evidence:\n- ev-sound\n- ev-gone"}, (6, "broken-citation", "cites ev-gone")),
        ({"evidence": "evidence: []"}, (4, "uncited-claim", "has no citation")),
        (
            {"evidence": "evidence: [ev-sound]\nentities: [none]"},
            (5, "dangling-reference", "no entity"),
        ),
        (
            {"evidence": "evidence: [ev-sound]\nsuperseded_by: sound"},
            (5, "supersession-cycle", "itself"),
        ),
        ({"evidence": "evidence: [ev-sound\nx: y"}, (5, "broken-object", "no YAML")),
        (
            {"evidence": "evidence: &a [ev-sound]\nx: *a"},
            (1, "broken-object", "aliases are refused"),
        ),
    ],
    ids=str,
)
async def test_a_fault_of_an_open_claim_is_at_its_member(
    editor: Editor, kb: KnowledgeFiles, members: dict[str, str], fault: tuple[int, str, str]
) -> None:
    uri = editor.open(kb.path / "claims/sound.yaml", claim(**members))
    line, code, message = fault
    found = await faults(editor, uri)
    assert [(at, kind) for at, kind, text in found if message in text] == [(line, code)]


async def test_faults_follow_what_is_typed(editor: Editor, kb: KnowledgeFiles) -> None:
    uri = editor.open(kb.path / "claims/sound.yaml", claim())
    editor.replace(uri, (2, 8), (2, 14), "sure")
    editor.save(uri)
    (found,) = await editor.diagnostics(uri)
    assert found.severity == types.DiagnosticSeverity.Error
    assert (found.range.start, found.range.end) == (types.Position(2, 8), types.Position(2, 12))
    after = len(editor.client.sent)
    editor.replace(uri, (2, 8), (2, 12), "working")
    if editor.pulls:  # it may not ask by itself at each key
        await editor.asked(types.WORKSPACE_DIAGNOSTIC_REFRESH, after=after)
    assert await faults(editor, uri) == []


async def test_faults_of_other_files(editor: Editor, kb: KnowledgeFiles) -> None:
    kb.proposal("p", "An agent says so.", "ev-gone")
    (kb.path / "audit.log.jsonl").write_text('{"id": "1", "event": "x"}\nno event\n')
    (kb.path / "config.yaml").write_text("version: '0.1'\nreview:\n  approver_role: nobody\n")
    kb.page("broken", "text", claims=["sound", "gone"])
    kb.evidence("ev-dangling", "0" * 64, "L1")
    expected = {
        "proposed/p.yaml": (9, "cannot-be-approved"),
        "audit.log.jsonl": (2, "audit-chain-broken"),
        "config.yaml": (3, "unknown-role"),
        "pages/broken.md": (4, "dangling-reference"),
        "evidence/ev-dangling.yaml": (2, "dangling-evidence"),
    }
    found = {}
    for name in expected:
        uri = editor.open(kb.path / name)
        (fault,) = await faults(editor, uri)
        found[name] = fault[:2]
    assert found == expected


async def test_stale_evidence_shows_in_the_file_of_its_claim(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    source = editor.open(kb.project / "a.py", EDITED)
    uri = editor.open(kb.path / "claims/sound.yaml", claim())
    assert await faults(editor, uri) == [(5, "evidence-edited", "a.py: lines edited since")]
    editor.close(source)
    (kb.project / "a.py").unlink()
    assert await faults(editor, uri) == [(5, "evidence-lost", "a.py: lines could not be found")]


async def test_actions_in_the_files_of_a_proposal_and_a_claim(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    kb.proposal("p", "An agent says so.", "ev-sound")
    for name, expected in (
        ("proposed/p.yaml", ["Approve: “An agent says so.”"]),
        ("claims/sound.yaml", ["Confirm claim: “Claim sound.”", "Archive claim: “Claim sound.”"]),
    ):
        uri = editor.open(kb.path / name)
        await editor.run("vibes.kbAt", {"uri": uri})
        place = types.Range(types.Position(0, 0), types.Position(0, 0))
        found = await editor.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri), place, types.CodeActionContext([])
            )
        )
        assert [each.title for each in found or []] == expected
