"""Appending whole lines (R9): no partial writes, and repair after a writer died."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from tests.unit.store.followed_log import FollowedLog
from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store.appending import append_lines, repair_partial_line
from vibes_lsp.store.locks import FileLock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from vibes_lsp.store.locks import LockHandle


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "annotations.jsonl"


@pytest.fixture
def held(tmp_path: Path) -> Iterator[LockHandle]:
    with FileLock(tmp_path / "append.lock").acquire() as held:
        yield held


def test_lines_are_appended(log: Path, held: LockHandle) -> None:
    append_lines(log, b"{}\n", held)
    reached = append_lines(log, b"[]\n[]\n", held, durable=True)
    assert log.read_bytes() == b"{}\n[]\n[]\n"
    assert (reached.inode, reached.size) == (log.stat().st_ino, 9)
    assert held.intent == ""


@pytest.mark.parametrize("tail", [b'{"whole":1}', b'{"torn":'])
def test_a_partial_line_of_another_program_gets_its_newline(
    log: Path, held: LockHandle, tail: bytes
) -> None:
    log.write_bytes(b"{}\n" + tail)
    append_lines(log, b"[]\n", held)
    assert log.read_bytes() == b"{}\n" + tail + b"\n[]\n"


def test_lines_are_appended_in_one_write(
    log: Path, held: LockHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader between two writes would see half of a group."""
    writes = count_writes(log, monkeypatch)
    log.write_bytes(b"torn")
    append_lines(log, b"{}\n" * 100, held)
    assert writes == [301]


def count_writes(log: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    writes: list[int] = []
    real = os.write

    def write(descriptor: int, data: bytes | memoryview) -> int:
        if log.exists() and os.fstat(descriptor).st_ino == log.stat().st_ino:
            writes.append(len(data))
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    return writes


class FullDisk:
    """Accepts some bytes of the log, and then no more."""

    def __init__(self, log: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        self.room = room
        real = os.write

        def write(descriptor: int, data: bytes | memoryview) -> int:
            if os.fstat(descriptor).st_ino != log.stat().st_ino:
                return real(descriptor, data)
            if self.room <= 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            written = real(descriptor, bytes(data)[: self.room])
            self.room -= written
            return written

        monkeypatch.setattr(os, "write", write)


@pytest.mark.parametrize("room", [0, 1, 3, 5])
def test_a_full_disk_leaves_the_file_unchanged(
    log: Path, held: LockHandle, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    append_lines(log, b"{}\n", held)
    disk = FullDisk(log, monkeypatch, room)
    with pytest.raises(RefusedWrite, match="No space left"):
        append_lines(log, b"[]\n[]\n", held)
    assert log.read_bytes() == b"{}\n"
    disk.room = 100
    append_lines(log, b"[]\n", held)
    assert log.read_bytes() == b"{}\n[]\n"


def test_lines_that_cannot_be_flushed_to_the_disk_are_removed(
    log: Path, held: LockHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller is told that nothing was written, and may write them again."""
    append_lines(log, b"{}\n", held)

    def refuse(_: int) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    with monkeypatch.context() as patch:
        patch.setattr("vibes_lsp.store.appending.flush_to_disk", refuse)
        with pytest.raises(RefusedWrite, match="quota"):
            append_lines(log, b"[]\n", held, durable=True)
    assert log.read_bytes() == b"{}\n"


def test_lines_that_are_written_count_though_the_lock_file_cannot_be(
    log: Path, held: LockHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = held.write_intent

    def refuse_empty(intent: str) -> None:
        if not intent:
            raise OSError(errno.EIO, "Input/output error")
        real(intent)

    monkeypatch.setattr(held, "write_intent", refuse_empty)
    append_lines(log, b"{}\n", held)
    append_lines(log, b"[]\n", held)
    repair_partial_line((log,), held)
    assert log.read_bytes() == b"{}\n[]\n"


def test_partial_writes_are_continued(
    log: Path, held: LockHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_lines(log, b"{}\n", held)
    real = os.write
    monkeypatch.setattr(
        os,
        "write",
        lambda descriptor, data: (
            real(descriptor, bytes(data)[:5]) if len(data) < 100 else real(descriptor, data)
        ),
    )
    append_lines(log, b'{"long":"enough"}\n', held)
    assert log.read_bytes() == b'{}\n{"long":"enough"}\n'


def test_the_next_writer_truncates_what_could_not_be_undone(
    log: Path, held: LockHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_lines(log, b"{}\n", held)
    with monkeypatch.context() as patch:
        FullDisk(log, patch, 4)

        def refuse(*_: object) -> None:
            raise OSError(errno.EIO, "Input/output error")

        patch.setattr(os, "ftruncate", refuse)
        with pytest.raises(RefusedWrite):
            append_lines(log, b"[1]\n[2]\n", held)
        assert log.read_bytes() == b"{}\n[1]\n"[: 3 + 4]
    repair_partial_line((log,), held)
    assert log.read_bytes() == b"{}\n[1]\n", "a whole line that came through is one"
    append_lines(log, b"[3]\n", held)
    assert log.read_bytes() == b"{}\n[1]\n[3]\n"


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        (b"", b""),
        (b'{"a":1', b""),
        (b'{"a":1}', b""),
        (b'{"a":1}\n', b'{"a":1}\n'),
        (b'{"a":1}\n{"b"', b'{"a":1}\n'),
        (b"\n", b"\n"),
    ],
)
def test_a_partial_line_of_a_dead_writer_is_truncated(
    log: Path, held: LockHandle, after: bytes, kept: bytes
) -> None:
    log.write_bytes(b"{}\n" + after)
    held.write_intent(f"{log.name} {log.stat().st_ino} 3")
    repair_partial_line((log,), held)
    assert log.read_bytes() == b"{}\n" + kept
    assert held.intent == ""


@pytest.mark.parametrize(
    "note",
    [
        "annotations.jsonl {inode} 99",
        "annotations.jsonl 1 1",
        "other.jsonl {inode} 1",
        "annotations.jsonl",
        "x",
        "annotations.jsonl -1 -1",
    ],
)
def test_an_intent_about_another_file_truncates_nothing(
    log: Path, held: LockHandle, note: str
) -> None:
    """The log was replaced, as git does, or the lock file came with an untrusted clone."""
    log.write_bytes(b"{}\ntorn")
    held.write_intent(note.format(inode=log.stat().st_ino))
    repair_partial_line((log,), held)
    assert log.read_bytes() == b"{}\ntorn"


def test_a_log_replaced_during_a_write_gets_the_line(
    log: Path, held: LockHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git replaces the file; a line written to the old one would be lost."""
    log.write_bytes(b"{}\n")
    real = os.fstat
    replaced: list[bool] = []

    def replace_then_stat(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        if not replaced and status.st_ino == log.stat().st_ino:
            replaced.append(True)
            (log.parent / "new").write_bytes(b"[]\n")
            (log.parent / "new").replace(log)
        return status

    monkeypatch.setattr(os, "fstat", replace_then_stat)
    append_lines(log, b'"x"\n', held)
    assert log.read_bytes() == b'[]\n"x"\n'


def test_a_link_or_a_folder_is_rejected(log: Path, held: LockHandle) -> None:
    (log.parent / "elsewhere").write_bytes(b"precious")
    log.symlink_to(log.parent / "elsewhere")
    with pytest.raises(RefusedWrite, match="link"):
        append_lines(log, b"{}\n", held)
    assert (log.parent / "elsewhere").read_bytes() == b"precious"
    log.unlink()
    log.mkdir()
    with pytest.raises(RefusedWrite, match=r"annotations\.jsonl"):
        append_lines(log, b"{}\n", held)


def test_a_follower_sees_each_group_once(log: Path, held: LockHandle) -> None:
    followed = FollowedLog(log)
    for number in range(5):
        append_lines(log, b"%d\n" % number * 2, held)
        assert followed.poll() == "more"
    assert followed.lines == [b"%d" % number for number in range(5) for _ in range(2)]
