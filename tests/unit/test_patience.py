"""The limits of waits, and the variable that changes them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from vibes_lsp import patience
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.process import git_lines, run_git
from vibes_lsp.patience import GIT, LOCK, VARIABLE, Wait

WAITS = {name: wait for name, wait in vars(patience).items() if isinstance(wait, Wait)}


def test_each_wait_has_a_name_of_its_own() -> None:
    assert {wait.name for wait in WAITS.values()} == {
        name.lower().replace("_", "-") for name in WAITS
    }


@pytest.mark.parametrize(
    ("value", "limit"),
    [
        ("", 10),
        ("unlimited", 604_800),
        ("0", 0),
        ("0.5", 0.5),
        ("lock=3", 3),
        ("unlimited,lock=0", 0),
        ("lock=unlimited, git=0", 604_800),
        ("git=0", 10),
        ("-1", 0),
        ("inf", 604_800),
        ("nan", 0),
        ("soon", 10),
        (",,lock=", 10),
    ],
)
def test_the_variable_changes_a_limit(
    monkeypatch: pytest.MonkeyPatch, value: str, limit: float
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    assert LOCK.limit == limit


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
def test_a_git_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec sleep 10000\n", encoding="utf-8")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv(VARIABLE, "git=0")
    with pytest.raises(HistoryUnavailable):
        run_git(tmp_path, "status")
    with pytest.raises(HistoryUnavailable), git_lines(tmp_path, "log", patience=GIT) as lines:
        assert list(lines) == []
