"""What earlier versions wrote into settings and hooks still starts: modules move, these do not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import clean_environment
from tests.unit.recording.projects import new_project
from vibes_lsp.ingest.fold import wait_until_folded

if TYPE_CHECKING:
    from tests.unit.recording.projects import Project

PROGRAMS = (
    ("-m", "vibes_lsp"),
    ("-c", "from vibes_lsp.__main__ import main; main()"),
    ("-c", "from vibes_lsp.cli.main import main; main()"),
)
"""How programs that an installation left start `vibes`."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


def run(folder: Path, *arguments: str, given: str = "") -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=clean_environment({"PYTHONPATH": str(Path(__file__).resolve().parents[2])}),
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_hook_of_an_agent_records(project: Project, program: tuple[str, str]) -> None:
    event = {
        "session_id": "0d9ac5f2", "cwd": str(project.root), "prompt": "Do it.",
        "hook_event_name": "UserPromptSubmit", "prompt_id": "p1",
    }  # fmt: skip
    assert run(project.root, *program, "hook", given=json.dumps(event)) == ""
    wait_until_folded(project.recorder.directory)
    [prompt] = project.entries("prompt").values()
    assert prompt["prompt_text"] == "Do it."


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_hook_of_git_and_the_list_of_servers_start(
    project: Project, program: tuple[str, str]
) -> None:
    trail = str(project.recorder.directory.path)
    run(project.root, *program, "backfill", "--pre-commit", "--audit-dir", trail)
    run(project.root, *program, "mcp")


def test_an_editor_starts_the_language_server(tmp_path: Path) -> None:
    program = "from vibes_lsp.lsp.main import main; main()"
    assert run(tmp_path, "-c", program, "--version").startswith("vibes-lsp ")
