"""`vibes/provenance` with runs, and with only the changes since the last answer."""

from __future__ import annotations

from typing import Any

from tests.server.editor import Editor
from tests.server.project import STORY, Project


async def test_runs_are_the_lines_that_it_owns_by_kind(editor: Editor, project: Project) -> None:
    project.line("a.py", 1, 13, text=STORY)
    project.line("a.py", 4, 7, text=STORY, action="modify")
    uri = await editor.open_known(project.file("a.py"))
    answer = await editor.provenance(uri, runs=True)
    assert {each["action"]: each["runs"] for each in answer["placements"]} == {
        "create": [
            {"lineStart": 1, "lineEnd": 3, "kind": "ai"},
            {"lineStart": 8, "lineEnd": 13, "kind": "ai"},
        ],
        "modify": [{"lineStart": 4, "lineEnd": 7, "kind": "ai"}],
    }
    after = len(editor.client.sent)
    editor.replace(uri, (5, 0), (6, 0), "    seen = hashlib.sha512(payload)\n")
    told = [("claimed", 4, 7)]
    while [
        (run["kind"], run["lineStart"], run["lineEnd"])
        for run in await _runs(editor, uri, "modify")
    ] != told:
        await editor.told(uri, after=after)
        after = len(editor.client.sent)


async def _runs(editor: Editor, uri: str, action: str) -> list[dict[str, Any]]:
    placements = (await editor.provenance(uri, runs=True))["placements"]
    return next(list(each["runs"]) for each in placements if each["action"] == action)


async def test_what_the_client_knows_is_not_said_again(editor: Editor, project: Project) -> None:
    project.line("a.py", 4, 7, text=STORY)
    later = project.line("a.py", 10, 13, text=STORY)
    uri = await editor.open_known(project.file("a.py"))
    first = await editor.provenance(uri, runs=True)
    assert "since" not in first
    nothing = await editor.provenance(uri, runs=True, previousResultId=first["resultId"])
    assert (nothing["since"], nothing["placements"]) == (first["resultId"], [])
    assert nothing["resultId"] != first["resultId"]

    version = editor.insert(uri, 9, "# one\n")  # between the two
    known, answer = {each["annotationId"]: each for each in first["placements"]}, nothing
    said: list[dict[str, Any]] = []
    while True:
        answer = await editor.provenance(uri, runs=True, previousResultId=answer["resultId"])
        assert (answer["version"], "since" in answer) == (version, True)
        said += answer["placements"]
        for each in answer["placements"]:
            known[each["annotationId"]] = {**known[each["annotationId"]], **each}
        whole = (await editor.provenance(uri))["placements"]
        if [
            {name: value for name, value in each.items() if name != "runs"}
            for each in known.values()
        ] == whole:
            break  # else it was looked at anew between the two answers
    assert known[later]["lineStart"] == 11
    assert {"ids", "model", "timestamp", "totalLines"}.isdisjoint(
        name for each in said for name in each
    ), "what is as before was said again"


async def test_all_is_said_where_the_last_answer_is_another_or_will_not_do(
    editor: Editor, project: Project
) -> None:
    uri = await editor.open_known(project.annotated())
    first = await editor.provenance(uri, runs=True)
    second = await editor.provenance(uri, runs=True)
    late = await editor.provenance(uri, runs=True, previousResultId=first["resultId"])
    unknown = await editor.provenance(uri, runs=True, previousResultId="no such answer")
    for answer in (late, unknown):
        assert ("since" in answer, answer["placements"]) == (False, second["placements"])
    project.line("a.py", 10, 13, text=STORY)
    grown = await editor.provenance(uri, runs=True, previousResultId=unknown["resultId"])
    assert ("since" in grown, len(grown["placements"])) == (False, 2)
    editor.close(uri)
    assert "resultId" not in await editor.provenance(uri, runs=True), (
        "an answer about a file that is not open would be kept for ever"
    )
    editor.open_uri(uri, STORY)
    again = await editor.provenance(uri, runs=True, previousResultId=grown["resultId"])
    assert ("since" in again, len(again["placements"])) == (False, 2)
