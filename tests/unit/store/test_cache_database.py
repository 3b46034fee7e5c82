"""Databases in the user's cache folder: only where nobody else can have written them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from vibes_lsp.patience import GIT_FACTS
from vibes_lsp.store.cache_database import CacheDatabase

DATABASE: Final = CacheDatabase("kind", "kind-1", ("CREATE TABLE fact (value TEXT)",), GIT_FACTS)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX has owners and modes")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/vibes-lsp/kind"


def facts(subject: Path) -> list[str]:
    """Return what is in the database about a folder, and add a fact."""
    connection, _ = DATABASE.open(subject)
    values = [value for (value,) in connection.execute("SELECT value FROM fact")]
    connection.execute("INSERT INTO fact VALUES ('saved')")
    connection.close()
    return values


def test_its_folders_are_closed_to_others_whatever_the_umask(folder: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert facts(tmp_path) == []
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (folder.parent, folder)] == [0o700, 0o700]
    assert facts(tmp_path) == ["saved"]


def test_a_long_write_ahead_log_is_cut_when_its_content_is_in_the_database(
    folder: Path, tmp_path: Path
) -> None:
    connection, _ = DATABASE.open(tmp_path)
    connection.execute("INSERT INTO fact VALUES (zeroblob(9 << 20))")
    [log] = folder.glob("*-wal")
    assert log.stat().st_size > 9 << 20
    connection.execute("INSERT INTO fact VALUES ('next')")
    assert log.stat().st_size <= 4 << 20
    connection.close()


def open_to_group(folder: Path) -> None:
    folder.chmod(0o770)


def open_to_readers(folder: Path) -> None:
    folder.chmod(0o705)


def replaced_by_link(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))


def open_above(folder: Path) -> None:
    folder.parent.chmod(0o777)


@pytest.mark.parametrize("change", [open_to_group, open_to_readers, replaced_by_link, open_above])
def test_a_folder_that_others_can_have_written_to_is_not_used(
    folder: Path, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    facts(tmp_path)
    change(folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert DATABASE.open_shared(tmp_path) is None
    assert facts(tmp_path) == [], "in memory"
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
