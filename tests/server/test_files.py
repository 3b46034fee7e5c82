"""`vibes.files`: what a file tree shows of each file: the AI's share, and what waits in it."""

from __future__ import annotations

from typing import Any

from tests.server.editor import Editor
from tests.server.project import EDITED, STORY, Project
from tests.trails import Repository


async def summaries(editor: Editor, *uris: str) -> dict[str, dict[str, Any]]:
    answer = await editor.run("vibes.files", {"uris": list(uris)})
    return {each["uri"]: each for each in answer["files"]}


async def test_files_with_ai_lines_have_numbers_and_others_are_left_out(
    editor: Editor, project: Project
) -> None:
    annotated = project.annotated("a.py", 4, 7, risk_score=0.9).as_uri()
    project.line("a.py", 10, 13, text=STORY, risk_score=0.2)
    plain = project.file("plain.py").as_uri()
    outside = project.root.parent.as_uri() + "/elsewhere.py"
    folder, gone = project.root.as_uri(), (project.root / "gone.py").as_uri()
    log = (project.root / ".ai-audit/annotations.jsonl").as_uri()
    found = await summaries(editor, annotated, plain, outside, folder, gone, log, "untitled:new")
    assert found == {
        annotated: {
            "uri": annotated,
            "filePath": "a.py",
            "lines": 13,
            "verifiedLines": 8,
            "claimedLines": 0,
            "editedLines": 0,
            "share": 0.6154,
            "waiting": 2,
            "band": "critical",
        }
    }


async def test_what_waits_is_what_the_queue_has(editor: Editor, project: Project) -> None:
    repository = Repository(project.root, start="2026-02-05T09:00:00+00:00")
    project.annotated("a.py", 4, 7, risk_score=0.9)
    other = project.annotated("b.py", 10, 13).as_uri()
    repository.commit("Begin")
    edited = project.file("a.py", EDITED).as_uri()

    async def check(expected: dict[str, int]) -> None:
        queue = await editor.run("vibes.queue", {"uri": edited})
        waiting = [each["uri"] for each in queue["placements"]]
        found = await summaries(editor, edited, other)
        assert {uri: each["waiting"] for uri, each in found.items()} == expected
        assert {uri: waiting.count(uri) for uri in found} == expected

    await check({edited: 1, other: 1})
    await editor.run(
        "vibes.review",
        {"uri": other, "lineStart": 11, "lineEnd": 11, "verdict": "approved", "reviewer": "Ada"},
    )
    await check({edited: 1, other: 0})
    project.line("b.py", 4, 7, text=STORY)
    await check({edited: 1, other: 1})
