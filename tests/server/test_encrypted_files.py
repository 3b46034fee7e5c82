"""The server writes nothing of a text that git stores encrypted, neither in a trail nor in a cache."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tests.filters import SECRETS, add_filter, files_with
from tests.server.test_recording import MODEL, PROMPT, TOOL, lines, session_of
from tests.trails import Repository

if TYPE_CHECKING:
    from tests.server.editor import Editor
    from tests.server.project import Project

LINES = SECRETS.splitlines()


async def test_an_unsaved_secret_is_claimed_and_stays_in_the_editor(
    editor: Editor, project: Project
) -> None:
    repository = Repository(project.root)
    add_filter(repository, "crypt", "*.env", program="crypt")
    project.file("a.env", SECRETS.replace("hunter2", "another"))
    repository.commit("Begin")
    uri = editor.open(project.root / "a.env", SECRETS)
    session = await session_of(editor, uri)
    told = {"uri": uri, "range": lines(3, 3), "action": "modify", "sessionId": session}
    answer = await editor.run("vibes.recordAnnotation", {**told, "prompt": PROMPT})
    assert answer["withheld"] == ["anchors"]
    position = {"line": 3, "character": 0}
    completion = {
        "uri": uri,
        "version": 1,
        "range": {"start": position, "end": {"line": 3, "character": len(LINES[3])}},
        "newText": f"{LINES[3]} + '2'",
        "tool": TOOL,
        "model": MODEL,
        "completionId": "c1",
        "partial": {"part": 1, "final": False},
    }
    assert (await editor.run("vibes.recordInlineCompletion", completion))["pending"]
    placements = (await editor.provenance(uri))["placements"]
    assert {each["state"] for each in placements} == {"unverified"}
    await editor.run("vibes.endSession", {"uri": uri, "sessionId": session})
    repository.commit("Change a secret")
    assert "not verified" in await editor.hover(uri, 3)
    for folder in (project.root / ".ai-audit", project.root / ".git"):
        assert files_with(folder, SECRETS) == []
    assert files_with(Path(os.environ["XDG_CACHE_HOME"]), SECRETS) == []
