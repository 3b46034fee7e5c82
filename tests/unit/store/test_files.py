"""Replacing a whole file, and removing temporary files."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store import files
from vibes_lsp.store.files import (
    create_file,
    flush_file,
    flush_folder,
    flush_to_disk,
    replace_file,
    temporary_files,
    write_temporary,
)


def test_a_file_is_replaced_atomically(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with (tmp_path / "a").open("rb") as reader:
        replace_file(write_temporary(tmp_path / "folder", b"new"), tmp_path / "a")
        assert reader.read() == b"old", "who reads the old one goes on reading it"
    assert (tmp_path / "a").read_bytes() == b"new"
    assert temporary_files(tmp_path / "folder") == []


def test_names_of_temporary_files_are_unique(tmp_path: Path) -> None:
    assert len({write_temporary(tmp_path, b"") for _ in range(50)}) == 50
    assert len(temporary_files(tmp_path)) == 50


def test_an_incomplete_temporary_file_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "flush_to_disk", refuse)
    with pytest.raises(RefusedWrite, match="No space left"):
        write_temporary(tmp_path, b"x")
    assert list(tmp_path.iterdir()) == []


def test_the_temporary_file_is_removed_if_replacing_fails(tmp_path: Path) -> None:
    (tmp_path / "folder" / "not empty").mkdir(parents=True)
    with pytest.raises(RefusedWrite, match="folder"):
        replace_file(write_temporary(tmp_path, b"x"), tmp_path / "folder")
    assert temporary_files(tmp_path) == []


@pytest.mark.parametrize("refusals", [3, 1000])
def test_on_windows_it_waits_for_readers_of_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusals: int
) -> None:
    left = [refusals]
    waits: list[float] = []
    real = os.replace

    def refuse(source: Path, target: Path) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise PermissionError(errno.EACCES, "Access is denied")
        real(source, target)

    temporary = write_temporary(tmp_path, b"new")
    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(files, "os", SimpleNamespace(name="nt"))
    monkeypatch.setattr(files, "time", SimpleNamespace(sleep=waits.append))
    if refusals == 3:
        replace_file(temporary, tmp_path / "a")
        assert len(waits) == 3
        assert (tmp_path / "a").read_bytes() == b"new"
    else:
        with pytest.raises(RefusedWrite, match="Access is denied"):
            replace_file(temporary, tmp_path / "a")
        assert 0 < sum(waits) < 1
    assert temporary_files(tmp_path) == []


def test_flushing_a_missing_file_is_no_error(tmp_path: Path) -> None:
    flush_file(tmp_path / "absent")
    flush_folder(tmp_path / "absent")


def test_on_macos_the_drive_cache_is_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    fake = SimpleNamespace(F_FULLFSYNC=51, fcntl=lambda _, command: asked.append(command))
    monkeypatch.setattr("vibes_lsp.store.files.importlib.import_module", lambda _: fake)
    with (tmp_path / "a").open("wb") as file:
        flush_to_disk(file.fileno())
    assert asked == [51]


def test_a_file_that_another_program_makes_meanwhile_is_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that folds the journal clears up in its folder, where this one begins to make a file."""
    real = os.link

    def link_too_late(source: Path, target: Path) -> None:
        target.write_bytes(b"theirs")
        source.unlink()
        real(source, target)

    monkeypatch.setattr(os, "link", link_too_late)
    assert not create_file(tmp_path / "file", b"ours")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"theirs")]
