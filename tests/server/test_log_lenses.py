"""Lenses and folds of the log, and folds of the other audit files."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.server.editor import Editor
from tests.server.project import STORY, Project


@pytest.mark.every_profile
async def test_lenses_in_the_log_lead_to_the_lines(editor: Editor, project: Project) -> None:
    made = [project.line("a.py", 4, 7, text=STORY), project.line("a.py", 10, 13, text=STORY)]
    for file in ("b.py", "gone.py"):
        project.line(file, 1, 3, text="gone = 1\naway = 2\nlost = 3\n")
    bare = {"type": "line", "file_path": "a.py", "line_start": 4, "line_end": 4}
    project.record({**bare, "action": "modify", "timestamp": "2026-02-04T10:00:00Z"})
    newer = project.line("a.py", 4, 7, text=STORY, action="modify")
    reason = {"reason": "covers"}
    project.edge("supersedes", newer, made[0], target_type="annotation", metadata=reason)
    project.file("b.py")
    code = editor.open(project.file("a.py", f"# one\n{STORY}"))
    uri = editor.open(project.root / ".ai-audit/annotations.jsonl")
    titles = [title for _, title in await editor.lenses(uri)]
    assert titles == [
        "replaced, now at a.py:5-8, moved",
        "now at a.py:11-14, moved",
        "not found in b.py",
        "gone.py cannot be read",
        "now at a.py:4-4, unverified",
        "now at a.py:5-8, moved",
    ]
    editor.insert(code, 0, "# two\n")
    assert (await editor.lenses(uri))[1][1] == "now at a.py:12-15, moved"
    answer = await editor.run("vibes.openLines", {"uri": code, "annotationId": made[1]})
    assert answer["uri"] == code
    assert answer["range"]["start"] == {"line": 11, "character": 0}
    assert answer["range"]["end"] == {"line": 14, "character": len(STORY.splitlines()[12])}
    assert answer["shown"] == (editor.profile != "nothing")
    lens = (await editor.lens_places(uri))[1]
    command = (await editor.client.code_lens_resolve_async(lens)).command
    assert command is not None
    if editor.profile == "nothing":
        assert command.command == ""
    else:
        assert command.command == "vibes.openLines"
        assert list(command.arguments or ()) == [{"uri": code, "annotationId": made[1]}]
    await editor.set(codeLens={"enable": False})
    assert await editor.lens_places(uri) == []


async def test_a_lens_says_that_other_lines_fit_as_well(editor: Editor, project: Project) -> None:
    project.line("a.py", 1, 2, text="one = 1\ntwo = 2\n")
    project.file("a.py", "# top\none = 1\ntwo = 2\n# between\none = 1\ntwo = 2\n")
    uri = editor.open(project.root / ".ai-audit/annotations.jsonl")
    (lens,) = await editor.lenses(uri)
    assert lens[1] == "now at a.py:2-3, moved, may be elsewhere"


async def test_lenses_of_a_text_that_is_not_saved(editor: Editor, project: Project) -> None:
    project.line("a.py", 4, 7, text=STORY)
    log = project.root / ".ai-audit/annotations.jsonl"
    project.file("a.py")
    saved = log.read_text()
    uri = editor.open(log, f'no JSON\n{{"type":"line","annotation_id":"x"}}\n\n{saved}')
    assert await editor.lenses(uri) == [
        (2, "not in the trail as saved"),
        (saved.count("\n") + 3, "now at a.py:4-7, exact"),
    ]


async def test_folding(editor: Editor, project: Project) -> None:
    async def folds(file: Path, text: str | None = None) -> list[tuple[int, int]]:
        params = types.FoldingRangeParams(types.TextDocumentIdentifier(editor.open(file, text)))
        found = await editor.client.text_document_folding_range_async(params)
        return [(each.start_line + 1, each.end_line + 1) for each in found or ()]

    def record(kind: str, session: str | None = None) -> str:
        return f'{{"type":"{kind}"' + (f',"session_id":"{session}"' if session else "") + "}\n"

    log = project.root / ".ai-audit/annotations.jsonl"
    lines = [
        record("session", "one"),
        record("line", "one"),
        record("edge", "one"),
        record("edge"),
        record("function", "one"),
        record("session", "two"),
        "no JSON\n",
        record("line", "two"),
        record("edge", "two"),
    ]
    assert sorted(await folds(log, "".join(lines))) == [(1, 5), (2, 4), (6, 9), (8, 9)]
    manifest = log.with_name("manifest.json")
    text = '{\n "a}": {\n  "b": [\n   "{", 1\n  ]\n },\n "c": {}\n}'
    assert sorted(await folds(manifest, text)) == [(1, 7), (2, 5), (3, 4)]
    assert await folds(manifest, '{"entries": {\n"a": 1,\n"b": 2\n}}') == [(1, 3)]
    assert await folds(manifest.with_name("config.json"), "]}{\n{\n") == []
    assert await folds(project.file("a.py")) == []
