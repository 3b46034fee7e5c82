"""Definition, references, hover and completion across claims, evidence, sources, pages and lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.server.editor import Editor
from tests.server.knowledge_base import KnowledgeFiles
from tests.server.profiles import encoded
from tests.server.project import STORY

Place = tuple[str, int, int]


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeFiles:
    """Two claims about the story in `a.py`, and a page that links to one of them."""
    files = KnowledgeFiles(tmp_path / "known")
    (files.project / "a.py").write_text(STORY)
    files.cited("a.py", STORY, "L4-L7", claim="digest")
    files.cited("a.py", STORY, "L10-L13", claim="same")
    files.claim("old", "Superseded.", "ev-digest", status="superseded", superseded_by="digest")
    files.page("guide", "Größe 😀: see [[digest]].\n", claims=["digest", "same"])
    (files.project / "notes.md").write_text("Not digest, but [[digest]].\n")
    return files


def _at(text: str, word: str, editor: Editor, occurrence: int = 1) -> types.Position:
    """Return the position within a word."""
    at = -1
    for _ in range(occurrence):
        at = text.index(word, at + 1)
    line, column = text.count("\n", 0, at), at - (text.rfind("\n", 0, at) + 1)
    start = text.split("\n")[line][: column + 1]
    return types.Position(line, encoded(start, editor.profile))


def _places(kb: KnowledgeFiles, found: Any) -> list[Place]:
    """Return locations as path in the project and 1-based lines."""
    prefix = f"{kb.project.as_uri()}/"
    return [
        (each.uri.removeprefix(prefix), each.range.start.line + 1, each.range.end.line + 1)
        for each in found or []
    ]


async def definition(
    editor: Editor, kb: KnowledgeFiles, name: str, word: str, occurrence: int = 1
) -> list[Place]:
    file = kb.project / name
    uri = editor.open(file)
    await editor.run("vibes.kbAt", {"uri": uri})
    found = await editor.client.text_document_definition_async(
        types.DefinitionParams(
            types.TextDocumentIdentifier(uri), _at(file.read_text(), word, editor, occurrence)
        )
    )
    editor.close(uri)
    return _places(kb, found)


async def references(
    editor: Editor, kb: KnowledgeFiles, name: str, word: str, occurrence: int = 1
) -> list[Place]:
    file = kb.project / name
    uri = editor.open(file)
    await editor.run("vibes.kbAt", {"uri": uri})
    found = await editor.client.text_document_references_async(
        types.ReferenceParams(
            types.ReferenceContext(include_declaration=False),
            types.TextDocumentIdentifier(uri),
            _at(file.read_text(), word, editor, occurrence),
        )
    )
    editor.close(uri)
    return _places(kb, found)


async def test_an_id_leads_to_what_it_names(editor: Editor, kb: KnowledgeFiles) -> None:
    claim = (".vouch/claims/digest.yaml", 1, 1)
    assert await definition(editor, kb, ".vouch/pages/guide.md", "digest") == [claim]
    assert await definition(editor, kb, ".vouch/pages/guide.md", "digest", 2) == [claim]
    assert await definition(editor, kb, "notes.md", "[digest") == [claim]
    assert await definition(editor, kb, "notes.md", "digest") == []
    assert await definition(editor, kb, ".vouch/claims/digest.yaml", "ev-digest") == [
        ("a.py", 4, 7),
        (".vouch/evidence/ev-digest.yaml", 1, 1),
    ]
    source = kb.source("a.py", STORY)
    assert await definition(editor, kb, ".vouch/evidence/ev-digest.yaml", source) == [
        ("a.py", 1, 1),
        (f".vouch/sources/{source}/meta.yaml", 1, 1),
    ]
    assert await definition(editor, kb, ".vouch/evidence/ev-digest.yaml", "L4-L7") == [
        ("a.py", 4, 7)
    ]


async def test_references_of_a_claim_are_files_that_name_it_and_its_lines(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    assert sorted(await references(editor, kb, ".vouch/claims/digest.yaml", "digest")) == [
        (".vouch/claims/old.yaml", 11, 11),
        (".vouch/pages/guide.md", 3, 3),
        (".vouch/pages/guide.md", 8, 8),
        ("a.py", 4, 7),
    ]
    assert sorted(await references(editor, kb, ".vouch/evidence/ev-same.yaml", "ev-same")) == [
        (".vouch/claims/same.yaml", 7, 7),
        ("a.py", 10, 13),
    ]
    source = kb.source("a.py", STORY)
    assert sorted(await references(editor, kb, ".vouch/evidence/ev-same.yaml", source)) == [
        (".vouch/evidence/ev-digest.yaml", 2, 2),
        (".vouch/evidence/ev-same.yaml", 2, 2),
        ("a.py", 4, 7),
        ("a.py", 10, 13),
    ]


async def test_references_of_a_line_are_the_claims_that_cite_it(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    assert await references(editor, kb, "a.py", "payload") == [(".vouch/claims/digest.yaml", 1, 1)]
    assert await references(editor, kb, "a.py", "import") == []


async def test_a_hover_over_an_id_says_what_it_names(editor: Editor, kb: KnowledgeFiles) -> None:
    text = (kb.path / "pages/guide.md").read_text()
    uri = editor.open(kb.path / "pages/guide.md")
    await editor.run("vibes.kbAt", {"uri": uri})
    place = _at(text, "digest", editor, 2)
    shown = await editor.hover(uri, place.line + 1, place.character)
    assert "“Claim digest.”" in shown
    assert await editor.hover_whole(uri, 1, 1) is None


async def completed(editor: Editor, file: Path, text: str) -> dict[str, str | None] | None:
    """Return what can follow at `|` of a text, with the details."""
    before, _, after = text.partition("|")
    uri = editor.open(file, f"{before}{after}")
    await editor.run("vibes.kbAt", {"uri": uri})
    line = before.split("\n")[-1]
    place = types.Position(before.count("\n"), encoded(line, editor.profile))
    found = await editor.client.text_document_completion_async(
        types.CompletionParams(types.TextDocumentIdentifier(uri), place)
    )
    editor.close(uri)
    if not isinstance(found, types.CompletionList):
        return None
    for each in found.items:
        assert isinstance(each.text_edit, types.TextEdit)
        assert each.text_edit.range.end == place
    return {each.label: each.detail for each in found.items}


async def test_ids_and_words_are_completed(editor: Editor, kb: KnowledgeFiles) -> None:
    claim, page = kb.path / "claims/digest.yaml", kb.path / "pages/guide.md"
    found = await completed(editor, claim, "id: digest\nevidence:\n- ev-|")
    assert found == {"ev-digest": "evidence: L4-L7", "ev-same": "evidence: L10-L13"}
    found = await completed(editor, claim, "id: digest\ncontradicts: [sa|]")
    assert found == {"same": "claim: Claim same."}
    assert list(await completed(editor, claim, "status: s|") or ()) == ["stable", "superseded"]
    front = "---\nid: guide\ntitle: Guide\nclaims:\n  - dig|\n---\n"
    assert list(await completed(editor, page, front) or ()) == ["digest"]
    body = "---\nid: guide\n---\nGröße 😀 [[gui|"
    assert list(await completed(editor, page, body) or ()) == ["guide"]
    assert list(await completed(editor, kb.project / "notes.md", "See [[claim s|") or ()) == []
    assert "same" in (await completed(editor, kb.project / "notes.md", "See [[same|") or {})
    assert await completed(editor, kb.project / "notes.md", "See same|") is None
    assert await completed(editor, claim, "text: sa|") is None
    assert await completed(editor, kb.project / "a.py", "x = [[sa|") is None
    proposal = kb.path / "proposed/p.yaml"
    payload = "id: p\nkind: claim\npayload:\n  type: d|"
    assert list(await completed(editor, proposal, payload) or ()) == ["decision"]
