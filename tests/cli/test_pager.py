"""Output that is longer than the terminal is shown in the pager that git would start."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.run_vibes import vibes
from tests.cli.terminal import Terminal, terminal_of
from tests.requirements import require
from tests.server.project import STORY, Project
from tests.trails import Repository

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no pseudo-terminal that a test could hold"
)
RED: Final = "\x1b[1;31m"
LINES: Final = 100
LAST: Final = f"more = {LINES - 1}"
WITHOUT_SETTINGS: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
COMMANDS: Final = (
    ("blame", "a.py"),
    ("show", "a.py:4"),
    ("log",),
    ("diff",),
    ("stats",),
    ("stats", "--by", "model"),
    ("stats", "--by", "session"),
    ("find",),
    ("stats", "--by", "file"),
    ("show", "--graph", "a.py:4"),
    ("check",),
    ("doctor",),
    ("review", "--list"),
    ("query", "SELECT * FROM line_annotations"),
)


@pytest.fixture
def story(tmp_path: Path) -> Project:
    """A project whose file is longer than a terminal, with a critical annotation."""
    project = Project(tmp_path / "story")
    project.config(risk_scoring={"enabled": True, "algorithm": "our-own"})
    project.environment()
    session = project.session_start()
    text = STORY + "".join(f"more = {number}\n" for number in range(LINES))
    project.line("a.py", 4, 7, text=text, risk_score=0.9, session=session)
    project.file("a.py", text)
    return project


def small_terminal(
    *arguments: str, cwd: Path, **environment: str
) -> AbstractContextManager[Terminal]:
    """Run `vibes` on a terminal of 24 lines of 80 columns, without settings of git."""
    return terminal_of(24, arguments, cwd, WITHOUT_SETTINGS | environment)


def program(folder: Path, name: str, script: str = "cat") -> Path:
    """Write a pager that prints its name, then runs a script."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '<{name}>'\n{script}\n")
    path.chmod(0o755)
    return path


def test_less_shows_colours_and_ends_at_once(story: Project) -> None:
    require("less", "is the pager where no other is named")
    with small_terminal("blame", "a.py", cwd=story.root) as shown:
        first = shown.wait_for("more = 0")
        shown.press("q")
        assert shown.wait_for_exit() == 0
    assert "critical" in first
    assert "ESC" not in shown.whole, "so less shows an escape that it does not pass on"
    assert RED in shown.whole
    assert LAST not in shown.whole
    assert "Traceback" not in shown.whole


def test_more_shows_colours_and_ends_at_once(story: Project) -> None:
    require("more", "is a pager that most systems have")
    with small_terminal("blame", "a.py", cwd=story.root, PAGER="more") as shown:
        shown.wait_for("--More--")
        shown.press("q")
        assert shown.wait_for_exit() == 0
    assert RED in shown.whole
    assert LAST not in shown.whole


@pytest.mark.parametrize("pager", ["cat", "", "/nowhere/pager", "vibes-has-no-such-pager -R"])
def test_without_a_pager_the_output_is_printed(story: Project, pager: str) -> None:
    with small_terminal("blame", "a.py", cwd=story.root, PAGER=pager) as shown:
        assert shown.wait_for_exit() == 0
    assert RED in shown.whole
    assert shown.shown.count(LAST) == 1
    assert "Traceback" not in shown.whole


def test_without_less_the_output_is_printed(story: Project, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(require("git", "reads the user's settings"))
    with small_terminal("blame", "a.py", cwd=story.root, PATH=str(programs)) as shown:
        assert shown.wait_for_exit() == 0
    assert shown.shown.count(LAST) == 1
    assert "not found" not in shown.whole


def test_git_decides_which_pager(story: Project, tmp_path: Path) -> None:
    first, second, third = (program(tmp_path, name) for name in ("first", "second", "third"))
    settings = tmp_path / "gitconfig"
    settings.write_text(f"[core]\n\tpager = {json.dumps(str(second))}\n")
    named = {
        "GIT_PAGER": str(first),
        "GIT_CONFIG_GLOBAL": str(settings),
        "PAGER": str(third),
    }
    for pager in ("first", "second", "third"):
        with small_terminal("blame", "a.py", cwd=story.root, **named) as shown:
            assert shown.wait_for_exit() == 0
        assert shown.shown.count(f"<{pager}>") == 1
        assert shown.shown.count(LAST) == 1
        del named[next(iter(named))]


def test_a_repository_names_no_pager(story: Project, tmp_path: Path) -> None:
    trap = program(tmp_path, "trap", f"touch {tmp_path / 'ran'}; cat")
    repository = Repository(story.root)
    repository.git("config", "core.pager", str(trap))
    repository.git("config", "pager.blame", str(trap))
    user = program(tmp_path, "user")
    with small_terminal("blame", "a.py", cwd=story.root, PAGER=str(user)) as shown:
        assert shown.wait_for_exit() == 0
    assert "<user>" in shown.shown
    assert not (tmp_path / "ran").exists()


def test_the_pager_gets_the_variables_that_git_sets(story: Project, tmp_path: Path) -> None:
    pager = str(program(tmp_path, "pager", 'echo "LESS=$LESS LV=$LV."; cat'))
    for given, expected in (({}, "LESS=FRX LV=-c."), ({"LESS": "-i", "LV": ""}, "LESS=-i LV=.")):
        with small_terminal("blame", "a.py", cwd=story.root, PAGER=pager, **given) as shown:
            shown.wait_for(expected)
            assert shown.wait_for_exit() == 0


def test_a_pager_gets_no_colours_where_none_are_wanted(story: Project, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    pager = str(program(tmp_path, "pager", f"cat > {kept}"))
    for environment, is_colored in (({}, True), ({"NO_COLOR": "1"}, False)):
        with small_terminal("blame", "a.py", cwd=story.root, PAGER=pager, **environment) as shown:
            assert shown.wait_for_exit() == 0
        assert ("\x1b" in kept.read_text()) == is_colored


def test_what_fits_and_what_no_person_reads_starts_no_pager(story: Project, tmp_path: Path) -> None:
    pager = str(program(tmp_path, "pager", f"touch {tmp_path / 'ran'}; cat"))
    with terminal_of(
        200, ("blame", "a.py"), story.root, WITHOUT_SETTINGS | {"PAGER": pager}
    ) as shown:
        assert shown.wait_for_exit() == 0
    assert shown.shown.count(LAST) == 1
    assert LAST in vibes("blame", "a.py", cwd=story.root, PAGER=pager).out
    with small_terminal("blame", "a.py", "--json", cwd=story.root, PAGER=pager) as shown:
        assert shown.wait_for_exit() == 0
    assert not (tmp_path / "ran").exists()


def test_a_line_that_is_wrapped_counts_as_several(story: Project, tmp_path: Path) -> None:
    pager = str(program(tmp_path, "pager"))
    path = "/".join(["folder"] * 280)
    prompt = story.prompt(path)
    identifier = story.line("a.py", 10, 13, text=STORY, prompt=prompt)
    with small_terminal("show", identifier[:12], cwd=story.root, PAGER=pager) as shown:
        assert shown.wait_for_exit() == 0
    assert "<pager>" in shown.shown


def test_the_exit_code_is_that_of_the_command(story: Project, tmp_path: Path) -> None:
    pager = str(program(tmp_path, "pager", "exit 5"))
    story.file("b.py", "line = 1\n" * 20_000)
    story.line("b.py", 1, 9, text="line = 1\n" * 20_000)
    with small_terminal("blame", "b.py", cwd=story.root, PAGER=pager) as shown:
        assert shown.wait_for_exit() == 0
    assert shown.shown.endswith("<pager>\n")
    with (story.root / ".ai-audit" / "annotations.jsonl").open("a") as log:
        log.write("broken\n")
    with terminal_of(4, ["check"], story.root, WITHOUT_SETTINGS | {"PAGER": pager}) as shown:
        assert shown.wait_for_exit() == 1
    assert shown.shown.endswith("<pager>\n")


def test_ctrl_c_is_for_the_pager(story: Project, tmp_path: Path) -> None:
    script = "trap 'echo INTERRUPTED' INT; cat; echo WAITING; read key < /dev/tty; echo OVER"
    script = script.replace("read key", "until read key")
    pager = str(
        program(tmp_path, "pager", script.replace("; echo OVER", "; do :; done; echo OVER"))
    )
    with small_terminal("blame", "a.py", cwd=story.root, PAGER=pager) as shown:
        shown.wait_for("WAITING")
        shown.press("\x03")
        shown.wait_for("INTERRUPTED")
        shown.press("key\r")
        shown.wait_for("OVER")
        assert shown.wait_for_exit() == 0
    assert "Traceback" not in shown.whole


def test_every_command_with_long_output_has_the_pager(story: Project, tmp_path: Path) -> None:
    repository = Repository(story.root)
    repository.commit("One")
    story.file("a.py", (story.root / "a.py").read_text().replace("    seen =", "        seen ="))
    pager = str(program(tmp_path, "pager"))
    without = []
    for command in COMMANDS:
        with terminal_of(3, command, story.root, WITHOUT_SETTINGS | {"PAGER": pager}) as shown:
            shown.wait_for_exit()
        if "<pager>" not in shown.shown:
            without.append((command, shown.shown))
    assert without == []
