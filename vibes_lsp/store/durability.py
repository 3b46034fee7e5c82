"""Making files last: flushed to the disk, replaced whole or not at all, and no temporary file left behind (R9, R10)."""

from __future__ import annotations

import errno
import importlib
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from vibes_lsp.errors import RefusedWrite

TEMPORARY: Final = ".tmp"
"""How the names of temporary files end; each is unique."""
_LINK: Final = "it is a link"
_TRIES: Final = 10
"""How often a file is replaced while readers keep it open, which only Windows minds."""


def open_to_write(path: Path, flags: int = 0) -> int:
    """Open a regular file for reading and writing; a link is refused, for it could lead out of the project.

    Args:
        path: The file.
        flags: Further flags of `os.open`.

    Raises:
        OSError: It is no regular file, or the system refuses.
    """
    no_link = getattr(os, "O_NOFOLLOW", 0)
    if not no_link and path.is_symlink():
        raise OSError(errno.ELOOP, _LINK)
    try:
        descriptor = os.open(path, os.O_RDWR | flags | no_link | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise OSError(errno.ELOOP, _LINK) if path.is_symlink() else error from None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is not a regular file")


def flush(descriptor: int) -> None:
    """Bring an open file to the disk; on macOS past the drive's own cache, which `fsync` does not empty.

    Raises:
        OSError: The disk is full or fails.
    """
    fcntl = importlib.import_module("fcntl") if os.name == "posix" else None
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if fcntl is not None and full is not None:
        with suppress(OSError):  # network file systems do not know it
            fcntl.fcntl(descriptor, full)
            return
    os.fsync(descriptor)


def flush_file(path: Path) -> None:
    """Bring a file to the disk; nothing happens when it is not there.

    Raises:
        RefusedWrite: The disk is full or fails.
    """
    try:
        descriptor = open_to_write(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise refusal(path, error) from error
    try:
        flush(descriptor)
    except OSError as error:
        raise refusal(path, error) from error
    finally:
        os.close(descriptor)


def flush_folder(path: Path) -> None:
    """Bring the names in a folder to the disk, where folders can be opened at all; elsewhere the system sees to it."""
    if os.name == "nt":
        return
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_temporary(
    folder: Path, data: bytes, *, like: Path | None = None, durable: bool = True
) -> Path:
    """Write a new file of a unique name and return its path; nothing is left when that fails.

    Args:
        folder: Where; it is created when it is missing. It must be on the file system of the file that is to be replaced.
        data: The content.
        like: A file whose permissions it gets.
        durable: Whether to flush it.

    Raises:
        RefusedWrite: The folder does not allow it, or the disk is full.
    """
    path = folder / f"{os.urandom(8).hex()}{TEMPORARY}"
    try:
        folder.mkdir(exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            if durable:
                flush(file.fileno())
        if like is not None:
            with suppress(OSError):
                path.chmod(stat.S_IMODE(like.stat().st_mode))
    except OSError as error:
        path.unlink(missing_ok=True)
        raise refusal(path, error) from error
    return path


def replace_file(
    temporary: Path, path: Path, *, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Put a temporary file in the place of another one, in one step; it is removed when that fails.

    Raises:
        RefusedWrite: The folder does not allow it, or a reader on Windows keeps the old file open.
    """
    for attempt in range(_TRIES):
        try:
            temporary.replace(path)
        except PermissionError as error:
            if os.name == "nt" and attempt < _TRIES - 1:
                sleep(0.01 * (attempt + 1))
                continue
            temporary.unlink(missing_ok=True)
            raise refusal(path, error) from error
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise refusal(path, error) from error
        return


def temporaries(folder: Path) -> list[Path]:
    """Return the temporary files in a folder: those being written, and those that a dead program left."""
    try:
        return [path for path in folder.iterdir() if path.name.endswith(TEMPORARY)]
    except OSError:
        return []


def refusal(path: Path, error: OSError) -> RefusedWrite:
    """Return the error for the user when writing to `path` failed."""
    return RefusedWrite(
        f"cannot write {path}: {error.strerror or error}",
        hint="nothing of it was kept; check the space on the disk and the permissions of the folder",
    )
