"""Inline completions: whole or in parts, reported before or after the change."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.server.editor import Editor
from tests.server.profiles import encoded
from tests.server.project import STORY, Project
from tests.server.sessions import session
from tests.waiting import TIMEOUT

JSON_RPC_INTERNAL_ERROR = -32603
TOOL = {"name": "Some Completer", "version": "2.0"}
MODEL = {"name": "some-model", "version": "1"}
PROMPT = {"text": "Halve it.", "type": "inline_completion"}
HALF = "def half(one):\n    return one / 2\n"
"""Goes before line 9 of the story, and is on lines 9 and 10 then."""


def place(line: int, column: int = 0) -> dict[str, Any]:
    """Return an empty LSP range."""
    return {end: {"line": line, "character": column} for end in ("start", "end")}


def told(uri: str, version: int, where: dict[str, Any], new: str, **more: Any) -> dict[str, Any]:
    """Return the argument of the command."""
    given = {
        "uri": uri,
        "version": version,
        "range": where,
        "newText": new,
        "tool": TOOL,
        "model": MODEL,
        "completionId": "c1",
    }
    return {**given, **more}


async def accepted(editor: Editor, given: dict[str, Any]) -> dict[str, Any]:
    """Tell of a completion."""
    answer = await editor.run("vibes.recordInlineCompletion", given)
    assert isinstance(answer, dict)
    return answer


def log(project: Project) -> list[dict[str, Any]]:
    """Return the annotations that are in the log."""
    file = project.root / ".ai-audit/annotations.jsonl"
    records = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return [record for record in records if record["type"] == "line"]


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds on disk."""
    async with asyncio.timeout(TIMEOUT):
        while not holds():  # noqa: ASYNC110  # a file sends no event
            await asyncio.sleep(0.02)


def lines_of(record: dict[str, Any]) -> tuple[int, int]:
    return record["line_start"], record["line_end"]


@pytest.mark.parametrize("order", ["before", "after", "long after", "with the version after"])
async def test_the_lines_are_right_whenever_the_change_arrives(
    editor: Editor, project: Project, order: str
) -> None:
    uri = editor.open(project.file("a.py"))
    given = told(uri, 1, place(8), HALF, prompt=PROMPT)
    if order != "before":
        version = editor.insert(uri, 8, HALF)
        given["version"] = version if order == "with the version after" else 1
    if order == "long after":
        editor.insert(uri, 0, "# one\n")
        editor.insert(uri, 0, "# two\n")
    answer = await accepted(editor, given)
    if order == "before":
        editor.insert(uri, 8, HALF)
    first = 11 if order == "long after" else 9
    assert lines_of(answer["record"]) == (first, first + 1)
    assert log(project) == [answer["record"]]
    shown = await editor.hover(uri, first)
    assert "unchanged since" in shown
    assert "Halve it." in shown
    assert await accepted(editor, given) == answer
    assert len(log(project)) == 1


async def test_part_by_part_it_shows_at_once_and_is_one_annotation(
    editor: Editor, project: Project
) -> None:
    uri = editor.open(project.file("a.py"))
    parts = ["def half", "(one):", "\n    return one / 2\n"]
    line, column = 8, 0
    answer: dict[str, Any] = {}
    for number, part in enumerate(parts, 1):
        version = editor.replace(uri, (line, column), (line, column), part) - 1
        given = told(
            uri,
            version,
            place(line, column),
            part,
            prompt=PROMPT,
            partial={"part": number, "final": number == len(parts)},
        )
        answer = await accepted(editor, given)
        column += len(part)
        if number < len(parts):
            assert answer == {"pending": True}
            assert "pending" in await editor.hover(uri, 9)
            assert [
                title
                for at, title in await editor.lenses(uri)
                if at == 9 and "not recorded yet" in title
            ]
            [placement] = (await editor.provenance(uri))["placements"]
            assert placement["pending"] is True
    assert lines_of(answer["record"]) == (9, 10)
    assert log(project) == [answer["record"]]
    assert "pending" not in await editor.hover(uri, 9)
    assert (await editor.run("vibes.check", {"uri": uri}))["result"] == "PASS"


@pytest.mark.parametrize("event", ["idle", "save", "close", "session", "review"])
async def test_a_part_without_the_others_is_recorded_in_time(
    editor: Editor, project: Project, event: str
) -> None:
    file = project.file("a.py")
    uri = editor.open(file)
    started = await editor.run("vibes.startSession", {"uri": uri, "tool": TOOL, "model": MODEL})
    editor.insert(uri, 8, HALF)
    given = told(
        uri, 1, place(8), HALF, partial={"part": 1, "final": False}, sessionId=started["sessionId"]
    )
    assert await accepted(editor, given) == {"pending": True}
    editor.insert(uri, 0, "# above\n")
    if event == "save":
        editor.save(uri)
    elif event == "close":
        file.write_text("# above\n" + STORY.replace("\n\ndef same", "\n" + HALF + "\ndef same"))
        editor.close(uri)
    elif event == "session":
        await editor.run("vibes.endSession", {"uri": uri, "sessionId": started["sessionId"]})
    elif event == "review":
        where = {"start": {"line": 9, "character": 0}, "end": {"line": 10, "character": 0}}
        await editor.run(
            "vibes.review",
            {"uri": uri, "range": where, "verdict": "approved", "reviewer": "Ada Example"},
        )
    await until(lambda: bool(log(project)))
    [record] = log(project)
    assert lines_of(record) == (10, 11)
    assert record["session_id"] == started["sessionId"]


async def test_what_is_undone_before_it_is_recorded_never_was(
    editor: Editor, project: Project
) -> None:
    uri = editor.open(project.file("a.py"))
    editor.insert(uri, 8, HALF)
    await accepted(editor, told(uri, 1, place(8), HALF, partial={"part": 1, "final": False}))
    editor.replace(uri, (8, 0), (10, 0), "")
    editor.save(uri)
    await until(lambda: not list((project.root / ".ai-audit/spool/held").iterdir()))
    assert log(project) == []
    assert (await editor.provenance(uri))["placements"] == []
    version = editor.insert(uri, 8, HALF)
    editor.replace(uri, (8, 0), (10, 0), "")
    answer = await accepted(editor, told(uri, version - 1, place(8), HALF, completionId="c2"))
    assert (answer["annotationId"], answer["gone"]) == (None, True)
    assert log(project) == []


async def test_a_version_that_is_not_known_is_refused(editor: Editor, project: Project) -> None:
    uri = editor.open(project.file("a.py"))
    for version in (0, 99):
        with pytest.raises(JsonRpcException, match=f"version {version} "):
            await accepted(editor, told(uri, version, place(8), HALF))
    assert log(project) == []


@pytest.mark.parametrize(
    ("start", "member"),
    [
        ({"line": -1, "character": 0}, "range.start.line"),
        ({"line": -9, "character": 0}, "range.start.line"),
        ({"line": "x", "character": 0}, "range.start.line"),
        ({"line": 8, "character": 1.5}, "range.start.character"),
        ({"line": 8}, "range.start.character"),
        (None, "range.start"),
    ],
)
async def test_a_range_that_is_none_is_refused_by_its_name(
    editor: Editor, project: Project, start: Any, member: str
) -> None:
    uri = editor.open(project.file("a.py"))
    version = editor.insert(uri, 8, HALF)
    for number in (version - 1, version):
        with pytest.raises(JsonRpcException, match=f"^{member}: ") as refused:
            await accepted(editor, told(uri, number, {**place(8), "start": start}, HALF))
        assert refused.value.code != JSON_RPC_INTERNAL_ERROR
    assert log(project) == []


async def test_columns_are_counted_as_was_agreed(editor: Editor, project: Project) -> None:
    """A completion after an emoji: the line keeps what stands behind it."""
    uri = editor.open(project.file("a.py", "x = '😀'\ny = 1\n"))
    column = encoded("x = '😀'", editor.profile)
    answer = await accepted(editor, told(uri, 1, place(0, column), "\nz = 2"))
    assert lines_of(answer["record"]) == (2, 2)
    assert answer["record"]["anchor_context"] == "z = 2"


async def test_a_quiet_trail_leaves_nothing_in_the_journal(
    editor: Editor, project: Project
) -> None:
    uri = editor.open(project.file("a.py"))
    answer = await accepted(editor, told(uri, 1, place(8), HALF, prompt=PROMPT))
    audit = project.root / ".ai-audit"
    await until(lambda: not (audit / "wal/entries.jsonl").exists())
    assert (
        answer["record"]["prompt_hash"]
        in json.loads((audit / "manifest.json").read_bytes())["entries"]
    )


async def test_a_server_that_ends_records_what_it_holds(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.config()
    async with session(tmp_path, [project.root]) as editor:
        uri = editor.open(project.file("a.py"))
        editor.insert(uri, 8, HALF)
        await accepted(editor, told(uri, 1, place(8), HALF, partial={"part": 1, "final": False}))
    [record] = log(project)
    assert lines_of(record) == (9, 10)
    assert not (project.root / ".ai-audit/wal/entries.jsonl").exists()


async def test_lines_found_by_comparing_files_are_called_so(
    editor: Editor, project: Project
) -> None:
    uri = editor.open(project.file("a.py"))
    found = {"name": "Claude Code", "version": "1", "extensions": ["vibes:compared-files"]}
    editor.insert(uri, 8, HALF)
    await accepted(editor, told(uri, 1, place(8), HALF, tool=found))
    assert "the file came into being while a command ran" in await editor.hover(uri, 9)


async def test_what_no_tool_told_of_is_called_captured_wherever_it_shows(
    editor: Editor, project: Project
) -> None:
    uri = editor.open(project.file("a.py"))
    unknown = {"name": "unknown", "version": "unknown"}
    seen = {**unknown, "extensions": ["vibes:captured-low-confidence"]}
    editor.insert(uri, 8, HALF)
    await accepted(editor, told(uri, 1, place(8), HALF, tool=seen, model=unknown))
    assert "captured, low confidence" in await editor.hover(uri, 9)
    assert [title for at, title in await editor.lenses(uri) if at == 9 and "captured" in title]
    [placement] = (await editor.provenance(uri))["placements"]
    assert placement["captured"] is True
    editor.insert(uri, 11, HALF.replace("half", "third"))
    await accepted(
        editor, told(uri, 2, place(11), HALF.replace("half", "third"), completionId="c2")
    )
    placements = (await editor.provenance(uri))["placements"]
    assert sorted(each.get("captured", False) for each in placements) == [False, True]
    assert "captured" not in await editor.hover(uri, 12)


async def test_a_server_that_is_killed_leaves_what_the_next_one_goes_on_with(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path / "project")
    project.config()
    first = told("", 1, place(8), "def half(one):", partial={"part": 1, "final": False})
    file = project.file("a.py")
    async with session(tmp_path, [project.root], is_killed=True) as editor:
        uri = editor.open(file)
        editor.insert(uri, 8, "def half(one):")
        await accepted(editor, {**first, "uri": uri})
        server = editor.client._server
        assert server is not None
        server.kill()
        await server.wait()
        editor.client.shutdown_session = _nothing  # type: ignore[method-assign]
    assert log(project) == []
    async with session(tmp_path, [project.root]) as editor:
        rows = STORY.split("\n")
        rows[8] = "def half(one):"
        uri = editor.open(file, "\n".join(rows))
        assert "pending" in await editor.hover(uri, 9)
        assert await accepted(editor, {**first, "uri": uri}) == {"pending": True}
        rest = told(
            uri, 1, place(8, 14), "\n    return one / 2", partial={"part": 2, "final": True}
        )
        answer = await accepted(editor, rest)
    assert lines_of(answer["record"]) == (9, 10)
    assert log(project) == [answer["record"]]


async def _nothing() -> None:
    """Say no goodbye to a server that is gone."""
