"""What commands show on a terminal: colours and the width of lines."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import vibes
from tests.cli.terminal import terminal
from tests.server.project import STORY, Project
from vibes_lsp.cli import output, tables

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
    with terminal("blame", "a.py", cwd=story.root, GIT_PAGER="cat") as shown:
        assert shown.wait_for_exit() == 0
    lines = [line for line in shown.shown.splitlines() if "import hashlib" in line]
    assert len(lines) == 1
    assert len(lines[0].rpartition("\x1b[2K")[2]) == 80  # the columns of a new terminal
    assert "END" not in shown.shown


def test_prose_is_broken_between_words_and_only_on_a_terminal(story: Project) -> None:
    prompt = " ".join(f"word{number}" for number in range(40))
    path = "/".join(["folder"] * 15)
    found = story.line("a.py", 10, 13, text=STORY, prompt=story.prompt(f"{prompt} {path}"))
    with terminal("show", found[:12], cwd=story.root, GIT_PAGER="cat") as shown:
        assert shown.wait_for_exit() == 0
    lines = shown.shown.splitlines()
    first = next(number for number, line in enumerate(lines) if "prompt_text" in line)
    column = lines[first].index("word0")
    last = next(number for number, line in enumerate(lines) if path in line)
    told = lines[first : last + 1]
    assert len(told) > 4
    assert all(len(line) <= 80 for line in told[:-1])
    assert all(line[:column].isspace() and line[column] != " " for line in told[1:])
    assert " ".join(line[column:] for line in told) == f"{prompt} {path}", "no word is broken"
    assert f"{prompt} {path}" in vibes("show", found[:12], cwd=story.root).out


def test_a_typed_record_prints_one_line_on_a_terminal(story: Project) -> None:
    typed = ("record", "annotate", "a.py:10-13", "--tool", "chat", "--model", "some-model")
    with terminal(*typed, cwd=story.root) as shown:
        assert shown.wait_for_exit() == 0
    (line,) = shown.shown.split("\n")[:-1]
    assert re.fullmatch(r"recorded [0-9a-f]{8}: a\.py:10-13\r?", line)
    verdict = ("record", "review", "a.py:10-13", "--verdict", "approved")
    with terminal(*verdict, cwd=story.root, VIBES_REVIEWER="") as shown:
        assert shown.wait_for_exit() == 0
    assert re.match(r"reviewed: [0-9a-f]{8}\b", shown.shown)
    assert vibes(*typed, cwd=story.root).json["record"]["line_start"] == 10


def test_a_person_who_is_waited_for_is_told(story: Project) -> None:
    with terminal("record", "prompt", cwd=story.root) as shown:
        shown.wait_for("vibes: waiting for one JSON object on standard input")
        shown.press("\x04")
        shown.wait_for("give one JSON object")
        assert shown.wait_for_exit() == 2


def test_code_and_risk_have_colours(story: Project) -> None:
    with terminal("blame", "a.py", cwd=story.root, TERM="xterm") as shown:
        assert shown.wait_for_exit() == 0
    assert f"{RED}critical" in shown.whole
    assert "\x1b[94mdef" in shown.whole


@pytest.mark.parametrize(
    ("environment", "colored"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1", "TERM": "xterm"}, True),
        ({"FORCE_COLOR": "1", "TERM": "xterm", "NO_COLOR": "1"}, False),
    ],
)
def test_the_environment_decides_about_colours(
    story: Project, environment: dict[str, str], colored: bool
) -> None:
    for command in (("blame", "a.py"), ("find",)):
        done = vibes(*command, cwd=story.root, **environment)
        assert done.code == 0
        assert (f"{RED}critical" in done.out) == colored, command


def test_the_rows_of_a_very_long_table_are_aligned_but_not_fitted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "is_plain", lambda: False)
    monkeypatch.setattr(tables, "is_plain", lambda: False)
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    row = ["x" * 50, "y" * 70, "end"]
    tables.print_table(["one", "other", "last"], [row] * 9)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
    tables.print_table(["one", "other", "last"], [row] * 1_001)
    heading, _, *rows = capsys.readouterr().out.splitlines()
    assert rows == ["  ".join(row)] * 1_001
    assert heading == f"{'one':<50}  {'other':<60}  last"
