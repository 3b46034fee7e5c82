"""Claims at the line: hover, lens, code actions and diagnostics, with a trail and without one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest
from lsprotocol import types

from tests.server.editor import KNOWLEDGE_CHANGED, Editor
from tests.server.knowledge_base import KnowledgeFiles
from tests.server.project import STORY, Project
from tests.server.sessions import session
from tests.server.test_hostile_text import (
    HOSTILE,
    assert_one_short_line,
    assert_renders_as_text,
    assert_visible,
)
from tests.server.test_knowledge_commands import lines

CLIENT: Final = {
    "vibes": {
        "commands": [
            "vibes.ui.kbPropose",
            "vibes.ui.kbReject",
            "vibes.ui.kbSupersede",
            "vibes.ui.kbContradict",
            "vibes.ui.kbShow",
        ]
    }
}


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeFiles:
    """A knowledge base in a project without a trail, with the story in `a.py`."""
    files = KnowledgeFiles(tmp_path / "known")
    (files.project / "a.py").write_text(STORY)
    return files


async def actions(
    editor: Editor,
    uri: str,
    first: int,
    last: int,
    *,
    diagnostics: list[types.Diagnostic] | None = None,
    trigger: types.CodeActionTriggerKind = types.CodeActionTriggerKind.Invoked,
) -> dict[str, types.CodeAction]:
    """Return the code actions at lines by title, each with its command."""
    found = await editor.client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(uri),
            types.Range(types.Position(first - 1, 0), types.Position(last - 1, 3 * (last > first))),
            types.CodeActionContext(diagnostics or [], trigger_kind=trigger),
        )
    )
    resolved = {}
    for each in found or []:
        if isinstance(each, types.CodeAction):
            action = each if each.command else await editor.client.code_action_resolve_async(each)
        else:
            action = types.CodeAction(each.title, command=each)
        resolved[action.title] = action
    return resolved


async def known(editor: Editor, file: Path, text: str | None = None) -> str:
    """Open a file, and wait until its claims are known: the first answers go without them."""
    uri = editor.open(file, text)
    await editor.run("vibes.kbAt", {"uri": uri})
    return uri


async def run(editor: Editor, action: types.CodeAction) -> Any:
    """Choose a code action."""
    assert action.command is not None
    return await editor.run(action.command.command, *(action.command.arguments or []))


async def test_a_hover_has_the_claim_of_a_line_without_a_trail(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    uri = await known(editor, kb.project / "a.py")
    shown = await editor.hover(uri, 5)
    for part in (
        "“Claim c.”",
        "fact",
        "stable",
        "confidence 90%",
        "approved by Grace",
        "lines as quoted",
    ):
        assert part in shown
    assert await editor.hover_whole(uri, 8) is None
    editor.replace(uri, (4, 4), (4, 4), "x")
    assert "Evidence: lines edited since" in await editor.hover(uri, 5)


async def test_an_approver_that_no_decision_names_is_not_proven(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    uri = await known(editor, kb.project / "a.py")
    assert "approved by Grace" in await editor.hover(uri, 5)
    assert "not proven" not in await editor.hover(uri, 5)
    [claim] = (await editor.run("vibes.kbAt", {"uri": uri}))["claims"]
    assert re.fullmatch(r"changed \d+ (month|year)s? ago", claim["ageText"])
    assert claim["ageText"] in await editor.hover(uri, 5)
    (kb.path / "decided/of-c.yaml").unlink()
    assert "approved by Grace (not proven)" in await editor.hover(uri, 5)
    [claim] = (await editor.run("vibes.kbAt", {"uri": uri}))["claims"]
    assert (claim["approvedBy"], claim["isApproverProven"]) == ("Grace", False)


async def test_a_hover_has_claims_below_the_provenance_of_a_line(
    editor: Editor, project: Project
) -> None:
    kb = KnowledgeFiles(project.root)
    kb.cited("a.py", STORY, "L6-L7")
    kb.proposal("p", "An agent says so.", kb.evidence("ev-p", kb.source("a.py", STORY), "L7"))
    uri = await known(editor, project.annotated(prompt=project.prompt("Digest.")))
    above, both = await editor.hover(uri, 4), await editor.hover(uri, 7)
    assert "Evidence: lines as quoted, written by an AI, not reviewed" in both
    [claim] = (await editor.run("vibes.kbAt", {"uri": uri}))["claims"]
    assert (claim["aiLines"]["verifiedLines"], claim["aiLines"]["unreviewedLines"]) == (2, 2)
    assert len(claim["aiLines"]["annotationIds"]) == 1
    await editor.run("vibes.review", {"uri": uri, "range": lines(6, 7), "verdict": "approved"})
    approved = await editor.hover(uri, 7)
    assert "Evidence: lines as quoted, written by an AI, approved by a person" in approved
    assert "Claim" not in above
    assert both.startswith(above.split("\n")[0])
    assert "“Claim c.”" in both
    assert "“An agent says so.”" in both
    assert "by codex · waits for a decision" in both


@pytest.mark.parametrize("hostile", list(HOSTILE.values()), ids=list(HOSTILE))
async def test_hostile_text_is_inert(editor: Editor, kb: KnowledgeFiles, hostile: str) -> None:
    text = hostile.encode("utf-8", "replace").decode()[:100_000]
    source = kb.source("a.py", STORY)
    edited = kb.evidence("ev", source, "L4-L7")
    kb.claim("c", text, edited, approved_by=text, tags=[text])
    kb.proposal("p", text, kb.evidence("ev-p", source, "L9-L13"), by=text)
    (kb.project / "a.py").write_text(STORY.replace("seen", "found"))
    uri = await known(editor, kb.project / "a.py")
    if not text.strip():
        assert (await editor.run("vibes.kbAt", {"uri": uri}))["claims"] == []
        return
    await editor.run("vibes.kbAt", {"uri": uri})
    assert_renders_as_text(await editor.hover(uri, 4), marks=editor.marks)
    assert_renders_as_text(await editor.hover(uri, 10), marks=editor.marks)
    for each in await editor.diagnostics(uri):
        assert_one_short_line(each.message, 400)
    for title in await actions(editor, uri, 4, 10):
        assert_one_short_line(title, 200)
        assert "$(" not in title, "VS Code draws icons in titles"
    wanted = {"uri": uri, "claimIds": ["c"], "proposalIds": ["p"], "show": False}
    assert_visible((await editor.run("vibes.kbShow", wanted))["text"].replace("\t", " "))


async def test_a_lens_counts_claims_and_what_waits(editor: Editor, kb: KnowledgeFiles) -> None:
    source = kb.source("a.py", STORY)
    kb.claim("one", "One.", kb.evidence("ev-1", source, "L4-L7"))
    kb.claim("two", "Two.", kb.evidence("ev-2", source, "L4"), "ev-1")
    kb.proposal("p", "An agent says so.", "ev-2")
    kb.claim("last", "Last.", kb.evidence("ev-3", source, "L12"))
    uri = await known(editor, kb.project / "a.py")
    assert await editor.lenses(uri) == [(4, "2 claims, 1 pending"), (12, "1 claim")]
    (first, _) = await editor.lens_places(uri)
    assert first.command is not None
    assert first.command.command == "vibes.kbShow"
    arguments: Any = (first.command.arguments or [{}])[0]
    shown = await editor.run("vibes.kbShow", dict(arguments, show=False))
    for text in ("“One.”", "“Two.”", "“An agent says so.”", "def digest(payload: bytes)"):
        assert text in shown["text"]


async def test_actions_change_a_claim_in_the_name_of_the_person(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    uri = await known(editor, kb.project / "a.py")
    await editor.set(reviewer="Ada")
    offered = await actions(editor, uri, 5, 5)
    assert list(offered) == ["Confirm claim: “Claim c.”", "Archive claim: “Claim c.”"]
    await run(editor, offered["Confirm claim: “Claim c.”"])
    assert "confirmed just now" in await editor.hover(uri, 5)
    assert '"actor":"Ada"' in kb.events()[-1]
    await run(editor, offered["Archive claim: “Claim c.”"])
    assert await editor.hover_whole(uri, 5) is None


async def test_a_proposal_is_approved_at_its_lines(editor: Editor, kb: KnowledgeFiles) -> None:
    kb.proposal("p", "An agent says so.", kb.evidence("ev", kb.source("a.py", STORY), "L4-L7"))
    uri = await known(editor, kb.project / "a.py")
    await editor.set(reviewer="Ada")
    assert await editor.lenses(uri) == [(4, "1 pending")]
    await run(editor, (await actions(editor, uri, 4, 4))["Approve: “An agent says so.”"])
    assert "approved by Ada" in await editor.hover(uri, 4)
    assert await editor.lenses(uri) == [(4, "1 claim")]


async def test_stale_evidence_is_a_diagnostic_that_reanchoring_resolves(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    uri = await known(editor, kb.project / "a.py")
    assert await editor.diagnostics(uri) == []
    editor.replace(uri, (4, 4), (4, 4), "x")
    editor.save(uri)
    (found,) = await editor.diagnostics(uri)
    assert (found.code, found.severity) == ("evidence-edited", types.DiagnosticSeverity.Information)
    assert found.message == "evidence of “Claim c.” was edited since it was quoted"
    assert (found.range.start, found.range.end) == (types.Position(3, 0), types.Position(3, 3))
    automatic = types.CodeActionTriggerKind.Automatic
    (action,) = (await actions(editor, uri, 4, 4, diagnostics=[found], trigger=automatic)).values()
    assert action.title == "Re-anchor evidence of “Claim c.” (lines 4-7)"
    await run(editor, action)
    assert await editor.diagnostics(uri) == []
    assert "lines as quoted" in await editor.hover(uri, 4)


async def test_lost_evidence_is_reanchored_to_the_selection(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    (kb.project / "a.py").write_text("import hashlib\n\nwholly = 'other'\ntext = 1\n")
    uri = await known(editor, kb.project / "a.py")
    (found,) = await editor.diagnostics(uri)
    assert (found.code, found.range.start.line) == ("evidence-lost", 0)
    title = "Re-anchor lost evidence of “Claim c.” (lines 3-4)"
    await run(editor, (await actions(editor, uri, 3, 4))[title])
    assert "lines as quoted" in await editor.hover(uri, 4)


async def test_the_client_is_told_that_lines_are_gone(editor: Editor, kb: KnowledgeFiles) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    uri = await known(editor, kb.project / "a.py")
    after = len(editor.client.sent)
    editor.replace(uri, (3, 0), (7, 0), "")
    told = (KNOWLEDGE_CHANGED, {"uri": kb.project.as_uri()})
    await editor.client.until(lambda sent: sent == told, after=after)
    (found,) = await editor.diagnostics(uri)
    assert found.code == "evidence-lost"


async def test_pasted_lines_are_found_again_and_the_client_is_told(
    editor: Editor, kb: KnowledgeFiles
) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    uri = await known(editor, kb.project / "a.py")
    assert await editor.lenses(uri) == [(4, "1 claim")]
    lines = "".join(STORY.splitlines(keepends=True)[3:7])
    editor.replace(uri, (3, 0), (7, 0), "")
    assert await editor.lenses(uri) == []
    after = len(editor.client.sent)
    editor.insert(uri, 0, lines)
    told = (KNOWLEDGE_CHANGED, {"uri": kb.project.as_uri()})
    while await editor.lenses(uri) != [(1, "1 claim")]:  # in the pause after typing
        await editor.client.until(lambda sent: sent == told, after=after)
        after = len(editor.client.sent)


async def test_a_client_that_can_ask_gets_its_commands(kb: KnowledgeFiles, tmp_path: Path) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    kb.proposal("p", "An agent says so.", kb.evidence("ev-p", kb.source("a.py", STORY), "L4"))
    async with session(tmp_path, [kb.project], experimental=CLIENT) as editor:
        uri = await known(editor, kb.project / "a.py")
        offered = {
            title: (action.command.command, (action.command.arguments or [{}])[0])
            for title, action in (await actions(editor, uri, 4, 5)).items()
            if action.command is not None
        }
        lines = {"start": {"line": 3, "character": 0}, "end": {"line": 5, "character": 0}}
        place = {"uri": uri, "range": lines, "version": 1}
        assert offered["Propose a claim about the selection…"] == ("vibes.ui.kbPropose", place)
        reject = {"uri": uri, "proposalId": "p"}
        assert offered["Reject with reason…: “An agent says so.”"] == ("vibes.ui.kbReject", reject)
        supersede = {**place, "claimId": "c"}
        assert offered["Supersede claim…: “Claim c.”"] == ("vibes.ui.kbSupersede", supersede)
        assert offered["Contradict claim…: “Claim c.”"] == ("vibes.ui.kbContradict", supersede)
        (lens,) = await editor.lens_places(uri)
        assert lens.command is not None
        assert lens.command.command == "vibes.ui.kbShow"
        assert list(lens.command.arguments or []) == [
            {"uri": uri, "claimIds": ["c"], "proposalIds": ["p"]}
        ]


async def test_the_switch_turns_all_of_it_off(editor: Editor, kb: KnowledgeFiles) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    (kb.project / "a.py").write_text(STORY.replace("seen", "found"))
    uri = await known(editor, kb.project / "a.py")
    assert await editor.diagnostics(uri)
    await editor.set(knowledge={"enable": False})
    assert await editor.hover_whole(uri, 5) is None
    assert await editor.lens_places(uri) == []
    assert await editor.diagnostics(uri) == []
    assert await actions(editor, uri, 4, 5) == {}
    await editor.set()
    assert await editor.hover_whole(uri, 5) is not None
