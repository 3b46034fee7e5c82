"""git-ai's notes in hovers: labelled by their source, only where there is no annotation of our own."""

from __future__ import annotations

import pytest

from tests.git_ai_notes import CLAUDE, CODEX, REF, attach, human_key, note, session_key
from tests.server.editor import Editor
from tests.server.project import STORY, Project
from tests.trails import Repository

COMMITTED = "2026-02-03T11:00:00+00:00"
LATER = "2026-02-03T12:00:00+00:00"
CODE = "# by a person\n" + STORY


@pytest.fixture
def repository(project: Project) -> Repository:
    """A repository whose second commit has a note about lines 5 to 8 of `a.py`."""
    made = Repository(project.root)
    project.file("a.py", "# by a person\n")
    made.commit("A person", COMMITTED)
    project.file("a.py", CODE)
    commit = made.commit("An AI", LATER)
    files = {"a.py": [(session_key(CLAUDE), "5-8"), (human_key("Ada"), "11-14")]}
    attach(made, commit, note(commit, files))
    return made


async def plain(editor: Editor, uri: str, line: int) -> list[str]:
    hover = await editor.hover(uri, line) if await editor.hover_whole(uri, line) else ""
    return [each.strip().replace("`", "") for each in hover.split("\n") if each.strip()]


async def test_a_line_shows_its_note_with_the_source(
    editor: Editor, project: Project, repository: Repository
) -> None:
    uri = await editor.open_known(project.root / "a.py")
    assert await plain(editor, uri, 6) == [
        "git-ai: Claude Code · claude-sonnet-4-5-20250514",
        f"note of commit {repository.head()[:8]}, not recorded in this trail",
    ]
    assert await plain(editor, uri, 1) == []
    assert await plain(editor, uri, 12) == []
    answer = await editor.provenance(uri, lines=True)
    assert (answer["placements"], answer["lines"]) == ([], [])


async def test_a_note_follows_lines_into_later_versions_and_unsaved_text(
    editor: Editor, project: Project, repository: Repository
) -> None:
    project.file("a.py", "# one\n# two\n" + CODE.replace("seen.hexdigest()", "seen.digest()"))
    repository.commit("Two lines above, one changed", "2026-02-03T13:00:00+00:00")
    uri = await editor.open_known(project.root / "a.py")
    assert (await plain(editor, uri, 8))[0].startswith("git-ai: Claude Code")
    assert await plain(editor, uri, 10) == []  # a person has changed it
    editor.insert(uri, 1, "# a third\n")
    assert (await plain(editor, uri, 9))[0].startswith("git-ai: Claude Code")
    assert await plain(editor, uri, 1) == []


async def test_an_annotation_of_our_own_comes_first(
    editor: Editor, project: Project, repository: Repository
) -> None:
    project.line("a.py", 5, 6, text=CODE)
    uri = await editor.open_known(project.root / "a.py")
    assert "git-ai" not in await editor.hover(uri, 5)
    assert "git-ai: " in await editor.hover(uri, 7)
    assert repository.head()


async def test_notes_can_be_switched_off(
    editor: Editor, project: Project, repository: Repository
) -> None:
    await editor.set(notes={"enable": False})
    uri = await editor.open_known(project.root / "a.py")
    assert await plain(editor, uri, 6) == []
    await editor.set()
    assert repository.head()


@pytest.mark.parametrize(
    "broken",
    [
        b"\xff\xfe",
        b"a.py\n  x 1-999999999\n---\n{}",
        note("0" * 40, {"a.py": [(session_key(CLAUDE), "1-999999999")]}, agents=()),
        note("0" * 40, {"../a.py": [(session_key(CODEX), "1-9")], "/a.py": [("x", "1")]}),
        "a.py\n" + "  x 1-999999\n" * 9_999 + "---\n{}",
    ],
    ids=["no text", "no version", "no session", "paths outside", "many entries"],
)
async def test_a_broken_note_shows_nothing(
    editor: Editor, project: Project, repository: Repository, broken: str | bytes
) -> None:
    attach(repository, repository.head(), broken)
    uri = await editor.open_known(project.root / "a.py")
    assert await plain(editor, uri, 6) == []


async def test_text_of_a_note_stays_text(
    editor: Editor, project: Project, repository: Repository
) -> None:
    hostile = ("[x](command:evil) <b>**", "c", "# `model`\n\n---\n")
    commit = repository.head()
    attach(repository, commit, note(commit, {"a.py": [(session_key(hostile), "5-8")]}, [hostile]))
    uri = await editor.open_known(project.root / "a.py")
    shown = await editor.hover(uri, 6)
    assert "\n# " not in shown
    assert "---" not in shown.split("\n")
    if editor.marks:
        assert "`[x](command:evil) <b>**`" in shown


async def test_new_notes_show_without_a_restart(
    editor: Editor, project: Project, repository: Repository
) -> None:
    repository.git("update-ref", "-d", REF)
    uri = await editor.open_known(project.root / "a.py")
    assert await plain(editor, uri, 6) == []
    commit = repository.head()
    attach(repository, commit, note(commit, {"a.py": [(session_key(CODEX), "5-8")]}))
    while not await plain(editor, uri, 6):
        await editor.final(uri)
    assert (await plain(editor, uri, 6))[0] == "git-ai: Codex · gpt-5.1-codex"


async def test_an_imported_annotation_names_its_source(editor: Editor, project: Project) -> None:
    source = {"format": "git-ai", "id": session_key(CLAUDE), "evidence": "revision"}
    uri = editor.open(project.annotated(imported_from=source))
    assert "imported from git-ai, evidence revision" in (await editor.hover(uri, 5)).replace(
        "`", ""
    )
