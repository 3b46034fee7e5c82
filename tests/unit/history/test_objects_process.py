"""The process that reads objects ends with its owner, in every way that can end."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.requirements import require
from tests.trails import Repository
from vibes_lsp.history.objects import GitObjects

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "a project")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """All processes started to read objects, in order."""
    processes: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(arguments: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
        process = popen(arguments, **options)
        if "cat-file" in arguments:
            processes.append(process)
        return process

    monkeypatch.setattr(subprocess, "Popen", start)
    return processes


def test_close_ends_the_process_and_later_requests_return_none(
    repository: Repository, started: list[subprocess.Popen[bytes]]
) -> None:
    repository.write("a.py", "x\n")
    commit = repository.commit("One")
    blobs = GitObjects(repository.path)
    assert blobs.head() == commit
    blobs.close()
    assert started[0].returncode is not None
    assert blobs.contents(f"{commit}:a.py") is None
    assert blobs.head() is None
    blobs.close()
    assert len(started) == 1


def test_garbage_collection_ends_the_process(
    repository: Repository, started: list[subprocess.Popen[bytes]]
) -> None:
    repository.commit("One")
    blobs = GitObjects(repository.path)
    assert blobs.head()
    del blobs
    gc.collect()
    assert started[0].returncode is not None


PROGRAM = """
import atexit, os, pathlib, subprocess, sys
started = []
class Popen(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        started.append(self)
subprocess.Popen = Popen
atexit.register(lambda: print([each.returncode for each in started]))
from vibes_lsp.history.objects import GitObjects
kept = GitObjects(pathlib.Path(sys.argv[1]))
assert kept.head()
if sys.argv[2] == "kill":
    os.kill(os.getpid(), 9)
"""


def test_the_process_ends_with_the_program(repository: Repository) -> None:
    repository.commit("One")
    run = [sys.executable, "-c", PROGRAM, str(repository.path), "end"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() not in {"[None]", "[]"}


@pytest.mark.skipif(sys.platform == "win32", reason="replaces git with a shell script")
def test_the_process_ends_even_when_the_program_is_killed(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit("One")
    git = require("git", "is the process that must end")
    ended = tmp_path / "ended"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(f'#!/bin/sh\n"{git}" "$@"\n: > "{ended}"\n')
    (tmp_path / "bin/git").chmod(0o755)
    run = [sys.executable, "-c", PROGRAM, str(repository.path), "kill"]
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    assert subprocess.run(run, env=environment, capture_output=True, check=False).returncode == -9
    while not ended.exists():  # until the test's time limit
        threading.Event().wait(0.01)
