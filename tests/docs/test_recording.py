"""What `docs/recording.md` shows works when it is copied."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING

import pytest

from tests.requirements import REPOSITORY, require
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.recording.requests import REQUESTS

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (REPOSITORY / "docs" / "recording.md").read_text(encoding="utf-8")


def snippets(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("snippet", snippets("sh"))
def test_a_shell_snippet_records_what_it_says(tmp_path: Path, snippet: str) -> None:
    shell = require("sh", "runs the documented shell commands")
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    run = subprocess.run(
        [shell, "-eu", "-c", snippet], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, encoding="utf-8", check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert [" some-model exact " in line for line in run.stdout.splitlines()[-2:]] == [True, True]


@pytest.mark.parametrize("snippet", snippets("python"))
def test_a_python_snippet_records_what_it_says(tmp_path: Path, snippet: str) -> None:
    project: Project = new_project(tmp_path / "project")
    command = [sys.executable, "-c", snippet]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    run = subprocess.run(command, cwd=project.root, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert (run.returncode, run.stderr) == (0, "")
    [record] = project.records("line")
    assert run.stdout.split() == [record["annotation_id"], "2"]


def test_there_is_a_snippet_of_each_kind_and_every_command_is_listed() -> None:
    assert snippets("sh")
    assert snippets("python")
    listed = re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE)
    assert set(REQUESTS) <= set(listed)


def test_the_table_names_the_members_that_the_commands_take() -> None:
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*?) \|", PAGE, re.MULTILINE))
    shared = {"uri", "file", "requestId", "range", "lineStart", "lineEnd", "text"}
    for name, kind in REQUESTS.items():
        members = {field.alias or each for each, field in kind.model_fields.items()}
        named = {each.removesuffix("?") for each in re.findall(r"`(\w+\??)`", rows[name])}
        assert members - shared == named - shared, name
