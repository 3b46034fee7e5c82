"""Code lenses: one above each range that is somewhere, told when it is to be seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.server.editor import Editor
from tests.server.project import STORY, Project
from tests.server.sessions import session
from tests.trails import CompleteTrail


async def test_each_range_has_one(editor: Editor, trail: CompleteTrail) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    assert await editor.lenses(uri) == [
        (1, "claude-opus-4-5 · create · exact · approved"),
        (6, "claude-opus-4-5 · create valid_email · exact"),
        (11, "claude-opus-4-5 · modify · exact"),
    ]


async def test_what_it_says_is_worked_out_when_it_is_resolved(
    editor: Editor, trail: CompleteTrail
) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    lenses = await editor.lens_places(uri)
    assert [lens.command for lens in lenses] == [None] * 3
    resolved = await editor.client.code_lens_resolve_async(lenses[0])
    assert resolved.range == lenses[0].range
    assert resolved.command == types.Command("claude-opus-4-5 · create · exact · approved", "")


@pytest.mark.slow
async def test_a_client_that_shows_nothing_meanwhile_is_told_at_once(
    tmp_path: Path, trail: CompleteTrail
) -> None:
    async with session(
        tmp_path, [trail.root], experimental={"vibes": {"resolvedLenses": True}}
    ) as editor:
        lenses = await editor.lens_places(editor.open(trail.root / "src/auth.py"))
        assert [lens.command.title for lens in lenses if lens.command] == [
            "claude-opus-4-5 · create · exact · approved",
            "claude-opus-4-5 · create valid_email · exact",
            "claude-opus-4-5 · modify · exact",
        ]


async def test_it_follows_text_that_is_not_saved(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated())
    before = await editor.lens_places(uri)
    editor.insert(uri, 0, "# one\n")
    assert await editor.lenses(uri) == [(5, "claude-opus-4-5 · create · moved from 4-7")]
    late = await editor.client.code_lens_resolve_async(before[0])
    assert late.command is not None
    assert late.command.title == "claude-opus-4-5 · create · moved from 4-7"


async def test_a_lens_of_what_is_gone_still_resolves(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated())
    (lens,) = await editor.lens_places(uri)
    (project.root / ".ai-audit" / "annotations.jsonl").write_bytes(b"")
    for data in (lens.data, None, 7, {"uri": 5, "id": []}, {"uri": "untitled:x", "id": "x"}):
        late = await editor.client.code_lens_resolve_async(types.CodeLens(lens.range, data=data))
        assert late.command == types.Command("AI", "")


async def test_none_for_what_is_history_a_stand_in_or_lost(
    editor: Editor, project: Project
) -> None:
    older = project.line("a.py", 4, 7, text=STORY)
    newer = project.line("a.py", 4, 7, text=STORY, action="modify")
    project.edge(
        "supersedes", newer, older, target_type="annotation", metadata={"reason": "covers"}
    )
    for number in range(2):
        project.line("a.py", 1, 1, action="modify", prompt=project.prompt(f"Edit {number}."))
    project.line("a.py", 1, 3, text="gone = 1\naway = 2\nlost = 3\n")
    project.function("a.py", "absent")
    uri = editor.open(project.file("a.py"))
    assert await editor.lenses(uri) == [(4, "claude-opus-4-5 · modify · exact")]


async def test_it_tells_risk_and_review(editor: Editor, project: Project) -> None:
    for number, review in enumerate(
        ({}, {"verdict": "rejected"}, {"text_hash": "0" * 64}, {"kind": "ai"})
    ):
        path = f"{number}.py"
        project.review(project.line(path, 4, 7, text=STORY, risk_score=0.65), **review)
        project.file(path)
    told = [
        title
        for number in range(4)
        for _, title in await editor.lenses(editor.open(project.root / f"{number}.py"))
    ]
    assert told == [
        f"claude-opus-4-5 · create · exact · risk 0.65 high (as recorded) · {words}"
        for words in ("approved", "rejected", "review stale", "approved by AI")
    ]


async def test_no_more_than_a_thousand(editor: Editor, project: Project) -> None:
    text = "".join(f"value_{number} = {number}\n" for number in range(1010))
    for number in range(1, 1011):
        project.line(
            "a.py", number, number, text=None, anchor_context=f"value_{number - 1} = {number - 1}"
        )
    uri = editor.open(project.file("a.py", text))
    lenses = await editor.lens_places(uri)
    assert [lens.range.start.line for lens in lenses] == list(range(1000))


async def test_a_switch(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated())
    await editor.set(codeLens={"enable": False})
    assert await editor.lens_places(uri) == []
    await editor.set()
    assert len(await editor.lens_places(uri)) == 1


async def test_none_where_there_is_nothing(editor: Editor, project: Project) -> None:
    assert await editor.lens_places(editor.open(project.file("a.py"))) == []
    assert await editor.lens_places("untitled:Untitled-1") == []
