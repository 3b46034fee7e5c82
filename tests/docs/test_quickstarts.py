"""The commands of each quick start, run in order in an empty folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cli.terminal import terminal
from tests.docs.code_blocks import code_blocks, run_shell
from tests.requirements import REPOSITORY
from tests.trails import Repository
from tests.trails.repository import AUTHOR

QUICK_STARTS: Final = {"start": "", "plugin-authors": "", "reviewing": "Try it", "ci": "Try it"}
"""The section of each page that is a quick start; empty for the whole page."""
README: Final = (REPOSITORY / "README.md").read_text(encoding="utf-8")
STATUS: Final = {"vibes gate --base HEAD~2": 1}
"""Command -> the exit code that its page names; 0 for all others."""


def commands(text: str) -> list[str]:
    """Return the lines after a prompt in a page's console blocks, in order."""
    lines = (line for block in code_blocks(text, "console") for line in block.splitlines())
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def run(folder: Path, lines: list[str]) -> str:
    """Return the output of commands that a shell runs one after the other.

    Raises:
        AssertionError: a command's exit code is not the one its page names.
    """
    script = "".join(
        f"{line}\nstatus=$?\n[ $status -eq {STATUS.get(line, 0)} ] || exit $((100 + {number}))\n"
        for number, line in enumerate(lines)
    )
    done = run_shell(script, folder, "-u")
    assert done.returncode == 0, f"{lines[done.returncode - 100]}\n{done.stdout}{done.stderr}"
    return done.stdout


def quick_start(page: str) -> list[str]:
    """Return the commands of a page's quick start, in order."""
    text = (REPOSITORY / f"docs/{page}.md").read_text(encoding="utf-8")
    title = QUICK_STARTS[page]
    return commands(section(text, title) if title else text)


@pytest.mark.parametrize("page", QUICK_STARTS)
def test_a_quick_start_runs_from_its_first_command_to_its_last(tmp_path: Path, page: str) -> None:
    lines = quick_start(page)
    assert len(lines) > 3
    assert run(tmp_path, lines)


def section(text: str, title: str) -> str:
    """Return what is below a heading of a page."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def readme_commands(title: str) -> list[str]:
    """Return the commands of a section of the README."""
    return commands(section(README, title))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal for `vibes review`")
def test_the_readme_leads_from_a_sample_to_a_gate(tmp_path: Path) -> None:
    lines = readme_commands("Try it")
    own, review = lines.index("git init mine"), lines.index("vibes review")
    assert "claude-opus-4-5" in run(tmp_path, lines[:own])
    Repository(tmp_path / "mine").set_user(*AUTHOR)
    run(tmp_path, lines[own:review])
    with terminal("review", cwd=tmp_path / "mine") as shown:
        assert "Write a function that doubles." in shown.wait_for("[?] ")
        shown.press("a")
        assert "1 approved, 0 rejected, 0 left" in shown.wait_for("left")
        assert shown.wait_for_exit() == 0
    assert "approved by Ada Example" in run(tmp_path / "mine", lines[review + 1 :])


def test_the_readme_hooks_up_agents_in_an_own_repository(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    project = Repository(tmp_path / "own").path
    assert run(project, [f"export HOME={home}", *readme_commands("Record what your agents do")])
    assert "vibes hook" in (project / ".claude/settings.json").read_text(encoding="utf-8")
