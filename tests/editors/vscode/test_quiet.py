"""Where there is no audit trail nothing runs; when one appears in the open folder, however it gets there, it shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.editors.vscode.conftest import SERVER, Open
from tests.server.project import STORY, Project


def recorded(folder: Path) -> str:
    """The trail grows file by file."""
    _trail(folder)
    return "a.py"


def checked_out(folder: Path) -> str:
    """The trail comes whole, as in a change of branches: what is in it is announced by nobody."""
    _trail(folder.parent / "elsewhere")
    (folder.parent / "elsewhere/.ai-audit").rename(folder / ".ai-audit")
    return "a.py"


def cloned(folder: Path) -> str:
    """The trail comes within a folder of its own: that it is there is announced by nobody."""
    _trail(folder.parent / "elsewhere").file("b.py")
    (folder.parent / "elsewhere").rename(folder / "clone")
    return "clone/b.py"


def _trail(root: Path) -> Project:
    project = Project(root)
    project.config()
    project.environment()
    project.line("a.py", 4, 7, text=STORY)
    project.line("b.py", 4, 7, text=STORY)
    return project


@pytest.mark.parametrize("appear", [recorded, checked_out, cloned])
def test_nothing_runs_without_a_trail_and_one_that_appears_shows(
    open_window: Open, tmp_path: Path, appear: Callable[[Path], str]
) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.py").write_text(STORY, encoding="utf-8")
    started = tmp_path / "started"
    server = tmp_path / "server"
    server.write_text(f'#!/bin/sh\ntouch "{started}"\nexec "{SERVER}" "$@"\n', encoding="utf-8")
    server.chmod(0o755)
    code = open_window(folder, vibes__server__path=str(server))
    code.open_file("a.py")
    code.until(
        lambda: code.program.log_count("no audit trail found"), "the extension to have looked"
    )
    assert not started.exists()

    file = appear(folder)
    if file != "a.py":
        code.open_file(file)
    code.lens("AI edit")
    assert started.exists()


def test_what_another_program_records_in_a_trail_above_the_folder_shows_by_itself(
    open_window: Open, tmp_path: Path
) -> None:
    project = Project(tmp_path / "shop")
    project.config()
    project.environment()
    project.line("lib/a.py", 4, 7, text=STORY)
    project.file("lib/a.py", STORY)
    code = open_window(project.root / "lib")
    code.open_file("a.py")
    code.marks_on([4, 5, 6, 7])
    project.line("lib/a.py", 10, 13, text=STORY)

    def goes_on() -> bool:
        project.line(
            "lib/b.py", 1, 3, text=STORY
        )  # when VS Code has begun to watch is not to be seen: what was before is announced by nobody
        return sorted(code.marks()) == [4, 5, 6, 7, 10, 11, 12, 13]

    code.until(goes_on, "the marks of what was recorded meanwhile")
