"""Locks: one holder at a time, bounded waiting, and Windows by a fake of its module."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from vibes_lsp.errors import RefusedWrite
from vibes_lsp.patience import Wait
from vibes_lsp.store import locks
from vibes_lsp.store.locks import FileLock

if TYPE_CHECKING:
    from collections.abc import Callable


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        self.then: Callable[[], object] = lambda: None

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.waits.append(seconds)
        self.then()

    def monotonic(self) -> float:
        return self.now

    def lock(self, path: Path) -> FileLock:
        return FileLock(path, patience=Wait("test", 1.0))


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(locks, "time", made)
    return made


class Bytes:
    """Byte locks of Windows: per open file, an error if another one has the byte."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self) -> None:
        self.holders: dict[tuple[int, int], int] = {}

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        assert count == 1
        place = (os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR))
        if mode == self.LK_UNLCK:
            assert self.holders.pop(place) == descriptor
        elif self.holders.setdefault(place, descriptor) != descriptor:
            raise OSError(errno.EACCES, "Permission denied")


@pytest.fixture(autouse=True)
def _limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIBES_PATIENCE")


@pytest.fixture(params=["this system", "windows"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "windows":
        monkeypatch.setitem(__import__("sys").modules, "msvcrt", Bytes())
        monkeypatch.setattr(locks, "_try_lock_posix", locks._try_lock_windows)
        monkeypatch.setattr(locks, "_unlock_posix", locks._unlock_windows)
    return str(request.param)


@pytest.mark.usefixtures("system")
def test_one_holder_at_a_time(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "a.lock")
    with lock.acquire():
        assert FileLock(tmp_path / "a.lock").try_acquire() is None
        assert lock.try_acquire() is None
    held = lock.try_acquire()
    assert held is not None
    with held:
        pass


@pytest.mark.usefixtures("system")
def test_a_timeout_names_the_file_and_its_holder(tmp_path: Path, time: Time) -> None:
    with FileLock(tmp_path / "a.lock").acquire(), pytest.raises(RefusedWrite) as refused:
        time.lock(tmp_path / "a.lock").acquire()
    assert str(tmp_path / "a.lock") in refused.value.message
    assert f"process {os.getpid()}" in refused.value.message
    assert "nothing was written" in refused.value.hint
    assert 1.0 <= time.now < 1.1
    assert max(time.waits) <= 0.002


def test_it_is_taken_as_soon_as_it_is_free(tmp_path: Path, time: Time) -> None:
    held = FileLock(tmp_path / "a.lock").acquire()
    time.then = lambda: held.__exit__(None, None, None)
    with time.lock(tmp_path / "a.lock").acquire():
        assert len(time.waits) == 1


def test_waiting_continues_while_holders_change(tmp_path: Path, time: Time) -> None:
    """On a busy machine many holders take turns; only a single one that never ends is a timeout."""
    path = tmp_path / "a.lock"
    held = FileLock(path).acquire()

    def turn() -> None:
        if time.now < 3.5:
            os.utime(path, ns=(0, int(time.now * 10)))  # as a note does that a holder writes
        elif time.now < 4:
            held.__exit__(None, None, None)
            time.now = 4

    time.then = turn
    with time.lock(path).acquire():
        assert time.now >= 4


def test_threads_take_turns(tmp_path: Path) -> None:
    counted = {"now": 0}

    def count() -> None:
        lock = FileLock(tmp_path / "a.lock")
        for _ in range(100):
            with lock.acquire():
                before = counted["now"]
                tmp_path.stat()  # lets another thread run
                counted["now"] = before + 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted["now"] == 400


@pytest.mark.usefixtures("system")
def test_an_intent_stays_until_the_next_holder_clears_it(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "a.lock")
    assert not lock.has_unfinished_write(), "it was never taken"
    with lock.acquire() as held:
        assert held.intent == ""
        held.write_intent("log 12 34")
    assert lock.has_unfinished_write()
    with lock.acquire() as held:
        assert held.intent == "log 12 34"
        held.write_intent("")
        assert held.intent == ""
    assert not lock.has_unfinished_write()


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00" * 99, b"not a number at all\n", b"7" * 400]
)
def test_a_lock_file_with_another_content_is_a_lock_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.lock").write_bytes(content)
    with FileLock(tmp_path / "a.lock").acquire() as held:
        assert held.intent == ""


def test_a_removed_lock_file_is_not_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other program can open the removed file, so the new one must be locked instead."""
    path = tmp_path / "a.lock"
    real = locks._try_lock
    removed: list[bool] = []

    def remove_then_take(descriptor: int) -> bool:
        if not removed:
            path.unlink()
            removed.append(True)
        return real(descriptor)

    monkeypatch.setattr(locks, "_try_lock", remove_then_take)
    with FileLock(path).acquire():
        monkeypatch.undo()
        assert FileLock(path).try_acquire() is None


def test_a_link_in_its_place_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"precious")
    (tmp_path / "a.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedWrite, match="link"):
        FileLock(tmp_path / "a.lock").acquire()
    assert (tmp_path / "elsewhere").read_bytes() == b"precious"


def test_without_the_folder_the_error_has_a_hint(tmp_path: Path) -> None:
    with pytest.raises(RefusedWrite) as refused:
        FileLock(tmp_path / "absent" / "a.lock").acquire()
    assert "vibes init" in refused.value.hint


def test_a_file_system_without_locks_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    fake = SimpleNamespace(flock=refuse, LOCK_EX=1, LOCK_NB=2, LOCK_UN=4)
    monkeypatch.setattr("vibes_lsp.store.locks.importlib.import_module", lambda _: fake)
    with pytest.raises(RefusedWrite, match="No locks available"):
        FileLock(tmp_path / "a.lock").acquire()
