"""Temporary folders are deleted by the next server if their own was killed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from tests.requirements import REPOSITORY
from vibes_lsp.lsp.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from pathlib import Path

USER = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from vibes_lsp.lsp.temporary_folder import TemporaryFolder
folder = TemporaryFolder()
(folder.path / "text").write_text("a prompt")
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_killed_program_is_deleted_and_no_other(top: Path) -> None:
    theirs = [top / "vibes-lsp-of-another-kind", top / "other"]
    for folder in theirs:
        folder.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", USER, str(top)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as user:
        assert user.stdout is not None
        used = user.stdout.readline().strip()
        first = TemporaryFolder()
        assert {str(path) for path in top.iterdir()} == {*map(str, theirs), str(first.path), used}
        user.kill()
    second = TemporaryFolder()
    assert set(top.iterdir()) == {*theirs, first.path, second.path}
    first.remove()
    second.remove()
    assert set(top.iterdir()) == set(theirs)
