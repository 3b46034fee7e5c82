"""Locks between programs (R9, R10); the system releases them when the holder dies.

A lock file is never removed: another program could be opening it, and two would hold the lock. It
also stores the holder's process id and its intent: the next write, for a later holder to repair.
"""

from __future__ import annotations

import errno
import importlib
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.patience import LOCK, Wait
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import make_ignored_folder, open_file, open_for_writing

_MIN_PAUSE: Final = 50e-6
_MAX_PAUSE: Final = 2e-3
"""Seconds between two attempts; doubled each time, with random jitter of up to a half."""
_INTENT_BYTES: Final = 120
"""Length of process id and intent; always written in full, so it also works on a full disk."""
_LOCKED_BYTE: Final = 1 << 30
"""The byte locked on Windows, whose locks forbid reading: far behind the content."""
_BUSY: Final = frozenset({errno.EACCES, errno.EAGAIN, errno.EDEADLK})


class LockHandle:
    """A lock that this program holds until the end of a `with` block.

    Attributes:
        intent: The unfinished write of the last holder, then the next write of this one; or empty.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        pid, self.intent = _read_intent(descriptor)
        if pid != str(os.getpid()):
            with suppress(OSError, ValueError):  # only informs programs that wait
                self.write_intent(self.intent)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            _unlock(self._descriptor)
        finally:
            os.close(self._descriptor)

    def write_intent(self, intent: str) -> None:
        """Store the next write; an empty intent marks it as done.

        Raises:
            OSError: The disk is full or fails.
        """
        note = f"{os.getpid()} {intent}".encode()
        if len(note) >= _INTENT_BYTES:
            raise ValueError("the intent is too long")
        _write_at(self._descriptor, note.ljust(_INTENT_BYTES - 1) + b"\n", 0)
        self.intent = intent


class FileLock:
    """A lock that one program at a time can hold.

    Args:
        path: The lock file; created if missing.
        hidden: Whether to create its folder, ignored by git, in an existing audit directory.
        patience: The wait for one holder; it starts again whenever the holder changes.
    """

    def __init__(
        self,
        path: Path,
        *,
        hidden: bool = False,
        patience: Wait = LOCK,
    ) -> None:
        self.path: Final = path
        self._hidden = hidden
        self._patience = patience

    def acquire(self) -> LockHandle:
        """Take the lock; wait until it is free.

        Raises:
            RefusedWrite: The wait timed out, or the lock file cannot be created.
        """
        limit = self._patience.limit
        deadline, last_write = time.monotonic() + limit, self._last_write()
        pause = _MIN_PAUSE
        while (handle := self.try_acquire()) is None:
            if time.monotonic() >= deadline:
                before, last_write = last_write, self._last_write()
                if last_write == before:  # no other program took a turn
                    raise RefusedWrite(
                        f"cannot lock {self.path}: held by {self._describe_holder()}"
                        f" for more than {limit:g} seconds",
                        hint="nothing was written; try again when it has finished, or end it",
                    )
                deadline = time.monotonic() + limit
            time.sleep(pause * (256 + os.urandom(1)[0]) / 512)
            pause = min(2 * pause, _MAX_PAUSE)
        return handle

    def try_acquire(self) -> LockHandle | None:
        """Take the lock if it is free; None if another program holds it.

        Raises:
            RefusedWrite: The lock file cannot be created.
        """
        while True:
            descriptor = self._open()
            try:
                if not _try_lock(descriptor):
                    os.close(descriptor)
                    return None
            except OSError as error:
                os.close(descriptor)
                raise _lock_error(
                    self.path, error, "the file system may not support locks"
                ) from error
            if self._is_current(descriptor):
                return LockHandle(descriptor)
            os.close(descriptor)  # removed meanwhile: a lock on it would exclude no one

    def holder(self) -> str | None:
        """Return the program that holds the lock, without waiting; None if it is free.

        Raises:
            OSError: The lock file cannot be opened.
        """
        descriptor = open_for_writing(self.path)
        try:
            if not _try_lock(descriptor):
                return self._describe_holder()
            _unlock(descriptor)
        finally:
            os.close(descriptor)
        return None

    def has_unfinished_write(self) -> bool:
        """Whether a write was interrupted, or is in progress."""
        return bool(self._read()[1])

    def _open(self) -> int:
        folder = self.path.parent
        if self._hidden and folder.parent.is_dir() and not self.path.exists():
            make_ignored_folder(folder)
        try:
            return open_for_writing(self.path, os.O_CREAT)
        except FileNotFoundError as error:
            missing = folder if folder.parent.is_dir() else folder.parent
            raise RefusedWrite(
                f"{missing} does not exist", hint="run `vibes init` in the project"
            ) from error
        except OSError as error:
            raise _lock_error(
                self.path, error, "check the permissions of the folder and the free disk space"
            ) from error

    def _is_current(self, descriptor: int) -> bool:
        try:
            named = self.path.stat()
        except FileNotFoundError:
            return False
        opened = os.fstat(descriptor)
        return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)

    def _last_write(self) -> int:
        """Return the time when a holder last wrote to the lock file; 0 if there is none."""
        try:
            return self.path.stat().st_mtime_ns
        except OSError:
            return 0

    def _describe_holder(self) -> str:
        pid = self._read()[0]
        return f"process {pid}" if pid else "another program"

    def _read(self) -> tuple[str, str]:
        """Return the process id of the last holder and its intent."""
        try:
            with open_file(self.path) as file:
                return _read_intent(file.fileno())
        except UnreadableFile:
            return "", ""


def _read_intent(descriptor: int) -> tuple[str, str]:
    """Return the process id of the last holder and its intent."""
    pid, _, intent = (
        _read_at(descriptor, _INTENT_BYTES, 0).decode("ascii", "replace").strip().partition(" ")
    )
    return (pid, intent) if pid.isdecimal() else ("", "")


def _read_at(descriptor: int, count: int, place: int) -> bytes:
    os.lseek(descriptor, place, os.SEEK_SET)
    return os.read(descriptor, count)


def _write_at(descriptor: int, content: bytes, place: int) -> None:
    os.lseek(descriptor, place, os.SEEK_SET)
    os.write(descriptor, content)


def _try_lock(descriptor: int) -> bool:
    try:
        _try_lock_windows(descriptor) if os.name == "nt" else _try_lock_posix(descriptor)
    except OSError as error:
        if error.errno in _BUSY:
            return False
        raise
    return True


def _unlock(descriptor: int) -> None:
    _unlock_windows(descriptor) if os.name == "nt" else _unlock_posix(descriptor)


def _try_lock_posix(descriptor: int) -> None:
    fcntl = importlib.import_module("fcntl")
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _unlock_posix(descriptor: int) -> None:
    """Unlock explicitly: closing is not enough while a forked child has the file open."""
    fcntl = importlib.import_module("fcntl")
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _try_lock_windows(descriptor: int) -> None:
    msvcrt = importlib.import_module("msvcrt")
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)


def _unlock_windows(descriptor: int) -> None:
    msvcrt = importlib.import_module("msvcrt")
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)


def _lock_error(path: Path, error: OSError, hint: str) -> RefusedWrite:
    return RefusedWrite(f"cannot lock {path}: {error.strerror or error}", hint=hint)


def append_lock(directory: AuditDir) -> FileLock:
    """Return the lock for writing log, journal and blobs."""
    return FileLock(directory.journal / "append.lock", hidden=True)


def fold_lock(directory: AuditDir) -> FileLock:
    """Return the lock for replacing the manifest; take it before `append_lock`, never after."""
    return FileLock(directory.journal / "fold.lock", hidden=True)
