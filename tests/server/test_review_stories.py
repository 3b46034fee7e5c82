"""A risk is seen, reviewed, gone, and back when its lines change."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from tests.cli.run_vibes import vibes
from tests.server.project import STORY, Project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.editor import Editor

CRITICAL: Final = {
    "enabled": True,
    "thresholds": {"low": 0.0, "medium": 0.02, "high": 0.03, "critical": 0.04},
}
"""By these bounds whatever nobody reviewed is critical."""
BOT: Final = {
    "reviewerKind": "ai",
    "tool": {"name": "review-bot", "version": "1"},
    "model": {"name": "some-model", "version": "1"},
}


async def problems(editor: Editor, uri: str) -> list[tuple[str, int, int]]:
    found = await editor.diagnostics(uri)
    return [
        (str(each.code), each.range.start.line + 1, each.range.end.line)
        for each in found
        if str(each.code).startswith("risk-")
    ]


async def marked(editor: Editor, uri: str, line: int) -> Any:
    """Choose "Mark reviewed" at a 1-based line, as an editor does that shows a problem there."""
    place = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 0))
    here = types.CodeActionContext(
        await editor.diagnostics(uri), trigger_kind=types.CodeActionTriggerKind.Invoked
    )
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, here)
    offered = await editor.client.text_document_code_action_async(params) or []
    chosen = next(each for each in offered if each.title == "Mark reviewed")
    if isinstance(chosen, types.CodeAction):
        chosen = await editor.client.code_action_resolve_async(chosen)
        assert chosen.command is not None
    command = chosen.command if isinstance(chosen, types.CodeAction) else chosen
    assert isinstance(command, types.Command)
    return await editor.run(command.command, *(command.arguments or []))


async def standing(editor: Editor, uri: str, number: int = 0) -> tuple[float, str, bool | None]:
    """Return score and band of a document's annotation, and whether its review is stale; None without one."""
    placement = (await editor.provenance(uri))["placements"][number]
    review = placement["review"]
    return placement["score"], placement["band"], None if review is None else review["stale"]


async def queued(editor: Editor, uri: str) -> list[str]:
    answer = await editor.run("vibes.queue", {"uri": uri})
    return [each["filePath"] for each in answer["placements"]]


async def told(editor: Editor, uri: str, line: int) -> str:
    return (await editor.hover(uri, line)).replace("*", "").replace("`", "")


async def test_a_critical_range_is_reviewed_and_comes_back_when_it_is_edited(
    editor: Editor, project: Project
) -> None:
    project.config(risk_scoring=CRITICAL)
    uri = await editor.open_known(project.annotated(prompt=project.prompt("Write a digest.")))
    await editor.set(reviewer="Ada")
    assert await problems(editor, uri) == [("risk-critical", 4, 3)]
    before, _, none = await standing(editor, uri)
    assert none is None
    await marked(editor, uri, 5)
    assert await problems(editor, uri) == []
    after, _, stale = await standing(editor, uri)
    assert after < before
    assert stale is False
    assert "approved by Ada" in await told(editor, uri, 5)
    assert await queued(editor, uri) == []
    editor.insert(uri, 5, "    assert payload\n")
    assert await problems(editor, uri) == [("risk-critical", 4, 3)]
    again, band, stale = await standing(editor, uri)
    assert (again > after, band, stale) == (True, "critical", True)
    assert "but the lines have changed since" in await told(editor, uri, 5)
    assert [title.endswith("review stale") for _, title in await editor.lenses(uri)] == [True]


async def test_the_gate_sees_what_the_editor_shows(editor: Editor, project: Project) -> None:
    project.config(risk_scoring=CRITICAL)
    file = project.annotated()
    uri = await editor.open_known(file)
    await editor.set(reviewer="Ada")

    async def seen() -> tuple[list[str], int]:
        ran = await asyncio.to_thread(vibes, "gate", cwd=project.root)
        return [code for code, _, _ in await problems(editor, uri)], ran.code

    assert await seen() == (["risk-critical"], 1)
    await editor.run(
        "vibes.review", {"uri": uri, "lineStart": 5, "lineEnd": 5, "verdict": "approved", **BOT}
    )
    assert await seen() == (["risk-critical"], 1)
    await marked(editor, uri, 5)
    assert await seen() == ([], 0)
    editor.insert(uri, 5, "    assert payload\n")
    file.write_text(
        "".join(
            [
                *STORY.splitlines(keepends=True)[:5],
                "    assert payload\n",
                *STORY.splitlines(keepends=True)[5:],
            ]
        )
    )
    assert await seen() == (["risk-critical"], 1)


async def test_what_is_not_saved_is_what_is_reviewed(editor: Editor, project: Project) -> None:
    project.config(risk_scoring=CRITICAL)
    file = project.annotated()
    uri = await editor.open_known(file)
    await editor.set(reviewer="Ada")
    editor.replace(uri, (6, 11), (6, 27), "seen.digest()")
    assert await problems(editor, uri) == [("risk-critical", 4, 3)]
    await marked(editor, uri, 5)
    assert await problems(editor, uri) == []
    assert file.read_text() == STORY
    editor.replace(uri, (6, 11), (6, 24), "seen.hexdigest()")
    assert await problems(editor, uri) == [("risk-critical", 4, 3)]
    editor.replace(uri, (6, 11), (6, 27), "seen.digest()")
    assert await problems(editor, uri) == []


async def test_each_trail_has_its_own_reviews(
    editor: Editor, project: Project, tmp_path: Path
) -> None:
    other = Project(tmp_path / "other")
    for each in (project, other):
        each.config(risk_scoring=CRITICAL)
    other.environment()
    mine, theirs = [await editor.open_known(each.annotated()) for each in (project, other)]
    await editor.set(reviewer="Ada")
    log = (other.root / ".ai-audit" / "annotations.jsonl").read_bytes()
    await marked(editor, mine, 5)
    assert await problems(editor, mine) == []
    assert await problems(editor, theirs) == [("risk-critical", 4, 3)]
    assert (other.root / ".ai-audit" / "annotations.jsonl").read_bytes() == log
    assert [await queued(editor, uri) for uri in (mine, theirs)] == [[], ["a.py"]]


async def test_an_ais_review_is_shown_as_such_and_settles_nothing(
    editor: Editor, project: Project
) -> None:
    project.config(risk_scoring=CRITICAL)
    uri = await editor.open_known(project.annotated())
    before = await standing(editor, uri)
    await editor.run(
        "vibes.review", {"uri": uri, "lineStart": 5, "lineEnd": 5, "verdict": "approved", **BOT}
    )
    assert await problems(editor, uri) == [("risk-critical", 4, 3)]
    assert (await standing(editor, uri))[:2] == before[:2]
    assert "approved by some-model (AI)" in await told(editor, uri, 5)
    assert [title.endswith("approved by AI") for _, title in await editor.lenses(uri)] == [True]
    assert await queued(editor, uri) == ["a.py"]


async def test_an_ai_is_an_ai_though_the_editor_has_a_reviewer(
    editor: Editor, project: Project
) -> None:
    uri = await editor.open_known(project.annotated())
    await editor.set(reviewer="Ada")
    await editor.run(
        "vibes.review", {"uri": uri, "lineStart": 5, "lineEnd": 5, "verdict": "approved", **BOT}
    )
    assert "approved by some-model (AI)" in await told(editor, uri, 5)
