"""Reviews and what git history contradicts claim no code on any surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types

from tests.records_without_code import FILE, KINDS, project_with_record
from tests.server.project import STORY
from tests.server.test_code_actions import actions

if TYPE_CHECKING:
    from tests.server.editor import Editor
    from tests.server.project import Project

EARLY = "2026-02-03T08:59:00Z"
OFFERS = ["Show prompt", "Show history", "Open audit record", "Show AI changes since HEAD"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_it_has_no_line_no_lens_no_problem_and_no_mark(
    editor: Editor, project: Project, kind: str
) -> None:
    project_with_record(project.root, kind)
    await editor.set(diagnostics={"minimumBand": "low"}, risk={"preview": True})
    uri = await editor.open_known(project.root / FILE)
    answer = await editor.provenance(uri, lines=True, runs=True)
    (found,) = answer["placements"]
    assert (answer["lines"], found["ownedRanges"], found["runs"], found["waits"]) == (
        [],
        [],
        [],
        False,
    )
    assert await editor.lenses(uri) == []
    assert await editor.diagnostics(uri) == []
    assert (await editor.run("vibes.queue", {"uri": uri})) == {
        "placements": [],
        "total": 0,
        "reviewed": 0,
    }


async def test_a_hover_says_what_it_is(editor: Editor, project: Project, kind: str) -> None:
    project_with_record(project.root, kind)
    uri = await editor.open_known(project.root / FILE)
    said = {
        "review": "a review of these lines; ",
        "contradicted": "its text was in git before it was recorded",
    }
    assert said[kind] in await editor.hover(uri, 5)


async def test_it_cannot_be_reviewed_or_given_another_place(
    editor: Editor, project: Project, kind: str
) -> None:
    project_with_record(project.root, kind)
    uri = await editor.open_known(project.root / FILE)
    assert list(await actions(editor, uri, 5)) == OFFERS
    real = project.line(FILE, 4, 7, text=STORY, timestamp=EARLY)
    given: Any = ((await actions(editor, uri, 5))["Mark reviewed"].arguments or [{}])[0]
    assert given["annotationIds"] == [real]


async def test_references_of_a_prompt_do_not_lead_there(
    editor: Editor, project: Project, kind: str
) -> None:
    project_with_record(project.root, kind)
    project.line(FILE, 10, 13, text=STORY, prompt=project.prompt("Change it."), timestamp=EARLY)
    uri = await editor.open_known(project.root / FILE)
    assert [each.range.start.line + 1 for each in await references(editor, uri, 11)] == [10]


async def references(editor: Editor, uri: str, line: int) -> list[Any]:
    place = types.Position(line - 1, 0)
    params = types.ReferenceParams(
        types.ReferenceContext(include_declaration=True), types.TextDocumentIdentifier(uri), place
    )
    return list(await editor.client.text_document_references_async(params) or [])


async def test_lines_are_claimed_where_nothing_proves_them(
    editor: Editor, project: Project
) -> None:
    verified = project.line(FILE, 4, 7, text=STORY)
    claimed = project.line(FILE, 10, 12)
    uri = editor.open(project.file(FILE))
    answer = await editor.provenance(uri, lines=True, runs=True)
    assert [(each["line"], each["annotationId"], each["kind"]) for each in answer["lines"]] == [
        *((line, verified, "ai") for line in range(4, 8)),
        *((line, claimed, "claimed") for line in range(10, 13)),
    ]
    assert [each["runs"] for each in answer["placements"]] == [
        [{"lineStart": 4, "lineEnd": 7, "kind": "ai"}],
        [{"lineStart": 10, "lineEnd": 12, "kind": "claimed"}],
    ]
    assert [each["lineText"].partition(":")[0] for each in answer["placements"]] == [
        "AI",
        "AI (claimed)",
    ]
