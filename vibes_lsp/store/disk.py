"""Reading and creating files where operating systems differ or surprise: one small module for the whole store."""

from __future__ import annotations

import errno
import os
import stat
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.model.paths import is_too_long

MAX_FILE: Final = 1 << 30
"""Largest manifest, config or blob we read, in bytes."""

RACY_NS: Final = 2_000_000_000
"""A file modified this recently may change again without a new time stamp (two seconds, as on FAT)."""

Clock: TypeAlias = Callable[[], int]
"""What file times are compared with, in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What changes when a file is written, truncated or replaced."""

    device: int
    inode: int
    size: int
    modified_ns: int


@dataclass(slots=True)
class FileState:
    """The last look at a file: what was in it, and whether another change could have gone unnoticed since.

    Attributes:
        checksum: Of the content.
        settled: Whether the files were old enough then for their signatures to tell of every later change.
    """

    checksum: int = 0
    settled: bool = False

    @classmethod
    def at(
        cls, data: bytes | None, signatures: Iterable[Signature], now_ns: Clock = time.time_ns
    ) -> FileState:
        """Return the look that found this content; call it with signatures that were taken before the content was read."""
        return cls(zlib.crc32(data or b""), is_settled(signatures, now_ns))

    def again(
        self, data: bytes | None, signatures: Iterable[Signature], now_ns: Clock = time.time_ns
    ) -> bool:
        """Look again behind signatures that have not changed; say whether the content has not, either."""
        if zlib.crc32(data or b"") != self.checksum:
            return False
        self.settled = is_settled(signatures, now_ns)
        return True


def is_settled(signatures: Iterable[Signature], now_ns: Clock = time.time_ns) -> bool:
    """Whether files are old enough for their signatures to tell of every later change."""
    return all(now_ns() - each.modified_ns > RACY_NS for each in signatures)


def signature(path: Path) -> Signature | None:
    """Return the signature of the regular file at `path`; None when nothing is there.

    Raises:
        UnreadableFile: Something else is there, or it cannot be examined.
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error) from error
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableFile(
            f"{path.name} is not a regular file",
            hint="move it away; a file is expected in its place",
        )
    return Signature(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading, without ever waiting for a pipe's other end.

    Raises:
        UnreadableFile: It is gone, no regular file, or may not be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        raise _unreadable(path, error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableFile(
            f"{path.name} is not a regular file",
            hint="move it away; a file is expected in its place",
        )
    return os.fdopen(descriptor, "rb")


def read_file(path: Path, *, limit: int = MAX_FILE) -> bytes | None:
    """Return a file's bytes; None when nothing is there.

    Raises:
        UnreadableFile: It is no regular file, may not be read, or is larger than `limit` bytes.
    """
    found = signature(path)
    if found is None:
        return None
    if found.size > limit:
        raise UnreadableFile(
            f"{path.name} has {found.size:,} bytes, more than the {limit:,} that are read"
        )
    try:
        with open_file(path) as file:
            return file.read()
    except OSError as error:
        raise _unreadable(path, error) from error


def create_file(path: Path, data: bytes) -> bool:
    """Create a file with this content unless something is there; say whether it was created.

    Raises:
        RefusedWrite: The folder does not allow it.
    """
    try:
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        return False
    except OSError as error:
        raise RefusedWrite(
            f"cannot create {path}: {error.strerror}", hint="check the folder's permissions"
        ) from error
    return True


def inside(path: Path, folder: Path) -> bool:
    """Whether `path` lies in `folder` once all links are resolved."""
    if is_too_long(str(path)):
        return False
    if _is_reached_without_links(os.fspath(path), os.fspath(folder)):
        return True
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL in the name
        return False


def _is_reached_without_links(path: str, folder: str) -> bool:
    """Whether nothing on the way from a folder to a path below it is a link; said in a third of the time that resolving both takes."""
    start = folder.rstrip(os.sep) + os.sep
    if not path.startswith(start) or f"{os.sep}..{os.sep}" in f"{path}{os.sep}":
        return False
    end = len(start) - 1
    try:
        while end < len(path):
            end = (path.find(os.sep, end + 1) + 1 or len(path) + 1) - 1
            status = os.lstat(path[:end])
            if stat.S_ISLNK(status.st_mode) or getattr(
                status, "st_reparse_tag", None
            ):  # Windows has other links besides
                return False
    except (OSError, ValueError):
        return False
    return True


def is_circular(path: Path) -> bool:
    """Whether links on the way to `path` lead back to where they began."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    except ValueError:  # a NUL in the name
        return False
    return False


def _unreadable(path: Path, error: OSError) -> UnreadableFile:
    if error.errno == errno.ELOOP:
        return UnreadableFile(
            f"{path.name} cannot be read: links lead back to themselves",
            hint="let them lead to a file of the project",
        )
    reason = error.strerror or str(error)
    return UnreadableFile(
        f"{path.name} cannot be read: {reason}", hint=f"check the permissions of {path}"
    )
