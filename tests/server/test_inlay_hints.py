"""Inlay hints: who wrote a range, at the end of its first line; the rest comes when it is to be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types

from tests.server.editor import Editor
from tests.server.profiles import encoded, members_of
from tests.server.project import EDITED, STORY, Project
from tests.server.wire import Wire
from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.trails import CompleteTrail


async def hints(
    editor: Editor, uri: str, first: int = 1, last: int = 1000
) -> list[types.InlayHint]:
    """Return the hints of some 1-based lines."""
    span = types.Range(types.Position(first - 1, 0), types.Position(last - 1, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), span)
    return list(await editor.client.text_document_inlay_hint_async(params) or [])


def labels(found: list[types.InlayHint]) -> list[tuple[int, object]]:
    return [(each.position.line + 1, each.label) for each in found]


async def test_each_range_has_one_at_the_end_of_its_first_line(
    editor: Editor, trail: CompleteTrail
) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    found = await hints(editor, uri)
    assert labels(found) == [(1, "AI: claude-opus-4-5"), (11, "AI: claude-opus-4-5")]
    assert found[0].position.character == len('"""Sign-up."""')
    assert labels(await hints(editor, uri, 5, 12)) == [(11, "AI: claude-opus-4-5")]
    assert await hints(editor, uri, 50, 40) == []


@pytest.mark.every_profile
async def test_the_column_is_in_the_encoding_of_the_client(
    editor: Editor, project: Project
) -> None:
    text = 'name = "\U0001f600ü"\n'
    project.line("a.py", 1, 1, text=text)
    uri = editor.open(project.file("a.py", text))
    (hint,) = await hints(editor, uri)
    assert hint.position.character == encoded(text.rstrip(), editor.profile)


@pytest.mark.every_profile
async def test_a_client_that_is_never_told_to_ask_again_waits_for_history(
    editor: Editor, project: Project
) -> None:
    repository = Repository(project.root)
    project.line("a.py", 4, 7, text=STORY)
    project.file("a.py")
    repository.commit("Begin")
    file, is_told = project.file("a.py", EDITED), editor.profile != "nothing"
    uri = await editor.open_known(file) if is_told else editor.open(file)
    ((line, label),) = labels(await hints(editor, uri))
    assert (line, label) == (4, "AI: claude-opus-4-5 · edited since")


async def test_they_say_what_is_doubtful_and_follow_the_text(
    editor: Editor, project: Project
) -> None:
    project.line("a.py", 4, 7, text=STORY)
    project.line("a.py", 10, 13)
    uri = await editor.open_known(project.file("a.py"))
    assert labels(await hints(editor, uri)) == [
        (4, "AI: claude-opus-4-5"),
        (10, "AI (claimed): claude-opus-4-5 · not verified"),
    ]
    editor.insert(uri, 0, "# one\n")
    assert labels(await hints(editor, uri))[0] == (5, "AI: claude-opus-4-5")
    editor.replace(uri, (1, 0), (100, 0), EDITED)
    assert (5, "AI (claimed): claude-opus-4-5 · edited since") in labels(await hints(editor, uri))


async def test_what_happened_comes_when_it_is_to_be_seen(
    editor: Editor, trail: CompleteTrail
) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    hint = (await hints(editor, uri))[0]
    assert hint.tooltip is None
    shown = await editor.client.inlay_hint_resolve_async(hint)
    assert isinstance(shown.tooltip, types.MarkupContent)
    assert "Create a sign-up check" in shown.tooltip.value
    lost = types.InlayHint(hint.position, "x", data={"uri": uri, "id": "gone"})
    assert (await editor.client.inlay_hint_resolve_async(lost)).tooltip is None


async def test_there_are_none_if_the_user_does_not_want_them(
    editor: Editor, trail: CompleteTrail
) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    await editor.set(inlayHints={"enable": False})
    assert await hints(editor, uri) == []
    await editor.set(inlayHints={"enable": True})
    assert len(await hints(editor, uri)) == 2


async def test_a_new_record_has_one_at_once(editor: Editor, project: Project) -> None:
    uri = await editor.open_known(project.annotated())
    assert labels(await hints(editor, uri)) == [(4, "AI: claude-opus-4-5")]
    project.line("a.py", 10, 13, text=STORY)
    assert labels(await hints(editor, uri)) == [
        (4, "AI: claude-opus-4-5"),
        (10, "AI: claude-opus-4-5"),
    ]


def test_a_client_that_draws_line_ends_gets_them_only_on_request(
    trail: CompleteTrail, tmp_path: Path
) -> None:
    capabilities = {**members_of("nothing"), "experimental": {"vibes": {"lineText": True}}}
    uri = (trail.root / "src/auth.py").as_uri()
    for enabled, count in ((None, 0), (True, 2)):
        options: dict[str, Any] = {} if enabled is None else {"inlayHints": {"enable": enabled}}
        with Wire(tmp_path / "log") as wire:
            wire.initialize(trail.root, capabilities, initializationOptions=options)
            span = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
            params = {"textDocument": {"uri": uri}, "range": span}
            assert len(wire.request("textDocument/inlayHint", params)["result"]) == count
