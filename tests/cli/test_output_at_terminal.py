"""What commands show on a terminal: colours, the width of lines, and a pager for long output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import vibes
from tests.cli.terminal import terminal
from tests.server.project import STORY, Project

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no pseudo-terminal that a test could hold"
)
RED = "\x1b[1;31m"
LONG = "x" * 60 + "END"


@pytest.fixture
def story(tmp_path: Path) -> Project:
    project = Project(tmp_path / "story")
    project.config(risk_scoring={"enabled": True, "algorithm": "our-own"})
    project.environment()
    text = STORY.replace("import hashlib", f"import hashlib  # {LONG}")
    project.line("a.py", 4, 7, text=text, risk_score=0.9)
    project.file("a.py", text)
    return project


def test_lines_are_cut_to_the_terminal(story: Project) -> None:
    with terminal("blame", "a.py", cwd=story.root, PAGER="cat") as shown:
        assert shown.wait_for_exit() == 0
    lines = [line for line in shown.shown.splitlines() if "import hashlib" in line]
    assert len(lines) == 1
    assert len(lines[0].rpartition("\x1b[2K")[2]) == 80  # the columns of a new terminal
    assert "END" not in shown.shown


def test_code_and_risk_have_colours(story: Project) -> None:
    with terminal("blame", "a.py", cwd=story.root, TERM="xterm") as shown:
        assert shown.wait_for_exit() == 0
    assert f"{RED}critical" in shown.whole
    assert "\x1b[94mdef" in shown.whole


@pytest.mark.parametrize(
    ("options", "environment", "colored"),
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_an_option_decides_about_colours(
    story: Project,
    options: tuple[str, ...],
    environment: dict[str, str],
    colored: bool,
) -> None:
    for command in (("blame", "a.py"), ("find",)):
        done = vibes(*command, *options, cwd=story.root, **environment)
        assert done.code == 0
        assert (f"{RED}critical" in done.out) == colored, command


def test_long_output_goes_to_a_pager(story: Project, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\necho "BEGIN"; cat; echo "OVER"\n')
    pager.chmod(0o755)
    with terminal("blame", "a.py", cwd=story.root, PAGER=str(pager)) as shown:
        assert shown.wait_for_exit() == 0
    assert "BEGIN" not in shown.shown, "it fits on the terminal"
    story.file("a.py", STORY + "more = 1\n" * 100)
    with terminal("blame", "a.py", cwd=story.root, PAGER=str(pager)) as shown:
        assert shown.wait_for_exit() == 0
    paged = shown.shown.partition("BEGIN\n")[2].partition("OVER\n")[0]
    assert "import hashlib" in paged
    assert paged.count("more = 1") == 100
