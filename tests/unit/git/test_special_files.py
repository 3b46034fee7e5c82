"""A repository whose files are pipes or devices: nothing waits for them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.git.objects import GitObjects
from vibes_lsp.git.process import run_git
from vibes_lsp.git.repository import Repository as Opened
from vibes_lsp.git.stored_files import StoredFiles
from vibes_lsp.store.files import open_file, read_beginning, read_file
from vibes_lsp.store.git_folders import read_head
from vibes_lsp.store.locks import FileLock

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes by name")


def make_special(path: Path, kind: str) -> None:
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/tty")


@pytest.mark.parametrize("kind", ["pipe", "terminal"])
@pytest.mark.parametrize(
    "name",
    ["HEAD", "config", "packed-refs", "index", "shallow", "info/exclude", "refs/heads/main"],
)
def test_git_is_not_started_where_it_would_wait(tmp_path: Path, name: str, kind: str) -> None:
    repository = Repository(tmp_path)
    repository.commit("a commit")
    (tmp_path / ".git/info").mkdir(exist_ok=True)
    make_special(tmp_path / ".git" / name, kind)
    with pytest.raises(HistoryUnavailable, match="not a regular file"):
        run_git(tmp_path, "rev-parse", "HEAD")
    with GitObjects(tmp_path) as objects:
        assert objects.head() is None


@pytest.mark.parametrize("kind", ["pipe", "terminal"])
@pytest.mark.parametrize("name", ["HEAD", "packed-refs", "commondir"])
def test_head_is_read_without_waiting(tmp_path: Path, name: str, kind: str) -> None:
    repository = Repository(tmp_path)
    commit = repository.commit("a commit")
    repository.git("pack-refs", "--all")
    make_special(tmp_path / ".git" / name, kind)
    assert read_head(tmp_path) == (commit if name == "commondir" else None)


@pytest.mark.parametrize("kind", ["pipe", "terminal"])
def test_other_files_are_read_without_waiting(tmp_path: Path, kind: str) -> None:
    Repository(tmp_path)
    special = tmp_path / ".gitattributes"
    make_special(special, kind)
    for read in (open_file, read_file):
        with pytest.raises(UnreadableFile):
            read(special)
    assert read_beginning(special, 10) == b""
    make_special(tmp_path / ".git/shallow", kind)
    assert Opened(tmp_path).shallow_boundary() == frozenset()
    assert FileLock(special)._read() == ("", "")
    StoredFiles(tmp_path).filters(["a.py"])


def test_a_file_that_grows_while_it_is_read_stays_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "grows"
    file.write_bytes(b"12345")
    assert read_file(file, limit=5) == b"12345"

    def opened(path: Path) -> object:
        path.write_bytes(b"1234567")
        return open_file(path)

    monkeypatch.setattr("vibes_lsp.store.files.open_file", opened)
    with pytest.raises(UnreadableFile, match="too large"):
        read_file(file, limit=5)
