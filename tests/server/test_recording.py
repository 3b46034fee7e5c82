"""The commands that record: what was recorded shows at once, unsaved or not, and a repeat changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.server.editor import Editor, Message
from tests.server.project import AS_RECORDED, STORY, Project
from tests.trails import Repository
from vibes_lsp.maintenance.backfill import backfill
from vibes_lsp.recording import Recorder

TOOL = {"name": "Claude Code", "version": "1.5.2"}
MODEL = {
    "name": "claude-opus-4-5",
    "version": "20251101",
    "parameters": {"temperature": 0.7, "top-p": 0.9},
}
PROMPT = {"text": "Write a digest.", "type": "user_instruction"}


def lines(first: int, last: int) -> dict[str, Any]:
    """Return 1-based lines, both inclusive, as an LSP range."""
    return {"start": {"line": first - 1, "character": 0}, "end": {"line": last, "character": 0}}


async def session_of(editor: Editor, uri: str) -> str:
    answer = await editor.run(
        "vibes.startSession", {"uri": uri, "tool": TOOL, "model": MODEL, "description": "a test"}
    )
    return str(answer["sessionId"])


async def edges_of(editor: Editor, uri: str, answer: dict[str, Any]) -> set[str]:
    """Return the kinds of the edges that an answer names."""
    shown = [await editor.run("vibes.show", {"uri": uri, "id": edge}) for edge in answer["edges"]]
    return {str(each["record"]["edge_type"]) for each in shown}


async def test_an_unsaved_edit_is_shown_at_once(editor: Editor, project: Project) -> None:
    uri = editor.open(project.file("a.py", "import os\n"), STORY)
    session = await session_of(editor, uri)
    told = {
        "uri": uri,
        "range": lines(4, 7),
        "action": "create",
        "sessionId": session,
        "prompt": PROMPT,
    }
    answer = await editor.run("vibes.recordAnnotation", told)
    assert "Write a digest." in await editor.hover(uri, 5)
    assert "unchanged since" in await editor.hover(uri, 5)
    shown = await editor.run("vibes.show", {"uri": uri, "id": answer["annotationId"]})
    assert shown["record"] == answer["record"]
    assert {edge["edge_type"] for edge in shown["edges"]["out"]} == {"caused_by"}
    assert (await editor.lenses(uri))[0][0] == 4
    await editor.run("vibes.endSession", {"uri": uri, "sessionId": session})
    assert (await editor.run("vibes.check", {"uri": uri}))["result"] == "PASS"


async def test_an_edit_inside_an_earlier_one_depends_on_it(
    editor: Editor, project: Project
) -> None:
    uri = editor.open(project.annotated())
    session = await session_of(editor, uri)
    answer = await editor.run(
        "vibes.recordAnnotation",
        {"uri": uri, "range": lines(5, 6), "action": "modify", "sessionId": session},
    )
    assert "depends_on" in await edges_of(editor, uri, answer)
    whole = await editor.run(
        "vibes.recordAnnotation",
        {"uri": uri, "range": lines(3, 8), "action": "modify", "sessionId": session},
    )
    assert "supersedes" in await edges_of(editor, uri, whole)
    owners = {
        each["annotationId"]
        for each in (await editor.provenance(uri))["placements"]
        if each["ownedRanges"]
    }
    assert owners == {whole["annotationId"]}


async def test_a_review_releases_a_risk_at_once(editor: Editor, project: Project) -> None:
    project.config(risk_scoring=AS_RECORDED)
    uri = editor.open(project.annotated(risk_score=0.9))
    assert [each.code for each in await editor.diagnostics(uri)] == ["risk-critical"]
    given = {
        "uri": uri,
        "range": lines(5, 5),
        "verdict": "approved",
        "reviewer": "Ada Example",
        "note": "read it",
    }
    answer = await editor.run("vibes.review", given)
    assert len(answer["reviewed"]) == 1
    assert await editor.diagnostics(uri) == []
    assert "approved by" in (await editor.hover(uri, 5)).replace("*", "")


async def test_the_same_request_again_changes_nothing(editor: Editor, project: Project) -> None:
    uri = editor.open(project.file("a.py"))
    given = {
        "uri": uri,
        "range": lines(4, 7),
        "action": "create",
        "tool": TOOL,
        "model": MODEL,
        "requestId": "one",
    }
    first = await editor.run("vibes.recordAnnotation", given)
    log = (project.root / ".ai-audit/annotations.jsonl").read_bytes()
    assert await editor.run("vibes.recordAnnotation", given) == first
    assert (project.root / ".ai-audit/annotations.jsonl").read_bytes() == log


async def test_unusual_function_names_are_recorded(editor: Editor, project: Project) -> None:
    uri = editor.open(project.file("a.py"))
    answer = await editor.run("vibes.startSession", {"uri": uri, "tool": TOOL, "model": MODEL})
    entry = (await editor.run("vibes.show", {"uri": uri, "id": answer["environmentHash"]}))["entry"]
    assert entry["model_parameters"] == {"temperature": 0.7, "top-p": 0.9}


@pytest.mark.parametrize(
    ("command", "given", "said"),
    [
        ("vibes.startSession", {"tool": TOOL}, "model"),
        (
            "vibes.recordAnnotation",
            {"action": "create", "range": lines(4, 7), "tool": TOOL, "model": MODEL, "colour": 1},
            "colour",
        ),
        (
            "vibes.recordAnnotation",
            {"action": "create", "range": lines(4, 900), "tool": TOOL, "model": MODEL},
            "900",
        ),
        (
            "vibes.recordAnnotation",
            {"action": "create", "range": lines(4, 7), "tool": TOOL, "model": MODEL, "version": 99},
            "version 99",
        ),
        ("vibes.endSession", {"sessionId": "nobody"}, "nobody"),
        ("vibes.review", {"verdict": "maybe", "range": lines(4, 7)}, "verdict"),
    ],
)
async def test_the_error_names_the_wrong_argument(
    editor: Editor, project: Project, command: str, given: dict[str, Any], said: str
) -> None:
    uri = editor.open(project.file("a.py"))
    before = sorted(path.name for path in (project.root / ".ai-audit").iterdir())
    with pytest.raises(JsonRpcException, match=said):
        await editor.run(command, {"uri": uri, **given})
    assert not (project.root / ".ai-audit/annotations.jsonl").exists()
    assert [
        name
        for name in sorted(path.name for path in (project.root / ".ai-audit").iterdir())
        if "lock" not in name
    ] == before


async def test_a_document_without_a_trail_is_refused(editor: Editor, project: Project) -> None:
    outside = project.root.parent / "outside.py"
    outside.write_text(STORY, encoding="utf-8")
    uri = editor.open(outside)
    with pytest.raises(JsonRpcException, match="vibes init"):
        await editor.run("vibes.startSession", {"uri": uri, "tool": TOOL, "model": MODEL})


async def test_a_range_for_another_version_is_refused(editor: Editor, project: Project) -> None:
    uri = editor.open(project.file("a.py"))
    version = editor.insert(uri, 0, "# one\n# two\n")
    given = {
        "uri": uri,
        "version": version,
        "range": lines(6, 9),
        "action": "create",
        "tool": TOOL,
        "model": MODEL,
    }
    record = (await editor.run("vibes.recordAnnotation", given))["record"]
    assert (record["line_start"], record["anchor_context"].splitlines()[0]) == (
        6,
        "def digest(payload: bytes) -> str:",
    )
    editor.change(uri, types.TextDocumentContentChangeWholeDocument(STORY))
    assert "moved from lines 6-9" in await editor.hover(uri, 4)


async def test_a_deletion_is_about_the_saved_text(editor: Editor, project: Project) -> None:
    uri = editor.open(project.file("a.py"), "import os\n")
    given = {"uri": uri, "range": lines(4, 7), "action": "delete", "tool": TOOL, "model": MODEL}
    record = (await editor.run("vibes.recordAnnotation", given))["record"]
    assert record["anchor_context"].splitlines()[0] == "def digest(payload: bytes) -> str:"


async def test_a_rewritten_commit_is_remapped(editor: Editor, project: Project) -> None:
    """Nothing is written for a file that is as it was; a repeat, with the lines moved since, changes nothing."""
    uri = editor.open(project.annotated())
    repository = Repository(project.root)
    old = repository.commit("One")
    repository.commit("Two")
    with Recorder(project.root) as recorder:
        assert len(backfill(recorder).backfilled) == 1
    repository.git("checkout", "--quiet", "--orphan", "other")
    project.file("a.py", "# another line\n" + STORY)
    new = repository.commit("All at once")
    repository.git("branch", "-D", "main")
    given = {"uri": uri, "requestId": "remap"}
    answer = await editor.run("vibes.remap", given)
    assert (len(answer["remapped"]), answer["orphaned"], answer["unchanged"]) == (1, [], [])
    record = answer["records"][0]
    assert (record["commit_hash"], record["action"]) == (new, "rebase_remap")
    assert new != old
    assert await editor.run("vibes.remap", given) == answer
    assert (await editor.run("vibes.remap", {"uri": uri}))["remapped"] == []
    shown = await editor.run("vibes.show", {"uri": uri, "id": answer["remapped"][0]})
    assert shown["record"] == record


async def test_an_unreadable_policy_is_shown_once(editor: Editor, project: Project) -> None:
    """The defaults may mask and withhold less than the project's policy."""
    uri = editor.open(project.file("a.py"))
    given = {"uri": uri, "range": lines(4, 7), "action": "create", "tool": TOOL, "model": MODEL}
    await editor.run("vibes.recordAnnotation", given)
    assert editor.client.messages == []
    (project.root / ".ai-audit/config.json").write_bytes(b'{"assurance_level": "lo\n')
    for _ in range(2):
        answer = await editor.run("vibes.recordAnnotation", given)
        assert answer["record"]["assurance_level"] == "medium"
    [said] = editor.client.messages
    assert said.message.startswith("recorded with the default policy: config.json cannot be read")


async def recorded_and_told(
    editor: Editor, project: Project, uri: str, session: str
) -> list[Message]:
    """Record an edit, and ask again once told to; return what was sent until then, with all that was still to be told."""
    after = len(editor.client.sent)
    await editor.run(
        "vibes.recordAnnotation",
        {"uri": uri, "range": lines(4, 7), "action": "create", "sessionId": session},
    )
    await editor.told(uri, after=after)
    await editor.final(uri)
    editor.watched(project.files.log)
    await editor.caught_up()
    return editor.client.sent[after:]


async def test_a_record_of_another_file_is_told(editor: Editor, project: Project) -> None:
    project.config(risk_scoring={"enabled": True})
    other = await editor.open_known(project.file("b.py"))
    uri = await editor.open_settled(project.file("a.py"))
    session = await session_of(editor, uri)
    await recorded_and_told(editor, project, other, session)
    after = len(editor.client.sent)
    score = (await editor.provenance(other))["placements"][0]["score"]
    await editor.run(
        "vibes.recordAnnotation",
        {"uri": uri, "range": lines(10, 13), "action": "create", "sessionId": session},
    )
    await editor.told(other, after=after)
    assert (await editor.provenance(other))["placements"][0]["score"] > score, (
        "its session is at work in one file more"
    )
