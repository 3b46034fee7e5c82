"""Reading and creating files where operating systems differ or surprise: one small module for the whole store."""

from __future__ import annotations

import errno
import importlib
import os
import stat
import time
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
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
class FileSignature:
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
    def of(
        cls, data: bytes | None, signatures: Iterable[FileSignature], now_ns: Clock = time.time_ns
    ) -> FileState:
        """Return the look that found this content; call it with signatures that were taken before the content was read."""
        return cls(zlib.crc32(data or b""), is_settled(signatures, now_ns))

    def recheck(
        self, data: bytes | None, signatures: Iterable[FileSignature], now_ns: Clock = time.time_ns
    ) -> bool:
        """Look again behind signatures that have not changed; say whether the content has not, either."""
        if zlib.crc32(data or b"") != self.checksum:
            return False
        self.settled = is_settled(signatures, now_ns)
        return True


def is_settled(signatures: Iterable[FileSignature], now_ns: Clock = time.time_ns) -> bool:
    """Whether files are old enough for their signatures to tell of every later change."""
    return all(now_ns() - each.modified_ns > RACY_NS for each in signatures)


def file_signature(path: Path) -> FileSignature | None:
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
    return FileSignature(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


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
    found = file_signature(path)
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


def is_inside(path: Path, folder: Path) -> bool:
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


TEMPORARY_SUFFIX: Final = ".tmp"
"""How the names of temporary files end; each is unique."""
_LINK: Final = "it is a link"
_TRIES: Final = 10
"""How often a file is replaced while readers keep it open, which only Windows minds."""


def open_for_writing(path: Path, flags: int = 0) -> int:
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


def flush_to_disk(descriptor: int) -> None:
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
        descriptor = open_for_writing(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise write_error(path, error) from error
    try:
        flush_to_disk(descriptor)
    except OSError as error:
        raise write_error(path, error) from error
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
    path = folder / f"{os.urandom(8).hex()}{TEMPORARY_SUFFIX}"
    try:
        folder.mkdir(exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            if durable:
                flush_to_disk(file.fileno())
        if like is not None:
            with suppress(OSError):
                path.chmod(stat.S_IMODE(like.stat().st_mode))
    except OSError as error:
        path.unlink(missing_ok=True)
        raise write_error(path, error) from error
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
            raise write_error(path, error) from error
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise write_error(path, error) from error
        return


def temporary_files(folder: Path) -> list[Path]:
    """Return the temporary files in a folder: those being written, and those that a dead program left."""
    try:
        return [path for path in folder.iterdir() if path.name.endswith(TEMPORARY_SUFFIX)]
    except OSError:
        return []


def write_error(path: Path, error: OSError) -> RefusedWrite:
    """Return the error for the user when writing to `path` failed."""
    return RefusedWrite(
        f"cannot write {path}: {error.strerror or error}",
        hint="nothing of it was kept; check the space on the disk and the permissions of the folder",
    )


_ALL: Final = b"*\n"


def make_folder(folder: Path) -> None:
    """Create a folder of the audit directory unless it is there.

    Raises:
        RefusedWrite: The audit directory does not allow it, or something else, such as a link, is in its place.
    """
    try:
        if stat.S_ISDIR(folder.lstat().st_mode):
            return
    except FileNotFoundError:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise write_error(folder, error) from error
        return
    except OSError as error:
        raise write_error(folder, error) from error
    raise RefusedWrite(
        f"{folder} is not a folder",
        hint="move it away; a folder is expected in its place, and a link could lead elsewhere",
    )


def make_ignored_folder(folder: Path) -> None:
    """Create a folder of temporary files unless it is there, and hide its content from git.

    Raises:
        RefusedWrite: As for `make_folder`.
    """
    make_folder(folder)
    create_file(folder / ".gitignore", _ALL)
