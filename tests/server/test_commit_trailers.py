"""Trailers of commits that name an agent, in hovers and `vibes blame --notes`: commit-level."""

from __future__ import annotations

import pytest

from tests.cli.run_vibes import vibes
from tests.server.editor import Editor
from tests.server.project import STORY, Project
from tests.trails import Repository

TRAILER = "Co-authored-by: Claude [x](command:y) <noreply@anthropic.com>"
CODE = "# by a person\n" + STORY


@pytest.fixture
def repository(project: Project) -> Repository:
    """A repository whose second commit, of all lines but the first, has a trailer."""
    made = Repository(project.root)
    project.file("a.py", "# by a person\n")
    made.commit("A person", "2026-02-03T11:00:00+00:00")
    project.file("a.py", CODE)
    made.commit(f"Someone and an AI\n\n{TRAILER}", "2026-02-03T12:00:00+00:00")
    return made


async def plain(editor: Editor, uri: str, line: int) -> list[str]:
    hover = await editor.hover(uri, line) if await editor.hover_whole(uri, line) else ""
    return [each.strip() for each in hover.split("\n") if each.strip()]


async def test_a_line_shows_the_agent_of_its_commit(
    editor: Editor, project: Project, repository: Repository
) -> None:
    uri = await editor.open_known(project.root / "a.py")
    shown = await plain(editor, uri, 6)
    assert "Claude" in shown[0]
    assert "took part in the commit of this line" in shown[0]
    assert repository.head()[:8] in shown[-1]
    assert shown[1].strip("`").startswith("Co-authored-by: Claude [x](command:y)")
    assert await plain(editor, uri, 1) == []
    editor.insert(uri, 1, "# new\n")
    assert await plain(editor, uri, 1) == []
    assert "Claude" in (await plain(editor, uri, 7))[0]
    answer = await editor.provenance(uri, lines=True)
    assert (answer["placements"], answer["lines"]) == ([], [])


async def test_an_annotation_comes_first_and_the_setting_hides_trailers(
    editor: Editor, project: Project, repository: Repository
) -> None:
    project.line("a.py", 5, 6, text=CODE)
    uri = await editor.open_known(project.root / "a.py")
    assert "took part" not in await editor.hover(uri, 5)
    assert "took part" in await editor.hover(uri, 9)
    await editor.set(notes={"enable": False})
    uri = await editor.open_known(project.root / "a.py")
    assert not await editor.hover_whole(uri, 9)
    assert repository.head()


def test_blame_lists_them_only_when_asked(project: Project, repository: Repository) -> None:
    asked = vibes("blame", "a.py", "--notes", cwd=project.root)
    assert f"{repository.head()[:8]} Claude: lines 2-" in asked.out
    assert "trailer" not in vibes("blame", "a.py", cwd=project.root).out
    shown = vibes("blame", "a.py", "--notes", "--json", cwd=project.root).json
    [trailer] = shown["trailers"]
    assert (trailer["lineStart"], trailer["agent"]) == (2, "Claude")
    assert (trailer["trailer"], trailer["commit"]) == (TRAILER, repository.head())
    assert shown["lines"] == []
