"""What git history adds to answers: old texts, former names, other files."""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types

from tests.server.editor import Editor
from tests.server.project import EDITED, STORY, Project
from tests.trails import Repository

COMMITTED = "2026-02-03T11:00:00+00:00"
"""After the first records of a trail."""
LINES = STORY.splitlines(keepends=True)


@pytest.fixture
def repository(project: Project) -> Repository:
    return Repository(project.root)


def brief(placement: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(
        placement[name] for name in ("lineStart", "lineEnd", "state", "method", "intactLines")
    )


async def test_an_edited_range_is_told_line_by_line(
    editor: Editor, project: Project, repository: Repository
) -> None:
    project.annotated()
    repository.commit("made", COMMITTED)
    uri = await editor.open_known(project.file("a.py", EDITED))
    answer = await editor.provenance(uri, lines=True)
    assert brief(answer["placements"][0]) == (4, 7, "edited", "anchor-hash", 3)
    assert [each["kind"] for each in answer["lines"]] == ["ai", "ai", "ai"]
    assert "edited since: 3 of 4 lines unchanged · not reviewed" in await editor.hover(uri, 6)


async def test_git_names_the_author_of_a_line_within_an_edit_that_no_record_names(
    editor: Editor, project: Project, repository: Repository
) -> None:
    project.hashed("a.py", 4, 7)
    project.file("a.py")
    repository.commit("made", COMMITTED)
    file = project.file("a.py", "".join([*LINES[:5], "    log(payload)\n", *LINES[5:]]))
    commit = repository.commit("typed", "2026-02-03T12:00:00+00:00")
    name = repository.git("log", "-1", "--format=%an").strip()
    uri = await editor.open_known(file)
    shown = await editor.hover(uri, 6)
    assert "not recorded: a line inside this edit" in shown
    assert f"this line: {name}, " in shown
    assert commit[:8] in shown
    assert "this line" not in await editor.hover(uri, 5)


async def test_commits_of_files_that_are_not_open_are_known_as_well(
    editor: Editor, project: Project, repository: Repository
) -> None:
    closed = project.annotated("b.py").as_uri()
    file = project.annotated()
    commit = repository.commit("made", COMMITTED)
    await editor.open_known(file)
    while "provisional" in (answer := await editor.provenance(closed)):
        pass
    assert (answer["placements"][0]["commitHash"], answer["placements"][0]["commitMethod"]) == (
        commit,
        "log",
    )


async def test_history_can_be_switched_off(
    editor: Editor, project: Project, repository: Repository
) -> None:
    project.annotated()
    repository.commit("made", COMMITTED)
    await editor.set(history={"useGit": False})
    uri = await editor.open_known(project.file("a.py", EDITED))
    (placement,) = (await editor.provenance(uri))["placements"]
    assert (placement["method"], placement["intactLines"], placement.get("commitHash")) == (
        "fuzzy",
        None,
        None,
    )


async def test_a_file_that_git_saw_renamed_keeps_its_annotations(
    editor: Editor, project: Project, repository: Repository
) -> None:
    project.annotated()
    repository.commit("made", COMMITTED)
    repository.git("mv", "a.py", "b.py")
    repository.commit("renamed", "2026-02-03T12:00:00+00:00")
    uri = await editor.open_known(project.root / "b.py")
    (placement,) = (await editor.provenance(uri))["placements"]
    assert (
        placement["filePath"],
        placement["movedFrom"],
        placement["state"],
        placement["lineStart"],
    ) == ("b.py", "a.py", "exact", 4)
    assert placement["commitSubject"] == "made"
    assert "moved from lines 4-7 of a.py" in (await editor.hover(uri, 4)).replace("`", "")


async def test_a_file_that_the_editor_renames_keeps_them_at_once(
    editor: Editor, project: Project
) -> None:
    file = project.annotated("src/a.py")
    editor.close(await editor.open_known(file))
    moved = project.root / "lib"
    file.parent.rename(moved)
    renaming = types.FileRename(file.parent.as_uri(), moved.as_uri())
    editor.client.workspace_did_rename_files(types.RenameFilesParams([renaming]))
    uri = editor.open(moved / "a.py")
    (placement,) = (await editor.provenance(uri))["placements"]
    assert (placement["filePath"], placement["movedFrom"], placement["lineStart"]) == (
        "lib/a.py",
        "src/a.py",
        4,
    )


def renamed(editor: Editor, project: Project, old: str, new: str) -> str:
    """Rename a file as an editor does, and open it; return its URI."""
    before, after = project.root / old, project.root / new
    before.rename(after)
    editor.client.workspace_did_rename_files(
        types.RenameFilesParams([types.FileRename(before.as_uri(), after.as_uri())])
    )
    return editor.open(after)


async def test_a_file_that_the_editor_renames_twice_keeps_them(
    editor: Editor, project: Project
) -> None:
    project.annotated()
    renamed(editor, project, "a.py", "b.py")
    uri = renamed(editor, project, "b.py", "c.py")
    (placement,) = (await editor.final(uri))["placements"]
    assert (placement["filePath"], placement["movedFrom"], placement["lineStart"]) == (
        "c.py",
        "a.py",
        4,
    )


async def test_a_file_that_has_its_name_again_leaves_nothing_at_the_other(
    editor: Editor, project: Project
) -> None:
    project.annotated()
    renamed(editor, project, "a.py", "b.py")
    uri = renamed(editor, project, "b.py", "a.py")
    other = editor.open(project.file("b.py", "import os\n"))
    (placement,) = (await editor.final(uri))["placements"]
    assert (placement.get("movedFrom"), placement["state"]) == (None, "exact")
    assert (await editor.final(other))["placements"] == []


async def test_files_that_change_names_take_their_annotations_along(
    editor: Editor, project: Project
) -> None:
    project.annotated("a.py", 4, 7)
    project.annotated("b.py", 10, 13)
    renamed(editor, project, "a.py", "c.py")
    renamed(editor, project, "b.py", "a.py")
    uri = renamed(editor, project, "c.py", "b.py")
    placements = (await editor.final(uri))["placements"]
    assert ("a.py", 4) in [
        (placement.get("movedFrom"), placement["lineStart"]) for placement in placements
    ]


async def test_a_function_that_moved_to_another_file_is_found_there(
    editor: Editor, project: Project, repository: Repository
) -> None:
    project.annotated()
    project.file("b.py", "import os\n")
    repository.commit("made", "2026-02-03T10:00:30+00:00")
    project.file("a.py", "".join([*LINES[:3], *LINES[7:]]))
    uri = await editor.open_known(project.file("b.py", "import os\n\n" + "".join(LINES[3:7])))
    (placement,) = (await editor.provenance(uri))["placements"]
    assert (placement["movedFrom"], placement["lineStart"], placement["lineEnd"]) == ("a.py", 3, 6)


async def test_anchors_of_the_text_before_the_edit_prove_nothing(
    editor: Editor, project: Project, repository: Repository
) -> None:
    project.file("a.py")
    repository.commit("begun", "2026-02-03T08:00:00+00:00")
    uri = await editor.open_known(project.annotated(action="modify"))
    (placement,) = (await editor.provenance(uri))["placements"]
    assert (placement["state"], placement["method"], placement["ownedRanges"]) == (
        "unverified",
        "anchor-before-edit",
        [],
    )
    shown = await editor.hover(uri, 4)
    assert "its text was in git before it was recorded, since 2026-02-03 or earlier" in shown
