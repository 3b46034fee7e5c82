"""Typing: answers follow each change, and are located again in the pause."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from lsprotocol import types

from tests.server.editor import Editor
from tests.server.profiles import encoded
from tests.server.project import AS_RECORDED, STORY, Project

LENS: Final = "AI edit · AGE · not reviewed"


def edit(
    start: tuple[int, int], end: tuple[int, int], text: str
) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(
        types.Range(types.Position(*start), types.Position(*end)), text
    )


async def settled(editor: Editor, file: Path, text: str | None = None) -> str:
    """Open a file, and wait until its commits were looked up, which is told; return its URI."""
    after = len(editor.client.sent)
    uri = editor.open(file, text)
    await editor.told(uri, after=after)
    return uri


async def placed(editor: Editor, uri: str) -> list[tuple[int | None, int | None, str]]:
    """Return where the annotations are now, with their state."""
    found: list[dict[str, Any]] = (await editor.provenance(uri))["placements"]
    return [(each["lineStart"], each["lineEnd"], each["state"]) for each in found]


async def shown(editor: Editor, file: Path) -> str:
    """Open a file, and see where its annotations are before anything is typed; return its URI."""
    uri = editor.open(file)
    await placed(editor, uri)
    return uri


async def test_lines_above_move_hover_and_lens_at_once(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated())
    assert await editor.lenses(uri) == [(4, LENS)]
    for number in range(1, 4):
        editor.insert(uri, 0, f"# {number}\n")
        assert await editor.lenses(uri) == [(4 + number, LENS)]
        assert "moved from lines 4-7" in await editor.hover(uri, 7 + number)
        assert await editor.hover_whole(uri, 8 + number) is None
    editor.replace(uri, (0, 0), (3, 0), "")
    assert await editor.lenses(uri) == [(4, LENS)]


async def test_lines_beside_a_range_are_not_its_own(editor: Editor, project: Project) -> None:
    uri = await shown(editor, project.annotated())
    editor.insert(uri, 3, "# right above\n")
    editor.replace(uri, (7, 99), (7, 99), "\n# right below")
    assert await placed(editor, uri) == [(5, 8, "moved")]
    assert await editor.hover_whole(uri, 4) is None
    assert await editor.hover_whole(uri, 9) is None


async def test_a_letter_inside_makes_it_edited_and_its_undoing_exact_at_once(
    editor: Editor, project: Project
) -> None:
    uri = await shown(editor, project.annotated())
    for line in (3, 5, 6):
        editor.replace(uri, (line, 4), (line, 4), "x")
        assert await placed(editor, uri) == [(4, 7, "edited")]
        assert "edited since" in await editor.hover(uri, 4)
        ((place, _),) = await editor.lenses(uri)
        assert place == 4
        editor.replace(uri, (line, 4), (line, 5), "")
        assert await editor.lenses(uri) == [(4, LENS)]


async def test_lines_typed_inside_belong_to_it_until_they_are_undone(
    editor: Editor, project: Project
) -> None:
    uri = await shown(editor, project.annotated())
    editor.replace(uri, (4, 99), (4, 99), "\n    # of a person\n    # and another")
    assert await placed(editor, uri) == [(4, 9, "edited")]
    editor.insert(uri, 0, "import os\n")
    assert await placed(editor, uri) == [(5, 10, "edited")]
    editor.replace(uri, (5, 99), (7, 99), "")
    assert await placed(editor, uri) == [(5, 8, "moved")]


async def test_a_range_that_is_cut_is_lost_and_exact_again_when_that_is_undone(
    editor: Editor, project: Project
) -> None:
    uri = await settled(editor, project.annotated())
    await placed(editor, uri)
    block = "".join(STORY.splitlines(keepends=True)[3:7])
    editor.replace(uri, (3, 0), (7, 0), "")
    assert await placed(editor, uri) == [(None, None, "lost")]
    assert await editor.lens_places(uri) == []
    after = len(editor.client.sent)
    editor.insert(uri, 3, block)
    if await placed(editor, uri) != [
        (4, 7, "exact")
    ]:  # on a busy machine the pause came before it was undone
        await editor.told(uri, after=after)
    assert await placed(editor, uri) == [(4, 7, "exact")]


@pytest.mark.every_profile
async def test_a_range_pasted_elsewhere_is_found_after_a_pause_and_the_client_told(
    editor: Editor, project: Project
) -> None:
    project.config(risk_scoring=AS_RECORDED)
    uri = await settled(editor, project.annotated(risk_score=0.9))
    block = "".join(STORY.splitlines(keepends=True)[3:7])
    await placed(editor, uri)
    after = len(editor.client.sent)
    version = editor.change(uri, edit((3, 0), (7, 0), ""), edit((9, 0), (9, 0), f"\n\n{block}"))
    await editor.told(uri, after=after)
    assert await placed(editor, uri) == [(12, 15, "moved")]
    if editor.profile == "vscode_current":
        for method in (types.WORKSPACE_CODE_LENS_REFRESH, types.WORKSPACE_DIAGNOSTIC_REFRESH):
            await editor.asked(method, after=after)
    if editor.pulls:
        assert [each.range.start.line for each in await editor.diagnostics(uri)] == [11]
    else:
        await editor.client.until(partial(_pushed_at, uri, version, 11), after=after)


def _pushed_at(uri: str, version: int, line: int, sent: tuple[str, Any]) -> bool:
    method, params = sent
    if method != types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS or (params.uri, params.version) != (
        uri,
        version,
    ):
        return False
    return [each.range.start.line for each in params.diagnostics] == [line]


async def test_a_formatter_that_replaces_the_whole_file(editor: Editor, project: Project) -> None:
    project.line("a.py", 10, 13, text=STORY)
    uri = editor.open(project.annotated())
    assert await placed(editor, uri) == [(4, 7, "exact"), (10, 13, "exact")]
    formatted = STORY.replace(
        "import hashlib\n\n\n", '"""Digests."""\n\nimport hashlib\n\n'
    ).replace("left = digest(one)", "left = digest( one )")
    editor.change(uri, types.TextDocumentContentChangeWholeDocument(formatted))
    assert await placed(editor, uri) == [(5, 8, "moved"), (11, 14, "edited")]
    editor.change(uri, types.TextDocumentContentChangeWholeDocument(STORY))
    assert await placed(editor, uri) == [(4, 7, "exact"), (10, 13, "exact")]


async def test_a_formatter_that_changes_lines_around_a_range(
    editor: Editor, project: Project
) -> None:
    uri = await shown(editor, project.annotated())
    editor.change(
        uri,
        types.TextDocumentContentChangeWholeDocument(
            f"# new\n# lines\n{STORY}".replace("digest(one)", "digest(\n one)")
        ),
    )
    assert await placed(editor, uri) == [(6, 9, "moved")]


async def test_many_cursors(editor: Editor, project: Project) -> None:
    project.line("a.py", 10, 13, text=STORY)
    uri = await shown(editor, project.annotated())
    bottom_up = [edit((line, 0), (line, 0), "# x\n") for line in (13, 9, 8, 3, 0)]
    editor.change(uri, *bottom_up)
    assert await placed(editor, uri) == [(6, 9, "moved"), (14, 17, "moved")]
    editor.change(uri, *(edit((line, 4), (line, 4), "y") for line in (15, 6)))
    assert await placed(editor, uri) == [(6, 9, "edited"), (14, 17, "edited")]
    editor.change(uri, *(edit((line, 4), (line, 5), "") for line in (6, 15)))
    assert await placed(editor, uri) == [(6, 9, "moved"), (14, 17, "moved")]


async def test_a_file_with_crlf(editor: Editor, project: Project) -> None:
    text = STORY.replace("\n", "\r\n")
    project.line("a.py", 4, 7, text=STORY)
    uri = editor.open(project.file("a.py", text))
    assert await placed(editor, uri) == [(4, 7, "exact")]
    editor.insert(uri, 0, "# one\r\n# two\r\n")
    editor.replace(uri, (7, 4), (7, 4), "x")
    assert await placed(editor, uri) == [(6, 9, "edited")]
    editor.replace(uri, (7, 4), (7, 5), "")
    assert await placed(editor, uri) == [(6, 9, "moved")]
    editor.change(uri, types.TextDocumentContentChangeWholeDocument(f"# one\n# two\n{STORY}"))
    assert await placed(editor, uri) == [(6, 9, "moved")]


async def test_a_byte_order_mark(editor: Editor, project: Project) -> None:
    project.line("a.py", 1, 3, text="one = 1\ntwo = 2\nthree = 3\n")
    uri = await shown(editor, project.file("a.py", "\ufeffone = 1\ntwo = 2\nthree = 3\n"))
    column = encoded("\ufeffone", editor.profile)
    editor.replace(uri, (0, column), (0, column), "x")
    assert await placed(editor, uri) == [(1, 3, "edited")]
    editor.replace(uri, (0, column), (0, column + 1), "")
    assert await placed(editor, uri) == [(1, 3, "exact")]
    editor.replace(uri, (0, 0), (0, encoded("\ufeff", editor.profile)), "")
    assert await placed(editor, uri) == [(1, 3, "exact")]


async def test_emoji_before_the_position(editor: Editor, project: Project) -> None:
    text = STORY.replace("Return the digest", "👩\u200d🔬 Return 漢 the digest")
    project.line("a.py", 4, 7, text=text)
    uri = editor.open(project.file("a.py", text), text.replace("漢", "😀"))
    assert (await placed(editor, uri))[0][2] == "edited"
    before = encoded('    """👩\u200d🔬 Return ', editor.profile)
    editor.replace(uri, (4, before), (4, before + encoded("😀", editor.profile)), "漢")
    assert await placed(editor, uri) == [(4, 7, "exact")]


@pytest.mark.parametrize("end", ["\n", ""])
async def test_a_file_that_is_emptied_and_filled(
    editor: Editor, project: Project, end: str
) -> None:
    uri = await settled(editor, project.annotated(), "")
    assert await placed(editor, uri) == [(None, None, "lost")]
    after = len(editor.client.sent)
    editor.insert(uri, 0, STORY.removesuffix("\n") + end)
    await editor.told(uri, after=after)
    assert await placed(editor, uri) == [(4, 7, "exact")]
    editor.change(uri, types.TextDocumentContentChangeWholeDocument(""))
    assert await placed(editor, uri) == [(None, None, "lost")]
    assert await editor.lens_places(uri) == []


async def test_deletions_functions_and_unverified_ranges_move_as_well(
    editor: Editor, project: Project
) -> None:
    project.line("a.py", 9, 9, action="delete", text=None)
    project.function("a.py", "same")
    project.line("a.py", 1, 1, text=None)
    uri = editor.open(project.file("a.py"))
    assert await placed(editor, uri) == [
        (1, 1, "unverified"),
        (9, 9, "unverified"),
        (10, 13, "unverified"),
    ]
    editor.insert(uri, 0, "# one\n# two\n")
    assert await placed(editor, uri) == [
        (3, 3, "unverified"),
        (11, 11, "unverified"),
        (12, 15, "unverified"),
    ]
    editor.replace(uri, (0, 0), (1, 0), "")
    assert await placed(editor, uri) == [
        (2, 2, "unverified"),
        (10, 10, "unverified"),
        (11, 14, "unverified"),
    ]
    project.line("b.py", 1, 1, text=None)  # the trail is another now; the text is not
    assert await placed(editor, uri) == [
        (2, 2, "unverified"),
        (10, 10, "unverified"),
        (11, 14, "unverified"),
    ]


async def test_a_function_is_edited_while_its_text_is_another(
    editor: Editor, project: Project
) -> None:
    project.function("a.py", "same", text=STORY, lines=(10, 13))
    uri = editor.open(project.file("a.py"))
    assert await placed(editor, uri) == [(10, 13, "exact")]
    editor.insert(uri, 11, "    # x\n")
    assert await placed(editor, uri) == [(10, 14, "edited")]
    after = len(editor.client.sent)
    editor.replace(uri, (11, 0), (12, 0), "")
    while await placed(editor, uri) != [
        (10, 13, "exact")
    ]:  # the pause after the first edit may be told of as well
        await editor.told(uri, after=after)
        after = len(editor.client.sent)


async def test_an_owner_gives_back_the_lines_that_left_it(editor: Editor, project: Project) -> None:
    project.line("a.py", 4, 13, text=STORY)
    uri = editor.open(project.annotated(prompt=project.prompt("Asked later.")))
    assert "Asked later." in (await editor.hover(uri, 5)).split("recorded")[0]
    editor.insert(uri, 0, "# one\n")
    owned = {
        tuple(sorted(place["start"]["line"] for place in each["ownedRanges"]))
        for each in (await editor.provenance(uri))["placements"]
    }
    assert owned == {(4,), (8,)}


async def test_a_cr_alone_ends_no_line(editor: Editor, project: Project) -> None:
    """Neovim, Emacs and Helix send it within a line, and count lines and columns accordingly."""
    text = STORY.replace("import hashlib\n", "import hashlib\rimport os\n")
    project.line("a.py", 4, 7, text=text)
    uri = editor.open(project.file("a.py", text))
    assert await placed(editor, uri) == [(4, 7, "exact")]
    editor.replace(uri, (7, 0), (7, 0), "# below\n")
    assert await placed(editor, uri) == [(4, 7, "exact")]
    assert await editor.hover(uri, 4)
    assert await editor.hover_whole(uri, 8) is None
    editor.insert(uri, 0, "# one\n")
    assert await placed(editor, uri) == [(5, 8, "moved")]
    editor.replace(uri, (4, 0), (4, 0), "x")
    assert await placed(editor, uri) == [(5, 8, "edited")]


async def test_versions_and_texts_of_an_answer_belong_together(
    editor: Editor, project: Project
) -> None:
    uri = editor.open(project.annotated())
    for number in range(1, 6):
        version = editor.insert(uri, 0, "# one\n")
        found = await editor.provenance(uri)
        assert (found["version"], found["placements"][0]["lineStart"]) == (version, 4 + number)


async def test_a_document_that_is_closed_while_it_is_typed_in(
    editor: Editor, project: Project
) -> None:
    uri = await shown(editor, project.annotated())
    editor.replace(uri, (4, 4), (4, 4), "x")
    await placed(editor, uri)
    editor.close(uri)
    assert await placed(editor, uri) == [(4, 7, "exact")]
    editor.open(project.root / "a.py", f"# one\n{STORY}")
    assert await placed(editor, uri) == [(5, 8, "moved")]
