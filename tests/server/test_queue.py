"""`vibes.queue`: what waits for a person in the whole project, the riskiest first."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from tests.server.editor import Editor
from tests.server.project import STORY, Project

TWO = STORY + "\n\ndef other(payload: bytes) -> str:\n    return digest(payload)[:8]\n"


def places(answer: dict[str, Any]) -> list[tuple[str, int]]:
    return [(each["filePath"], each["lineStart"]) for each in answer["placements"]]


async def test_the_riskiest_comes_first_and_what_has_no_score_last(
    editor: Editor, project: Project
) -> None:
    project.annotated("b.py", 4, 7, risk_score=0.4)
    project.annotated("c.py", 4, 7)
    project.annotated("a.py", 4, 7, risk_score=0.9)
    project.annotated("a.py", 10, 13, risk_score=0.4)
    answer = await editor.run("vibes.queue", {"uri": project.root.as_uri()})
    assert places(answer) == [("a.py", 4), ("a.py", 10), ("b.py", 4), ("c.py", 4)]
    assert answer["total"] == 4
    assert [each["uri"] for each in answer["placements"][:1]] == [(project.root / "a.py").as_uri()]


async def test_a_review_takes_it_out_until_the_lines_change(
    editor: Editor, project: Project
) -> None:
    file = project.annotated("a.py", 4, 7, risk_score=0.9)
    uri = editor.open(file)
    await editor.run(
        "vibes.review",
        {
            "uri": uri,
            "lineStart": 5,
            "lineEnd": 5,
            "verdict": "approved",
            "reviewer": "Ada Example",
        },
    )
    assert places(await editor.run("vibes.queue", {"uri": uri})) == []
    project.file("a.py", STORY.replace("seen.hexdigest()", "seen.hexdigest().lower()"))
    assert places(await editor.run("vibes.queue", {"uri": uri})) == [("a.py", 4)]


async def test_a_limit_says_how_many_there_are(editor: Editor, project: Project) -> None:
    project.annotated("a.py", 4, 7)
    project.annotated("a.py", 10, 13)
    answer = await editor.run("vibes.queue", {"uri": project.root.as_uri(), "limit": 1})
    assert places(answer) == [("a.py", 4)]
    assert answer["total"] == 2


async def test_what_cannot_be_found_has_nothing_to_read(editor: Editor, project: Project) -> None:
    project.annotated("a.py", 4, 7)
    project.file("a.py", "nothing = 'of it is left'\n")
    assert (await editor.run("vibes.queue", {"uri": project.root.as_uri()})) == {
        "placements": [],
        "total": 0,
        "reviewed": 0,
    }


async def test_a_placement_says_whether_it_waits_as_the_queue_has_it(
    editor: Editor, project: Project
) -> None:
    uri = editor.open(project.annotated("a.py", 4, 7, risk_score=0.9))

    async def told() -> list[tuple[int, bool]]:
        placements = (await editor.final(uri))["placements"]
        queue = (await editor.run("vibes.queue", {"uri": uri}))["placements"]
        assert [each["annotationId"] for each in placements if each["waits"]] == [
            each["annotationId"] for each in queue
        ]
        return [(each["lineStart"], each["waits"]) for each in placements]

    assert await told() == [(4, True)]
    ai = {
        "reviewerKind": "ai",
        "tool": {"name": "Maestro", "version": "1.0.0"},
        "model": {"name": "gpt-5", "version": "1"},
    }
    await editor.run(
        "vibes.review", {"uri": uri, "lineStart": 5, "lineEnd": 5, "verdict": "approved", **ai}
    )
    assert await told() == [(4, True)], "an AI's word releases nothing"
    covering = {
        "uri": uri,
        "lineStart": 4,
        "lineEnd": 7,
        "action": "modify",
        "tool": ai["tool"],
        "model": ai["model"],
    }
    await editor.run("vibes.recordAnnotation", covering)
    assert await told() == [(4, True), (4, False)], "history waits for nobody"
    await editor.run(
        "vibes.review",
        {
            "uri": uri,
            "lineStart": 5,
            "lineEnd": 5,
            "verdict": "rejected",
            "reviewer": "Ada Example",
        },
    )
    assert await told() == [(4, False), (4, False)]


def parts_of(editor: Editor, token: str) -> list[dict[str, Any]]:
    """Return the parts that were sent with a token."""
    sent = [each for method, each in editor.client.sent if method == types.PROGRESS]
    return [each.value for each in sent if each.token == token]


async def test_a_client_gets_the_queue_in_parts_and_how_much_is_reviewed(
    editor: Editor, project: Project
) -> None:
    for number in range(30):
        project.annotated(f"pkg/m{number:02}.py", 4, 7, risk_score=number / 100)
    reviewed = project.line("pkg/m00.py", 10, 13, text=STORY)
    project.review(reviewed)
    given = {"uri": project.root.as_uri()}
    whole = await editor.run("vibes.queue", {**given, "limit": 1000})
    answer = await editor.run("vibes.queue", {**given, "partialResultToken": "rows"})
    assert answer == {**whole, "isWhole": True}
    assert (answer["total"], answer["reviewed"]) == (30, 1)
    parts = parts_of(editor, "rows")
    assert len(parts[0]["placements"]) == 1, "the first file does not wait for the others"
    assert all(row in whole["placements"] for part in parts for row in part["placements"])
    assert sum(part["reviewed"] for part in parts) == 1, "of each file once"
