"""The examples in `docs/recording.md` work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.code_blocks import code_blocks, run_program, run_shell
from tests.requirements import REPOSITORY, require_node
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.recording.requests import REQUESTS

PAGE = (REPOSITORY / "docs" / "recording.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("snippet", code_blocks(PAGE, "sh"))
def test_a_shell_snippet_works(tmp_path: Path, snippet: str) -> None:
    run = run_shell(snippet, tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    first, second = run.stdout.splitlines()[-2:]
    assert " some-model now " in first
    assert [" + " in line for line in (first, second)] == [True, True]


@pytest.mark.parametrize("snippet", code_blocks(PAGE, "python"))
def test_a_python_snippet_works(tmp_path: Path, snippet: str) -> None:
    project: Project = new_project(tmp_path / "project")
    command = [sys.executable, "-c", snippet]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    run = subprocess.run(
        command,
        cwd=project.root,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    [record] = project.records("line")
    assert run.stdout.split() == [record["annotation_id"], "2"]


@pytest.mark.parametrize("snippet", code_blocks(PAGE, "typescript"), ids=["shell", "server"])
def test_a_typescript_snippet_works(tmp_path: Path, snippet: str) -> None:
    project: Project = new_project(tmp_path / "project")
    (project.root / "example.mts").write_text(snippet, encoding="utf-8")
    assert_recorded(project, [str(require_node()), "example.mts"])


@pytest.mark.parametrize("snippet", code_blocks(PAGE, "lua"))
def test_a_lua_snippet_works(tmp_path: Path, snippet: str) -> None:
    project: Project = new_project(tmp_path / "project")
    language = (
        "lua54" if os.name == "nt" else "luajit21"
    )  # Neovim's own; the other one is built without io.popen but on Windows
    program = (
        f"import sys; from lupa import {language} as lua; lua.LuaRuntime().execute(sys.argv[1])"
    )
    assert_recorded(project, [sys.executable, "-c", program, snippet])


def assert_recorded(project: Project, command: list[str]) -> None:
    """Run an example: it prints the id of what it recorded, and the trail has it with its cause."""
    run = run_program(command, project.root)
    assert (run.returncode, run.stderr) == (0, "")
    [record] = project.records("line")
    assert run.stdout.split() == [record["annotation_id"]]
    assert record["line_start"] == 1
    assert (record["annotation_id"], record["prompt_hash"]) in project.edges("caused_by")
    assert [each["event"] for each in project.records("session")] == ["start", "end"]
    assert project.entries("prompt")


def test_every_kind_of_snippet_and_every_command_is_there() -> None:
    assert [
        len(code_blocks(PAGE, language)) for language in ("sh", "python", "typescript", "lua")
    ] == [
        2,
        2,
        2,
        1,
    ]
    rows = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    assert set(REQUESTS) <= {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)}
