"""Code actions: a person reviews, corrects and looks behind an annotation, in a client that knows nothing of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types

from tests.server.project import MOSTLY_CRITICAL, STORY, Project
from tests.server.sessions import session
from tests.trails import Repository
from tests.trails.repository import AUTHOR

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.editor import Editor

OTHER = "alpha = 1\nbeta = 2\ngamma = 3\ndelta = 4\n"


@pytest.fixture
def reviewed_project(project: Project) -> Project:
    """A project of which git knows who works on it."""
    Repository(project.root).set_user(*AUTHOR)
    return project


async def actions(
    editor: Editor, uri: str, first: int, last: int | None = None, **context: Any
) -> dict[str, types.Command]:
    """Return the commands that a menu at a 1-based line, or with lines selected, offers: resolved where they have to be."""
    start = types.Position(first - 1, 0)
    end = start if last is None else types.Position(last, 0)
    return await actions_within(editor, uri, types.Range(start, end), **context)


async def actions_within(
    editor: Editor, uri: str, within: types.Range, **context: Any
) -> dict[str, types.Command]:
    """Return the same at a range."""
    given = types.CodeActionContext(
        **{"diagnostics": [], "trigger_kind": types.CodeActionTriggerKind.Invoked, **context}
    )
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), within, given)
    found: dict[str, types.Command] = {}
    for each in await editor.client.text_document_code_action_async(params) or []:
        assert isinstance(each, types.CodeAction) != (editor.profile == "nothing")
        if isinstance(each, types.CodeAction):
            assert each.command is None
            each = await editor.client.code_action_resolve_async(each)  # noqa: PLW2901
            assert each.command is not None
            found[each.title] = each.command
        else:
            found[each.title] = each
    return found


async def choose(editor: Editor, command: types.Command) -> Any:
    return await editor.run(command.command, *(command.arguments or []))


@pytest.mark.every_profile
async def test_what_is_offered_at_an_annotation_and_nowhere_else(
    editor: Editor, project: Project
) -> None:
    uri = await editor.open_known(
        project.annotated(prompt=project.prompt("Write it."), session="one-session")
    )
    assert list(await actions(editor, uri, 5)) == [
        "Mark reviewed",
        "Reject",
        "Mark reviewed: whole file",
        "Mark reviewed: all of this prompt",
        "Mark reviewed: all of this session",
        "Show prompt",
        "Show history",
        "Open audit record",
        "Show AI changes since HEAD",
    ]
    assert await actions(editor, uri, 1) == {}
    assert await actions(editor, "untitled:x", 1) == {}


async def test_a_review_settles_a_risk_and_an_edit_brings_it_back(
    editor: Editor, reviewed_project: Project
) -> None:
    reviewed_project.config(risk_scoring=MOSTLY_CRITICAL)
    uri = await editor.open_known(reviewed_project.annotated(risk_score=0.9))
    (risk,) = await editor.diagnostics(uri)
    offered = await actions(
        editor, uri, 5, diagnostics=[risk], trigger_kind=types.CodeActionTriggerKind.Automatic
    )
    assert list(offered) == ["Mark reviewed"]
    done = await choose(editor, offered["Mark reviewed"])
    assert len(done["reviewed"]) == 1
    assert await choose(editor, offered["Mark reviewed"]) == done
    assert await editor.diagnostics(uri) == []
    assert "Mark reviewed" not in await actions(editor, uri, 5)
    editor.replace(uri, (4, 0), (4, 0), "    # changed\n")
    assert [each.code for each in await editor.diagnostics(uri)] == [risk.code]
    assert "Mark reviewed" in await actions(editor, uri, 5)


@pytest.mark.every_profile
async def test_a_rejection_has_no_note_where_nobody_can_be_asked(
    editor: Editor, reviewed_project: Project
) -> None:
    uri = await editor.open_known(reviewed_project.annotated())
    await choose(editor, (await actions(editor, uri, 5))["Reject"])
    assert "rejected by" in (await editor.hover(uri, 5)).replace("*", "")
    assert "Reject" not in await actions(editor, uri, 5)


async def test_several_annotations_are_reviewed_at_once(
    editor: Editor, reviewed_project: Project
) -> None:
    prompt = reviewed_project.prompt("Write both.")
    reviewed_project.line("a.py", 4, 7, text=STORY, prompt=prompt)
    reviewed_project.line("a.py", 10, 13, text=STORY)
    reviewed_project.annotated("b.py", prompt=prompt)
    uri = await editor.open_known(reviewed_project.file("a.py"))
    offered = await actions(editor, uri, 4, 12)
    assert "Mark reviewed: 2 annotations" in offered
    assert (
        len((await choose(editor, offered["Mark reviewed: all of this prompt"]))["reviewed"]) == 3
    )
    at_one = await actions(editor, uri, 5)
    assert "Mark reviewed" not in at_one
    assert len((await choose(editor, at_one["Mark reviewed: whole file"]))["reviewed"]) == 2


async def test_what_is_lost_is_put_where_a_person_selects(editor: Editor, project: Project) -> None:
    project.annotated()
    uri = await editor.open_known(project.file("a.py", OTHER))
    assert [each.code for each in await editor.diagnostics(uri)] == ["lost"]
    assert await actions(editor, uri, 2) == {}
    for start, end, offered in (
        ((1, 0), (2, 0), 1),
        ((1, 0), (1, 8), 1),
        ((1, 0), (1, 4), 0),
        ((1, 8), (2, 0), 0),
    ):
        within = types.Range(types.Position(*start), types.Position(*end))
        selected = await actions_within(editor, uri, within)
        assert [each.endswith(" (line 2)") for each in selected] == [True] * offered
    ((said, command),) = (await actions(editor, uri, 2, 3)).items()
    assert said.startswith("Re-anchor here: lost create ")
    await choose(editor, command)
    placement = (await editor.final(uri))["placements"][0]
    assert (
        placement["lineStart"],
        placement["lineEnd"],
        placement["state"],
        placement["method"],
    ) == (2, 3, "edited", "file-hash")
    assert await editor.diagnostics(uri) == []
    editor.insert(uri, 0, "# above\n")
    placement = (await editor.provenance(uri))["placements"][0]
    assert placement["state"] == "lost", "a correction is about one text of the file"
    editor.replace(uri, (0, 0), (1, 0), "")
    placement = (await editor.provenance(uri))["placements"][0]
    assert (placement["lineStart"], placement["lineEnd"], placement["state"]) == (2, 3, "edited")


async def test_a_doubtful_place_can_be_called_lost(editor: Editor, project: Project) -> None:
    text = "x = 1\ny = 2\n"
    project.line("a.py", 1, 2, text=text)
    uri = await editor.open_known(project.file("a.py", f"\n\n{text}\n\n{text}"))
    line = next(each for each in (await editor.final(uri))["placements"])["lineStart"]
    offered = await actions(editor, uri, line)
    assert "Re-anchor here (lines 3-4)" in offered
    await choose(editor, offered["Mark lost"])
    assert (await editor.provenance(uri))["placements"][0]["state"] == "lost"


async def test_only_the_kinds_that_are_asked_for(editor: Editor, project: Project) -> None:
    uri = await editor.open_known(project.annotated())
    assert set(await actions(editor, uri, 5, only=["vibes.show"])) == {
        "Show history",
        "Open audit record",
        "Show AI changes since HEAD",
    }
    assert len(await actions(editor, uri, 5, only=["vibes"])) == 6
    assert await actions(editor, uri, 5, only=[types.CodeActionKind.Source]) == {}
    assert await actions(editor, uri, 5, only=[types.CodeActionKind.QuickFix]) == {}
    assert await actions(editor, uri, 5, trigger_kind=types.CodeActionTriggerKind.Automatic) == {}


async def test_a_switch(editor: Editor, project: Project) -> None:
    uri = await editor.open_known(project.annotated())
    await editor.set(codeActions={"enable": False})
    assert await actions(editor, uri, 5) == {}


async def test_the_reviewer_of_the_settings_counts(editor: Editor, project: Project) -> None:
    uri = await editor.open_known(project.annotated())
    await editor.set(reviewer="Grace Example")
    await choose(editor, (await actions(editor, uri, 5))["Mark reviewed"])
    assert "Grace Example" in await editor.hover(uri, 5)


async def test_titles_hold_no_text_that_could_mislead(editor: Editor, project: Project) -> None:
    project.annotated(action="\u202ecreate\n\x1b[2J")
    uri = await editor.open_known(project.file("a.py", OTHER))
    assert not {"\u202e", "\n", "\x1b"} & set("".join(await actions(editor, uri, 2, 3)))


async def test_what_comes_back_changed_is_only_resolved(editor: Editor) -> None:
    for data in (
        None,
        7,
        {"command": 5, "arguments": {}},
        {"command": "vibes.show", "arguments": []},
    ):
        action = await editor.client.code_action_resolve_async(types.CodeAction("x", data=data))
        assert action.command is None


async def test_a_client_that_can_ask_for_a_note_is_sent_its_own_command(
    tmp_path: Path, project: Project
) -> None:
    async with session(
        tmp_path, [project.root], experimental={"vibes": {"commands": ["vibes.ui.rejectWithNote"]}}
    ) as editor:
        uri = await editor.open_known(project.annotated())
        command = (await actions(editor, uri, 5))["Reject with note…"]
        assert command.command == "vibes.ui.rejectWithNote"
        (given,) = command.arguments or [{}]
        await editor.run("vibes.review", {**(given or {}), "note": "No tests.", "reviewer": "Ada"})
        assert "rejected by" in (await editor.hover(uri, 5)).replace("*", "")
