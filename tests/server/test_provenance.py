"""`vibes.lookup` and `vibes/provenance`: where each annotation is now."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.editor import Editor, without_age
from tests.server.project import STORY, Project
from tests.trails import CompleteTrail

ALWAYS = {
    "annotationId",
    "ids",
    "type",
    "filePath",
    "range",
    "lineStart",
    "lineEnd",
    "ownedRanges",
    "recordedLineStart",
    "recordedLineEnd",
    "state",
    "method",
    "confidence",
    "ambiguous",
    "intactLines",
    "totalLines",
    "band",
    "score",
    "storedScore",
    "review",
    "tool",
    "model",
    "environmentHash",
    "action",
    "timestamp",
    "assuranceLevel",
    "age",
    "displayName",
    "stateText",
    "reasons",
    "label",
    "lineText",
    "waits",
}
"""What a placement always has, null where it is not known."""
SOMETIMES = {
    "functionName",
    "factors",
    "promptHash",
    "prompt",
    "sessionId",
    "commitHash",
    "commitMethod",
}
"""What is left out where there is none."""


def lines_range(start: int, end: int) -> dict[str, Any]:
    """Return 1-based lines, both inclusive, as the range that the server gives for them."""
    return {"start": {"line": start - 1, "character": 0}, "end": {"line": end, "character": 0}}


def lsp(*numbers: int) -> dict[str, Any]:
    """Return a range as a client sends it: line, character, line, character."""
    return {
        "start": {"line": numbers[0], "character": numbers[1]},
        "end": {"line": numbers[2], "character": numbers[3]},
    }


async def test_every_member_of_a_placement(editor: Editor, trail: CompleteTrail) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    answer = await editor.provenance(uri)
    assert set(answer) - {"provisional"} == {"uri", "version", "placements"}
    assert (answer["uri"], answer["version"]) == (uri, 1)
    created = answer["placements"][0]
    confidence = created.pop("confidence")
    assert isinstance(confidence, int | float)
    assert confidence == 1
    review = created.pop("review")
    assert review.pop("at").startswith("2026-02-03T10:00:")
    assert review == {"verdict": "approved", "by": "Ada", "kind": "human", "stale": False}
    aged = {name: without_age(created.pop(name)) for name in ("age", "label", "lineText")}
    assert aged == {
        "age": "AGE",
        "label": "AI edit · AGE · approved",
        "lineText": "AI: claude-opus-4-5, AGE · “Create a sign-up check for email and password.”",
    }
    method = created.pop("method")
    assert isinstance(method, str)
    assert created == {
        "annotationId": trail.created,
        "ids": [trail.created],
        "type": "line",
        "filePath": "src/auth.py",
        "range": lines_range(1, 8),
        "lineStart": 1,
        "lineEnd": 8,
        "ownedRanges": [lines_range(1, 8)],
        "recordedLineStart": 1,
        "recordedLineEnd": 8,
        "state": "exact",
        "ambiguous": False,
        "intactLines": 8,
        "totalLines": 8,
        "band": None,
        "score": None,
        "storedScore": None,
        "tool": {"name": "Maestro", "version": "1.0.0"},
        "model": {"name": "claude-opus-4-5", "version": "20251101"},
        "environmentHash": trail.environment,
        "action": "create",
        "timestamp": "2026-02-03T10:00:01.000Z",
        "assuranceLevel": "high",
        "sessionId": trail.session,
        "promptHash": trail.prompt,
        "prompt": "Create a sign-up check for email and password.",
        "commitHash": trail.commit,
        "commitMethod": "recorded",
        "displayName": "valid_email",
        "stateText": "unchanged since",
        "reasons": [],
        "waits": False,
    }


async def test_a_placement_names_its_function(editor: Editor, trail: CompleteTrail) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    function = (await editor.provenance(uri))["placements"][1]
    assert set(function) == ALWAYS | SOMETIMES - {"factors"}
    chosen = (
        "annotationId",
        "type",
        "functionName",
        "lineStart",
        "lineEnd",
        "recordedLineStart",
        "recordedLineEnd",
        "totalLines",
    )
    assert [function[name] for name in chosen] == [
        trail.function,
        "function",
        "valid_email",
        6,
        8,
        None,
        None,
        None,
    ]


async def test_a_lineage_goes_by_its_current_record(editor: Editor, trail: CompleteTrail) -> None:
    uri = editor.open(trail.root / "src/limits.py")
    (found,) = (await editor.provenance(uri))["placements"]
    assert found["annotationId"] == trail.remapped
    assert found["ids"] == list(trail.lineage)
    assert (found["lineStart"], found["lineEnd"], found["state"]) == (3, 9, "exact")
    assert found["timestamp"] == trail.writer.files.record(trail.pending)["timestamp"]


async def test_what_is_not_known_is_null_or_left_out(editor: Editor, project: Project) -> None:
    project.line("a.py", 2, 3, environment="e0" * 32)
    uri = editor.open(project.file("a.py"))
    (found,) = (await editor.provenance(uri))["placements"]
    assert set(found) == ALWAYS
    assert found["state"] == "unverified"
    assert [found[name] for name in ("intactLines", "band", "score", "storedScore", "review")] == [
        None
    ] * 5
    assert found["tool"] == found["model"] == {"name": "unknown", "version": "unknown"}


async def test_risk_is_told_as_recorded(editor: Editor, project: Project) -> None:
    factors = [{"signal": "scope_lines", "value": 0.9, "weight": 0.15, "reason": "430 lines"}]
    uri = editor.open(project.annotated(risk_score=0.7251, risk_factors=factors))
    (found,) = (await editor.provenance(uri))["placements"]
    assert (found["storedScore"], found["band"], found["score"], found["factors"]) == (
        0.7251,
        "high",
        None,
        factors,
    )


async def test_it_follows_text_that_is_not_saved(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated())
    version = editor.insert(uri, 0, "# one\n")
    answer = await editor.provenance(uri, lines=True)
    (found,) = answer["placements"]
    assert answer["version"] == version == 2
    assert (found["lineStart"], found["lineEnd"], found["recordedLineStart"], found["state"]) == (
        5,
        8,
        4,
        "moved",
    )
    assert found["range"] == lines_range(5, 8)
    assert [each["line"] for each in answer["lines"]] == [5, 6, 7, 8]


async def test_a_file_that_is_not_open_is_read_and_has_no_version(
    editor: Editor, project: Project
) -> None:
    uri = project.annotated().as_uri()
    answer = await editor.provenance(uri)
    assert answer["version"] is None
    assert answer["placements"][0]["state"] == "exact"
    assert editor.open_uri(uri, "") == uri
    assert (await editor.provenance(uri))["placements"][0]["state"] == "lost"
    editor.close(uri)
    assert {**await editor.provenance(uri), "provisional": True} == answer


async def test_the_first_answer_says_that_history_was_not_asked_yet(
    editor: Editor, project: Project
) -> None:
    uri = project.annotated().as_uri()
    assert (await editor.provenance(uri))["provisional"] is True, (
        "nobody asks it for a file that is not open"
    )
    editor.open_uri(uri, STORY)
    assert "provisional" not in await editor.final(uri)


async def test_lines_tell_who_owns_each_and_whether_it_was_edited(
    editor: Editor, project: Project
) -> None:
    whole = project.hashed("a.py", 4, 7)
    inner = project.hashed("a.py", 11, 12)
    uri = await editor.open_known(project.file("a.py"))
    editor.replace(uri, (6, 0), (7, 0), "    return seen.digest()\n")
    told: list[dict[str, Any]] = [
        *({"line": line, "annotationId": whole, "kind": "ai"} for line in (4, 5, 6)),
        *({"line": line, "annotationId": inner, "kind": "ai"} for line in (11, 12)),
    ]
    assert (await editor.provenance(uri, lines=True))["lines"] == told
    assert "lines" not in await editor.provenance(uri, lines=False)
    assert "lines" not in await editor.provenance(uri)


async def test_document_order_lost_after_placed_history_after_owners(
    editor: Editor, project: Project
) -> None:
    gone = "gone = 1\naway = 2\nlost = 3\n"
    lost = project.line("a.py", 1, 3, text=gone)
    late = project.line("a.py", 10, 13, text=STORY)
    older, older_lost = (
        project.line("a.py", 4, 7, text=STORY),
        project.line("a.py", 2, 3, text=gone),
    )
    newer = project.line("a.py", 4, 7, text=STORY, action="modify")
    inner = project.line("a.py", 11, 12, text=STORY)
    first = project.line("a.py", 1, 1, text=STORY)
    for each in (older, older_lost):
        project.edge(
            "supersedes", newer, each, target_type="annotation", metadata={"reason": "covers"}
        )
    uri = editor.open(project.file("a.py"))
    found = (await editor.provenance(uri))["placements"]
    assert [each["annotationId"] for each in found] == [
        first,
        newer,
        late,
        inner,
        lost,
        older,
        older_lost,
    ]
    assert [each["lineStart"] for each in found] == [1, 4, 10, 11, None, 4, None]
    assert [bool(each["ownedRanges"]) for each in found] == [True] * 4 + [False] * 3


async def test_what_is_lost_is_on_no_line(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated(), "import os\n\n\nprint(os.name)\n")
    answer = await editor.provenance(uri, lines=True)
    (found,) = answer["placements"]
    assert (found["range"], found["lineStart"], found["lineEnd"], found["state"]) == (
        None,
        None,
        None,
        "lost",
    )
    assert (found["recordedLineStart"], found["recordedLineEnd"], found["totalLines"]) == (4, 7, 4)
    assert found["ownedRanges"] == []
    assert answer["lines"] == []


async def test_an_owner_keeps_the_pieces_around_a_later_edit(
    editor: Editor, project: Project
) -> None:
    project.line("a.py", 1, 13, text=STORY)
    project.line("a.py", 4, 7, text=STORY, action="modify")
    uri = editor.open(project.file("a.py"))
    found = {
        each["action"]: each["ownedRanges"] for each in (await editor.provenance(uri))["placements"]
    }
    assert found == {
        "create": [lines_range(1, 3), lines_range(8, 13)],
        "modify": [lines_range(4, 7)],
    }


@pytest.mark.parametrize(
    ("within", "found"),
    [
        (lsp(0, 0, 3, 0), 0),
        (lsp(0, 0, 3, 1), 1),
        (lsp(3, 0, 3, 0), 1),
        (lsp(3, 5, 3, 5), 1),
        (lsp(2, 4, 3, 0), 0),
        (lsp(6, 99, 6, 99), 1),
        (lsp(7, 0, 7, 0), 0),
        (lsp(7, 0, 9, 0), 0),
        (lsp(7, 0, 9, 1), 1),
        (lsp(0, 0, 2**31 - 1, 0), 2),
        (lsp(500, 0, 600, 0), 0),
    ],
    ids=lambda value: (
        ""
        if isinstance(value, int)
        else "-".join(str(value[end][what]) for end in value for what in value[end])
    ),
)
async def test_a_range_chooses_the_annotations_that_it_touches(
    editor: Editor, project: Project, within: dict[str, Any], found: int
) -> None:
    project.line("a.py", 4, 7, text=STORY)
    project.line("a.py", 10, 13, text=STORY)
    uri = editor.open(project.file("a.py"))
    answer = await editor.run("vibes.lookup", {"uri": uri, "range": within, "lines": True})
    assert len(answer["placements"]) == found
    assert {each["annotationId"] for each in answer["lines"]} == {
        each["annotationId"] for each in answer["placements"]
    }


async def test_what_is_lost_is_in_no_range(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated(), "import os\n")
    assert len((await editor.run("vibes.lookup", {"uri": uri}))["placements"]) == 1
    assert (await editor.run("vibes.lookup", {"uri": uri, "range": lsp(0, 0, 99, 0)}))[
        "placements"
    ] == []


async def test_the_command_answers_as_the_request_does(
    editor: Editor, trail: CompleteTrail
) -> None:
    uri = await editor.open_known(trail.root / "src/auth.py")
    for lines in (False, True):
        assert await editor.run(
            "vibes.lookup", {"uri": uri, "lines": lines}
        ) == await editor.provenance(uri, lines=lines)


async def test_a_file_without_annotations_has_none(editor: Editor, project: Project) -> None:
    uri = await editor.open_known(project.file("a.py"))
    assert await editor.provenance(uri, lines=True) == {
        "uri": uri,
        "version": 1,
        "placements": [],
        "lines": [],
    }


async def test_the_lines_end_says_that_an_ai_wrote_it_and_the_prompt_last(
    editor: Editor, project: Project
) -> None:
    prompt = project.prompt("Make a digest, and be quick about it: " + "as quick as you can, " * 9)
    project.line("a.py", 4, 7, text=STORY, prompt=prompt, risk_score=0.72)
    uri = await editor.open_known(project.file("a.py"))
    (found,) = (await editor.provenance(uri))["placements"]
    assert without_age(found["lineText"]).startswith(
        "AI: claude-opus-4-5, AGE · “Make a digest, and be quick about it: as"
    )
    assert found["lineText"].endswith("…”")
    assert len(found["lineText"]) < 150
    await editor.set(prompts={"show": False})
    (found,) = (await editor.provenance(uri))["placements"]
    assert without_age(found["lineText"]) == "AI: claude-opus-4-5, AGE"


async def test_the_lines_end_says_so_where_the_lines_are_not_as_written(
    editor: Editor, project: Project
) -> None:
    project.hashed("a.py", 4, 7)
    uri = await editor.open_known(project.file("a.py"))
    editor.replace(uri, (6, 0), (7, 0), "    return seen.hexdigest().upper()\n")
    (found,) = (await editor.final(uri))["placements"]
    assert without_age(found["lineText"]) == "AI: claude-opus-4-5, AGE · edited since"
    assert found["stateText"] == "edited since: 3 of 4 lines unchanged"


async def test_nothing_says_who_changed_a_line_that_no_record_names(
    editor: Editor, project: Project
) -> None:
    project.hashed("a.py", 4, 7)
    uri = await editor.open_known(project.file("a.py"))
    editor.replace(uri, (6, 0), (7, 0), "    return seen.hexdigest().upper()\n")
    (first,) = (await editor.final(uri))["placements"]
    assert first["stateText"] == "edited since: 3 of 4 lines unchanged"
    newer = STORY.replace("return seen.hexdigest()", "return seen.hexdigest().upper()")
    other = project.environment(model="gpt-5", tool="Codex")
    project.line("a.py", 7, 7, text=newer, action="modify", environment=other)
    while len(found := (await editor.final(uri))["placements"]) < 2:
        await editor.caught_up()  # the trail is read in the pause after typing
    first, second = found
    assert first["stateText"] == "edited since: 3 of 4 lines unchanged"
    assert second["stateText"] == "unchanged since"
    editor.insert(uri, 5, "    log(payload)\n")
    first, _ = (await editor.final(uri))["placements"]
    assert first["stateText"] == "edited since: 3 of 4 lines unchanged"


async def test_names_for_people(editor: Editor, project: Project) -> None:
    project.line("a.py", 4, 7, text=STORY)
    project.line("a.py", 12, 12, text=STORY)
    project.line("a.py", 1, 2, text="gone = 1\naway = 2\n")
    uri = editor.open(project.file("a.py"))
    names = [each["displayName"] for each in (await editor.provenance(uri))["placements"]]
    assert names == ["digest", "right = digest(other)", "lines 1-2"]
