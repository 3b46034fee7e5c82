"""The commands of each quick start, run in order in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from pathlib import Path
from typing import Final

import pytest

from tests.requirements import REPOSITORY, require

pytestmark = pytest.mark.slow  # each starts programs

PAGES: Final = sorted((REPOSITORY / "docs/quickstart").glob("*.md"))
README: Final = (REPOSITORY / "README.md").read_text(encoding="utf-8")
STATUS: Final = {"vibes gate --base HEAD~2": 1}
"""Command -> the exit code that its page names; 0 for all others."""


def commands(text: str) -> list[str]:
    """Return the lines after a prompt in a page's console blocks, in order."""
    blocks = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = (line for block in blocks for line in block.splitlines())
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def run(folder: Path, lines: list[str]) -> str:
    """Return the output of commands that a shell runs one after the other.

    Raises:
        AssertionError: a command's exit code is not the one its page names.
    """
    shell = require("sh", "runs the documented commands")
    script = "".join(
        f"{line}\nstatus=$?\n[ $status -eq {STATUS.get(line, 0)} ] || exit $((100 + {number}))\n"
        for number, line in enumerate(lines)
    )
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    done = subprocess.run(
        [shell, "-u", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{lines[done.returncode - 100]}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_quick_start_runs_from_its_first_command_to_its_last(tmp_path: Path, page: Path) -> None:
    lines = commands(page.read_text(encoding="utf-8"))
    assert len(lines) > 3
    assert run(tmp_path, lines)


def test_the_first_commands_of_the_readme_show_who_wrote_a_line(tmp_path: Path) -> None:
    lines = [line for line in commands(README) if line.startswith("vibes ")]
    assert "claude-opus-4-5" in run(tmp_path, lines)
