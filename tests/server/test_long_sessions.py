"""A server that ran for long answers as one that has just started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.server.project import STORY, Project, let_records_wait
from tests.server.sessions import session
from tests.trails import Repository


async def fresh(place: Path, file: Path) -> Any:
    """Return what a server says of a file that has just begun."""
    async with session(place, [file.parent], profile="nothing") as other:
        return (await other.final(other.open(file)))["placements"]


@pytest.mark.parametrize("kind", ["anchored", "hashed", "waiting"])
async def test_after_every_save_and_commit_it_says_what_a_fresh_one_says(
    project: Project, tmp_path: Path, kind: str
) -> None:
    repository = Repository(project.root)
    if kind == "waiting":
        project.files.waiting = let_records_wait(repository)
    annotate = project.line if kind == "anchored" else project.hashed
    annotate("a.py", 10, 13, text=STORY)
    project.line("a.py", 1, 2, text=None)
    file = project.annotated()
    text = STORY
    async with session(tmp_path, [project.root], profile="nothing") as editor:
        uri = await editor.open_known(file)

        async def same() -> None:
            assert (await editor.final(uri))["placements"] == await fresh(tmp_path, file)

        async def save() -> None:
            file.write_text(text)
            editor.save(uri)
            await same()

        editor.insert(uri, 0, "# typed\n")
        editor.replace(uri, (5, 4), (5, 4), "# what for?\n    ")
        text = "".join(["# typed\n", *STORY.splitlines(keepends=True)])
        text = text.replace('    """Return', '    # what for?\n    """Return')
        await editor.provenance(uri)
        await save()
        repository.commit("Edited before it was ever committed")
        await same()
        editor.replace(uri, (13, 0), (15, 0), "    left = right = digest(one)\n")
        lines = text.splitlines(keepends=True)
        text = "".join([*lines[:13], "    left = right = digest(one)\n", *lines[15:]])
        await save()
        annotate("a.py", 13, 14, text=text, action="modify")
        await same()
        repository.commit("Edited again")
        await same()
        repository.switch("topic", create=True)
        repository.git("reset", "--quiet", "--soft", "HEAD~1")
        await same()
