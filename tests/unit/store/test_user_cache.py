"""The user's cache folder and its databases: written by the user alone, made again if damaged."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from vibes_lsp.patience import TRAIL_INDEX
from vibes_lsp.store import user_cache
from vibes_lsp.store.cache_database import CacheDatabase
from vibes_lsp.store.user_cache import cache_subfolder, database_name

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX has owners and modes")
DATABASE: Final = CacheDatabase("kind", "kind-1", ("CREATE TABLE kept (value)",), TRAIL_INDEX)
SUBJECT: Final = Path("subject")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/vibes-lsp"


def kept(subject: Path = SUBJECT) -> list[object] | None:
    """Return the values in the database about a subject; None if there can be none."""
    database = DATABASE.open_shared(subject)
    if database is None:
        return None
    with closing(database):
        return [value for (value,) in database.execute("SELECT value FROM kept")]


def keep(value: str, subject: Path = SUBJECT) -> None:
    database = DATABASE.open_shared(subject)
    assert database is not None
    with closing(database):
        database.execute("INSERT INTO kept VALUES (?)", (value,))


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.db"))


def test_what_is_kept_is_returned(folder: Path) -> None:
    assert kept() == []
    keep("one")
    keep("two")
    keep("other", Path("other"))
    assert (kept(), kept(Path("other"))) == (["one", "two"], ["other"])
    assert len(files(folder)) == 2


@POSIX
def test_other_users_cannot_read_or_write_it(folder: Path) -> None:
    keep("one")
    assert [each.stat().st_mode & 0o777 for each in (folder, folder / "kind")] == [0o700, 0o700]


@pytest.mark.parametrize("damage", [b"", b"no database" * 99], ids=["empty", "another file"])
def test_a_damaged_database_is_made_again(folder: Path, damage: bytes) -> None:
    keep("one")
    path = DATABASE.path(SUBJECT)
    assert path is not None
    path.write_bytes(damage)
    assert kept() == []
    keep("two")
    assert kept() == ["two"]
    assert len(files(folder)) == 1


@POSIX
@pytest.mark.parametrize("place", ["", "kind"], ids=["the cache", "the kind"])
def test_a_folder_that_others_may_write_to_is_not_used(folder: Path, place: str) -> None:
    keep("one")
    (folder / place).chmod(0o770)
    assert kept() is None
    database, lasts = DATABASE.open(SUBJECT)
    with closing(database):
        assert (lasts, database.execute("SELECT value FROM kept").fetchall()) == (False, [])
    (folder / place).chmod(0o700)
    assert kept() == ["one"]


@POSIX
def test_a_link_in_its_place_is_not_followed(folder: Path, tmp_path: Path) -> None:
    keep("one")
    (folder / "kind").rename(tmp_path / "elsewhere")
    (folder / "kind").symlink_to(tmp_path / "elsewhere")
    assert kept() is None


@POSIX
@pytest.mark.parametrize("mark", [".git", ".ai-audit"])
def test_a_home_that_is_a_repository_has_a_cache(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    import pwd  # not on Windows

    (tmp_path / mark).mkdir()
    account = pwd.getpwuid(os.geteuid())
    monkeypatch.setenv("HOME", str(tmp_path))
    assert kept() is None, "anybody can set HOME"
    home = pwd.struct_passwd((*account[:5], str(tmp_path), account[6]))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: home)
    keep("one")
    assert kept() == ["one"]
    (tmp_path / "cache" / mark).mkdir(parents=True)
    assert kept() is None
    assert folder.exists()


@pytest.mark.parametrize("mark", [".git", ".ai-audit"])
def test_a_folder_in_a_project_is_not_used(folder: Path, tmp_path: Path, mark: str) -> None:
    keep("planted")
    before = files(folder)
    (tmp_path / mark).mkdir()
    assert (kept(), cache_subfolder("another")) == (None, None)
    assert files(folder) == before


@pytest.mark.parametrize("place", ["", "relative", "\0"])
def test_without_a_folder_nothing_is_cached(place: str) -> None:
    found = user_cache._folder({"XDG_CACHE_HOME": place, "HOME": place}, "linux")
    assert found is None


def test_each_system_has_its_own_folder(tmp_path: Path) -> None:
    environ = {
        "HOME": str(tmp_path / "home"),
        "LOCALAPPDATA": str(tmp_path / "local"),
        "XDG_CACHE_HOME": "relative",
    }
    found = {
        platform: user_cache._folder(environ, platform) for platform in ("linux", "darwin", "win32")
    }
    assert found == {
        "linux": tmp_path / "home/.cache/vibes-lsp",
        "darwin": tmp_path / "home/Library/Caches/vibes-lsp",
        "win32": tmp_path / "local/vibes-lsp",
    }


def test_a_file_instead_of_the_folder_is_tolerated(folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("in the way")
    assert kept() is None


def test_a_folder_instead_of_a_database_is_tolerated(folder: Path) -> None:
    path = DATABASE.path(SUBJECT)
    assert path is not None
    path.mkdir()
    assert kept() is None
    assert folder.is_dir()


@POSIX
def test_machines_with_one_home_have_different_databases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = str(tmp_path / "a"), str(tmp_path / "b")
    names = {database_name("log", one), database_name("log", other)}
    here = os.uname()
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("x", "elsewhere", *here[2:])))
    names |= {database_name("log", one), database_name("manifest", one)}
    assert len(names) == 4
