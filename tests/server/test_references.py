"""References: all ranges of the same prompt; related information beside a risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.server.project import MOSTLY_CRITICAL, STORY, Project

if TYPE_CHECKING:
    from tests.server.editor import Editor


async def references(editor: Editor, uri: str, line: int) -> list[tuple[str, int, int]]:
    """Return file names and 1-based lines, of which places end on the last."""
    params = types.ReferenceParams(
        types.ReferenceContext(include_declaration=True),
        types.TextDocumentIdentifier(uri),
        types.Position(line - 1, 0),
    )
    found = await editor.client.text_document_references_async(params) or []
    return [
        (each.uri.rpartition("/")[2], each.range.start.line + 1, each.range.end.line + 1)
        for each in found
    ]


async def test_all_ranges_of_the_same_prompt_in_the_project(
    editor: Editor, project: Project
) -> None:
    prompt = project.prompt("Write them.")
    for path, start, end in (
        ("a.py", 4, 7),
        ("a.py", 10, 13),
        ("b.py", 4, 7),
        ("gone.py", 4, 7),
        ("../outside.py", 4, 7),
    ):
        project.line(path, start, end, text=STORY, prompt=prompt)
    project.line("c.py", 4, 7, text=STORY, prompt=project.prompt("Another."))
    project.file("c.py")
    project.file("b.py", "# above\n" + STORY)
    uri = await editor.open_known(project.file("a.py"))
    assert await references(editor, uri, 5) == [("a.py", 4, 7), ("a.py", 10, 13), ("b.py", 5, 8)]
    editor.insert(uri, 0, "# one\n")
    assert await references(editor, uri, 11) == [("a.py", 5, 8), ("a.py", 11, 14), ("b.py", 5, 8)]
    assert await references(editor, uri, 1) == []


async def test_no_prompt_no_references(editor: Editor, project: Project) -> None:
    uri = await editor.open_known(project.annotated())
    assert await references(editor, uri, 5) == []
    assert await references(editor, "untitled:x", 1) == []


@pytest.mark.every_profile
async def test_a_risk_names_the_other_ranges_of_its_prompt(
    editor: Editor, project: Project
) -> None:
    project.config(risk_scoring=MOSTLY_CRITICAL)
    prompt = project.prompt("Write both.")
    project.line("a.py", 4, 7, text=STORY, prompt=prompt, risk_score=0.9)
    project.review(project.line("a.py", 10, 13, text=STORY, prompt=prompt))
    uri = await editor.open_known(project.file("a.py"))
    risk = next(each for each in await editor.diagnostics(uri) if each.range.start.line == 3)
    if editor.profile == "nothing":
        assert risk.related_information is None
        return
    (related,) = risk.related_information or []
    assert (related.location.uri, related.location.range.start.line, related.message) == (
        uri,
        9,
        "of the same prompt: create",
    )
