"""Code lenses: one above each line where something waits; their text comes when it is to be seen."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from tests.server.editor import Editor, without_age
from tests.server.project import AS_RECORDED, STORY, Project
from tests.server.sessions import session
from tests.trails import CompleteTrail

SHOW = "vibes.ui.showAnnotations"


async def test_what_waits_has_one(editor: Editor, trail: CompleteTrail) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    assert await editor.lenses(uri) == [
        (6, "AI edit · AGE · not reviewed"),
        (11, "AI edit · AGE · not reviewed"),
    ]


async def test_all_have_one_if_the_user_wants(editor: Editor, trail: CompleteTrail) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    await editor.set(codeLens={"minimumBand": "all"})
    assert await editor.lenses(uri) == [
        (1, "AI edit · AGE · approved"),
        (6, "AI edit · AGE · not reviewed"),
        (11, "AI edit · AGE · not reviewed"),
    ]


async def test_a_risk_has_one_from_a_band_on_though_it_was_approved(
    editor: Editor, project: Project
) -> None:
    project.config(risk_scoring=AS_RECORDED)
    for path, score in (("low.py", 0.1), ("high.py", 0.7)):
        project.review(project.line(path, 4, 7, text=STORY, risk_score=score))
        project.file(path)
    low, high = (editor.open(project.root / path) for path in ("low.py", "high.py"))
    assert await editor.lenses(low) == []
    assert await editor.lenses(high) == [(4, "AI edit · AGE · high risk · approved")]
    await editor.set(codeLens={"minimumBand": "critical"})
    assert await editor.lenses(high) == []
    await editor.set(codeLens={"minimumBand": "low"})
    assert await editor.lenses(low) == [(4, "AI edit · AGE · low risk · approved")]


async def test_several_on_a_line_have_one(editor: Editor, project: Project) -> None:
    ids = [
        project.line("a.py", 4, end, text=STORY, session=f"s{end}", prompt=project.prompt(f"{end}"))
        for end in (7, 6, 5)
    ]
    project.function("a.py", "digest")
    uri = editor.open(project.file("a.py"))
    (lens,) = await editor.lens_places(uri)
    late = await editor.client.code_lens_resolve_async(lens)
    assert late.command is not None
    assert late.command.title.startswith("4 AI edits (1 claimed) · latest ")
    assert late.command.title.endswith(" ago · 4 not reviewed")
    (argument,) = late.command.arguments or []
    assert isinstance(argument, dict)
    assert set(ids) < set(argument["annotationIds"])
    shown = await editor.run(late.command.command, argument)
    assert shown["text"].count("# Annotation\n") == 4


async def test_it_counts_what_is_only_claimed(editor: Editor, project: Project) -> None:
    project.line("a.py", 4, 7, text=STORY)
    bare = {"type": "line", "file_path": "a.py", "line_start": 4, "line_end": 4}
    project.record({**bare, "action": "modify", "timestamp": "2026-02-04T10:00:00Z"})
    uri = editor.open(project.file("a.py"))
    ((line, title),) = await editor.lenses(uri)
    assert (line, title.partition(" · ")[0]) == (4, "2 AI edits (1 claimed)")


async def test_what_it_says_is_worked_out_when_it_is_resolved(
    editor: Editor, trail: CompleteTrail
) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    lenses = await editor.lens_places(uri)
    assert [lens.command for lens in lenses] == [None] * 2
    resolved = await editor.client.code_lens_resolve_async(lenses[0])
    assert resolved.range == lenses[0].range
    assert resolved.command is not None
    assert resolved.command.command == "vibes.showHistory"
    assert list(resolved.command.arguments or []) == [
        {"uri": uri, "annotationIds": [trail.function]}
    ]
    shown = await editor.run(resolved.command.command, *(resolved.command.arguments or []))
    assert "valid_email" in shown["text"]


async def test_a_client_that_shows_nothing_meanwhile_is_told_at_once(
    tmp_path: Path, trail: CompleteTrail
) -> None:
    ours = {"resolvedLenses": True, "commands": [SHOW]}
    async with session(tmp_path, [trail.root], experimental={"vibes": ours}) as editor:
        uri = editor.open(trail.root / "src/auth.py")
        commands = [lens.command for lens in await editor.lens_places(uri) if lens.command]
        assert [without_age(each.title) for each in commands] == [
            "AI edit · AGE · not reviewed",
            "AI edit · AGE · not reviewed",
        ]
        assert {each.command for each in commands} == {SHOW}
        assert list(commands[0].arguments or []) == [
            {"uri": uri, "annotationIds": [trail.function]}
        ]
        log = editor.open(trail.root / ".ai-audit/annotations.jsonl")
        titles = [each.command.title for each in await editor.lens_places(log) if each.command]
        assert "now at src/auth.py:1-8, exact" in titles


async def test_it_follows_text_that_is_not_saved(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated())
    before = await editor.lens_places(uri)
    editor.insert(uri, 0, "# one\n")
    assert await editor.lenses(uri) == [(5, "AI edit · AGE · not reviewed")]
    late = await editor.client.code_lens_resolve_async(before[0])
    assert late.command is not None
    assert without_age(late.command.title) == "AI edit · AGE · not reviewed"


async def test_a_lens_of_what_is_gone_still_resolves(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated())
    (lens,) = await editor.lens_places(uri)
    (project.root / ".ai-audit" / "annotations.jsonl").write_bytes(b"")
    for data in (lens.data, None, 7, {"uri": 5, "ids": {}}, {"uri": uri, "ids": [[], 5]}):
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
    assert await editor.lenses(uri) == [(4, "AI edit · AGE · not reviewed")]


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
        f"AI edit · AGE · high risk · {words}"
        for words in ("approved", "rejected", "review stale", "approved by AI")
    ]


async def test_what_is_rejected_still_waits_for_a_change(editor: Editor, project: Project) -> None:
    project.review(project.line("a.py", 4, 7, text=STORY), verdict="rejected")
    uri = editor.open(project.file("a.py"))
    assert await editor.lenses(uri) == [(4, "AI edit · AGE · rejected")]


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
