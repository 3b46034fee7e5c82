"""Locks between programs (R9, R10): a file that one program at a time holds, and that the system releases when its holder dies.

What differs between systems is in the two `_take_…` and the two `_release_…` functions. A lock file stays where it is: taking
it away while another program opens it would let two in. It carries a note, by which a holder that dies tells the next one
what it was about to do.
"""

from __future__ import annotations

import errno
import importlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import make_ignored_folder, open_for_writing

LOCK_TIMEOUT: Final = 10.0
"""Seconds that a program waits for a lock that nobody does anything with; what is done under one takes microseconds, and at most a second for a large manifest."""

_SHORTEST: Final = 50e-6
_LONGEST: Final = 2e-3
"""Seconds between two tries: they begin short, double, and are cut by up to a half at random, so that waiting programs do not march in step."""
_NOTE: Final = 120
"""Bytes of the note, always written whole, so that a full disk cannot refuse to overwrite it."""
_REACH: Final = 20
"""Bytes of how far a file reached, behind the note."""
_LOCKED_AT: Final = 1 << 30
"""The byte that is locked where locks are of bytes and forbid reading: far behind the note."""
_BUSY: Final = frozenset({errno.EACCES, errno.EAGAIN, errno.EDEADLK})


class LockHandle:
    """A lock that this program holds, until the end of a `with` block.

    Attributes:
        note: What the last holder left unfinished, then what this one is about to do; empty when there is nothing.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        signed, self.intent = _read_note(descriptor)
        if signed != str(os.getpid()):
            with suppress(
                OSError, ValueError
            ):  # it only serves those who wait; a full disk, or a note from elsewhere, is no reason to fail
                self.write_intent(self.intent)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            _release(self._descriptor)
        finally:
            os.close(self._descriptor)

    def write_intent(self, intent: str) -> None:
        """Say what is about to be done; an empty intent says that it is done.

        Raises:
            OSError: The disk is full or fails.
        """
        note = f"{os.getpid()} {intent}".encode()
        if len(note) >= _NOTE:
            raise ValueError("the note is too long")
        _write_at(self._descriptor, note.ljust(_NOTE - 1) + b"\n", 0)
        self.intent = intent

    def record_size(self, size: int) -> None:
        """Remember how many bytes the file has that this lock is for; where the disk is full, what was remembered before stays."""
        with suppress(OSError):
            _write_at(self._descriptor, str(size).encode().ljust(_REACH - 1) + b"\n", _NOTE)


class FileLock:
    """A lock that programs take in turn.

    Args:
        path: The lock file; it is created where it is missing.
        hidden: Whether its folder is created, too, and hidden from git; what is above must be there.
        timeout: Seconds to wait while one program holds it; each that takes its turn meanwhile is a reason to wait on.
        clock: Seconds that pass.
        sleep: Waits.
    """

    def __init__(
        self,
        path: Path,
        *,
        hidden: bool = False,
        timeout: float = LOCK_TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.path: Final = path
        self._hidden = hidden
        self._timeout = timeout
        self._clock = clock
        self._sleep = sleep

    def acquire(self) -> LockHandle:
        """Take the lock, once it is free.

        Raises:
            RefusedWrite: Another program holds it for longer than the timeout, or the folder allows no lock file.
        """
        deadline, touched = self._clock() + self._timeout, self._touched()
        pause = _SHORTEST
        while True:
            held = self.try_acquire()
            if held is not None:
                return held
            if (
                self._clock() >= deadline and touched != self._touched()
            ):  # on a busy machine many may come before us
                deadline, touched = self._clock() + self._timeout, self._touched()
            elif self._clock() >= deadline:
                raise RefusedWrite(
                    f"{self.path} is held by another program{self._holder()} for more than {self._timeout:g} seconds",
                    hint="nothing was written; try again when it has finished, or end it: the lock is free as soon as it is gone",
                )
            self._sleep(pause * (256 + os.urandom(1)[0]) / 512)
            pause = min(2 * pause, _LONGEST)

    def try_acquire(self) -> LockHandle | None:
        """Take the lock if it is free now; None when another program holds it.

        Raises:
            RefusedWrite: The folder allows no lock file.
        """
        while True:
            descriptor = self._open()
            try:
                if not _take(descriptor):
                    os.close(descriptor)
                    return None
            except OSError as error:
                os.close(descriptor)
                raise _refused(self.path, error, "its file system may know no locks") from error
            if self._is_current(descriptor):
                return LockHandle(descriptor)
            os.close(
                descriptor
            )  # somebody removed the file meanwhile; a lock on it would keep nobody out

    def has_unfinished_write(self) -> bool:
        """Whether a holder left something unfinished, or is just at work; False when the lock was never taken."""
        return bool(self._read()[1])

    def recorded_size(self) -> int:
        """Return how many bytes the file had, when it was last written, that this lock is for; 0 where that is not known."""
        return self._read()[2]

    def _open(self) -> int:
        folder = self.path.parent
        if self._hidden and folder.parent.is_dir() and not self.path.exists():
            make_ignored_folder(folder)
        try:
            return open_for_writing(self.path, os.O_CREAT)
        except FileNotFoundError as error:
            missing = folder if folder.parent.is_dir() else folder.parent
            raise RefusedWrite(
                f"{missing} is not there", hint="run `vibes init` in the project"
            ) from error
        except OSError as error:
            raise _refused(
                self.path, error, "check the permissions of the folder, and the space on the disk"
            ) from error

    def _is_current(self, descriptor: int) -> bool:
        try:
            named = self.path.stat()
        except FileNotFoundError:
            return False
        opened = os.fstat(descriptor)
        return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)

    def _touched(self) -> int:
        """Return when a holder last wrote its note; 0 where there is none."""
        try:
            return self.path.stat().st_mtime_ns
        except OSError:
            return 0

    def _holder(self) -> str:
        signed = self._read()[0]
        return f" (process {signed})" if signed else ""

    def _read(self) -> tuple[str, str, int]:
        """Return who signed last, the intent, and how far the file reached."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except OSError:
            return "", "", 0
        try:
            reach = _read_at(descriptor, _REACH, _NOTE).strip()
            return *_read_note(descriptor), int(reach) if reach.isdigit() else 0
        finally:
            os.close(descriptor)


def _read_note(descriptor: int) -> tuple[str, str]:
    """Return who signed last, and the intent."""
    signed, _, intent = (
        _read_at(descriptor, _NOTE, 0).decode("ascii", "replace").strip().partition(" ")
    )
    return (signed, intent) if signed.isdecimal() else ("", "")


def _read_at(descriptor: int, count: int, place: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(descriptor, count, place)
    os.lseek(descriptor, place, os.SEEK_SET)
    return os.read(descriptor, count)


def _write_at(descriptor: int, data: bytes, place: int) -> None:
    if hasattr(os, "pwrite"):
        os.pwrite(descriptor, data, place)
        return
    os.lseek(descriptor, place, os.SEEK_SET)
    os.write(descriptor, data)


def _take(descriptor: int) -> bool:
    try:
        _take_windows(descriptor) if os.name == "nt" else _take_posix(descriptor)
    except OSError as error:
        if error.errno in _BUSY:
            return False
        raise
    return True


def _release(descriptor: int) -> None:
    _release_windows(descriptor) if os.name == "nt" else _release_posix(descriptor)


def _take_posix(descriptor: int) -> None:
    fcntl = importlib.import_module("fcntl")
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _release_posix(descriptor: int) -> None:
    """Release by name: closing alone would not while a forked child has the file open."""
    fcntl = importlib.import_module("fcntl")
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _take_windows(descriptor: int) -> None:
    msvcrt = importlib.import_module("msvcrt")
    os.lseek(descriptor, _LOCKED_AT, os.SEEK_SET)
    msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)


def _release_windows(descriptor: int) -> None:
    msvcrt = importlib.import_module("msvcrt")
    os.lseek(descriptor, _LOCKED_AT, os.SEEK_SET)
    msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)


def _refused(path: Path, error: OSError, hint: str) -> RefusedWrite:
    return RefusedWrite(f"cannot lock {path}: {error.strerror or error}", hint=hint)


def append_lock(directory: AuditDir, timeout: float = LOCK_TIMEOUT) -> FileLock:
    """Return the lock under which log, journal and blobs are written."""
    return FileLock(directory.journal / "append.lock", hidden=True, timeout=timeout)


def fold_lock(directory: AuditDir, timeout: float = LOCK_TIMEOUT) -> FileLock:
    """Return the lock under which the manifest is replaced; a program that holds it may take the other one, never the reverse."""
    return FileLock(directory.journal / "fold.lock", hidden=True, timeout=timeout)
