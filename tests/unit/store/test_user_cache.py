"""The user's cache folder: files are complete or missing, and written by the user alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from vibes_lsp.store import user_cache
from vibes_lsp.store.user_cache import (
    database_name,
    read_cached,
    write_cached,
)

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX has owners and modes")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/vibes-lsp"


def test_cached_data_is_returned(folder: Path) -> None:
    assert read_cached("a") is None
    write_cached("a", b"one")
    write_cached("b", b"")
    write_cached("a", b"two")
    assert (read_cached("a"), read_cached("b"), read_cached("c")) == (b"two", b"", None)
    assert sorted(file.name for file in folder.iterdir()) == ["a", "b"]


@POSIX
def test_other_users_cannot_read_or_write_it(folder: Path) -> None:
    write_cached("a", b"one")
    assert (folder.stat().st_mode & 0o777, (folder / "a").stat().st_mode & 0o777) == (0o700, 0o600)


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-1], lambda data: data + b"x", lambda data: b"x" + data[1:], lambda _: b""],
)
def test_changed_data_is_not_returned(folder: Path, damage: object) -> None:
    write_cached("a", b"one")
    assert callable(damage)
    (folder / "a").write_bytes(damage((folder / "a").read_bytes()))
    assert read_cached("a") is None
    write_cached("a", b"two")
    assert read_cached("a") == b"two"


@POSIX
def test_a_folder_that_others_may_write_to_is_not_used(folder: Path) -> None:
    write_cached("a", b"one")
    folder.chmod(0o770)
    assert read_cached("a") is None
    write_cached("a", b"two")
    folder.chmod(0o700)
    assert read_cached("a") == b"one"


@POSIX
def test_a_link_in_its_place_is_not_followed(folder: Path, tmp_path: Path) -> None:
    write_cached("a", b"one")
    (folder / "a").rename(tmp_path / "elsewhere")
    (folder / "a").symlink_to(tmp_path / "elsewhere")
    assert read_cached("a") is None
    os.mkfifo(folder / "b")
    assert read_cached("b") is None


@POSIX
@pytest.mark.parametrize("mark", [".git", ".ai-audit"])
def test_a_home_that_is_a_repository_has_a_cache(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    import pwd  # not on Windows

    (tmp_path / mark).mkdir()
    account = pwd.getpwuid(os.geteuid())
    monkeypatch.setenv("HOME", str(tmp_path))
    write_cached("a", b"one")
    assert read_cached("a") is None, "anybody can set HOME"
    home = pwd.struct_passwd((*account[:5], str(tmp_path), account[6]))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: home)
    write_cached("a", b"one")
    assert read_cached("a") == b"one"
    (tmp_path / "cache" / mark).mkdir(parents=True)
    assert read_cached("a") is None
    assert folder.exists()


@pytest.mark.parametrize("mark", [".git", ".ai-audit"])
def test_a_folder_in_a_project_is_not_used(folder: Path, tmp_path: Path, mark: str) -> None:
    write_cached("a", b"planted")
    (tmp_path / mark).mkdir()
    assert read_cached("a") is None
    write_cached("b", b"one")
    assert [file.name for file in folder.iterdir()] == ["a"]


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
    write_cached("a", b"one")
    assert read_cached("a") is None


def test_a_folder_instead_of_a_file_is_tolerated(folder: Path) -> None:
    (folder / "a").mkdir(parents=True)
    folder.chmod(0o700)
    write_cached("a", b"one")
    assert read_cached("a") is None
    assert [file.name for file in folder.iterdir()] == ["a"]


def test_the_cache_size_is_limited(folder: Path) -> None:
    write_cached("large", b"x" * (user_cache.MAX_CACHED + 1))
    assert read_cached("large") is None
    for number in range(user_cache._MAX_FILES + 3):
        write_cached(str(number), b"x")
        os.utime(folder / str(number), (number, number))
    write_cached("last", b"x")
    assert len(list(folder.iterdir())) == user_cache._MAX_FILES
    assert read_cached("0") is None
    assert read_cached("last") == b"x"


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
