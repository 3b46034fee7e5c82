"""What the commands that ask say of entries, sessions and other trails, and how they refuse."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.server.editor import Editor
from tests.server.project import Project
from tests.trails import CompleteTrail


async def test_show_gives_an_entry_as_on_disk(editor: Editor, trail: CompleteTrail) -> None:
    key = trail.environment
    shown = await editor.run("vibes.show", {"id": key})
    assert (shown["kind"], shown["id"]) == ("entry", key)
    assert "record" not in shown
    assert shown["entry"]["tool_name"] == "Maestro"
    assert shown["entry"]["model_parameters"] == {"temperature": 0.2}


async def test_show_gives_a_session_with_its_records(editor: Editor, trail: CompleteTrail) -> None:
    shown = await editor.run("vibes.show", {"id": trail.worker_session})
    assert (shown["kind"], shown["id"]) == ("session", trail.worker_session)
    assert shown["record"]["event"] == "start"
    assert shown["record"]["parent_session_id"] == trail.session
    assert trail.delegated_to in [edge["annotation_id"] for edge in shown["edges"]["in"]]


async def test_show_gives_the_edges_of_a_record(editor: Editor, trail: CompleteTrail) -> None:
    shown = await editor.run(
        "vibes.show", {"id": trail.modified, "uri": (trail.root / "src/auth.py").as_uri()}
    )
    assert shown["record"] == trail.writer.files.record(trail.modified)
    assert trail.informed_by in [edge["annotation_id"] for edge in shown["edges"]["out"]]


async def test_a_uri_picks_the_trail(
    editor: Editor, project: Project, trail: CompleteTrail
) -> None:
    project.config(project_name="another")
    uri = project.annotated().as_uri()
    (identifier,) = (record["annotation_id"] for record in project.files.records())
    assert (await editor.run("vibes.show", {"id": identifier, "uri": uri}))["kind"] == "record"
    with pytest.raises(
        JsonRpcException, match="no record, context entry or session has an id that starts with"
    ):
        await editor.run("vibes.show", {"id": identifier})
    assert (await editor.run("vibes.check", {"uri": uri}))["project"] == "another"
    assert (await editor.run("vibes.check", {"uri": project.root.as_uri()}))["records"]["line"] == 1
    assert (await editor.run("vibes.check"))["project"] == trail.writer.project


Ask = Callable[[Editor, Project], Awaitable[Any]]
REFUSED: dict[str, tuple[Ask, str, str]] = {
    "provenance-no-file": (
        lambda editor, project: editor.provenance((project.root / "b.py").as_uri()),
        "unreadable-file",
        "cannot be read",
    ),
    "provenance-no-trail": (
        lambda editor, _: editor.provenance("untitled:Untitled-1"),
        "audit-dir-not-found",
        "no audit directory owns",
    ),
    "provenance-own-file": (
        lambda editor, project: editor.provenance(project.files.log.as_uri()),
        "unreadable-file",
        "part of an audit trail",
    ),
    "lookup-no-trail": (
        lambda editor, _: editor.run("vibes.lookup", {"uri": "x:y"}),
        "audit-dir-not-found",
        "no audit directory owns",
    ),
    "show-unknown": (
        lambda editor, _: editor.run("vibes.show", {"id": "ffff0000"}),
        "unknown-id",
        "starts with 'ffff0000'",
    ),
    "show-short": (
        lambda editor, _: editor.run("vibes.show", {"id": "f"}),
        "unknown-id",
        "too short",
    ),
    "check-no-trail": (
        lambda editor, project: editor.run(
            "vibes.check", {"uri": project.root.parent.parent.as_uri()}
        ),
        "audit-dir-not-found",
        "audit",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_refusal_has_a_message_for_people_and_a_code_for_programs(
    editor: Editor, project: Project, case: str
) -> None:
    ask, code, words = REFUSED[case]
    with pytest.raises(JsonRpcException) as caught:
        await ask(editor, project)
    assert caught.value.data == {"code": code}
    assert words in caught.value.message
    assert "Traceback" not in caught.value.message
    assert "\n" not in caught.value.message


async def test_arguments_that_are_wrong_are_named(editor: Editor, project: Project) -> None:
    uri = project.annotated().as_uri()
    for arguments, member in (
        ({}, "uri"),
        ({"uri": uri, "range": {"start": {}}}, "range"),
        ({"uri": uri, "range": 5}, "range"),
    ):
        with pytest.raises(JsonRpcException, match=member) as caught:
            await editor.run("vibes.lookup", arguments)
        assert caught.value.code == types.ErrorCodes.InvalidParams
        assert caught.value.data is None
        assert "Traceback" not in caught.value.message
