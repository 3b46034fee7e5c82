"""File access where operating systems differ: read, create, replace atomically, flush (R9, R10).

All files that other programs made are read here: regular ones only, bounded, and without waiting.

Files are replaced whole or not at all, and no temporary file stays behind.
"""

from __future__ import annotations

import errno
import importlib
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.model.paths import is_too_long
from vibes_lsp.store.file_stamps import FileStamp, stamp_of
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME

_IN_TRAIL: Final = f"{os.sep}{AUDIT_DIR_NAME}{os.sep}"
MAX_FILE: Final = 1 << 30
"""Largest manifest, config or blob that is read, in bytes."""


def regular_file_stamp(path: Path) -> FileStamp | None:
    """Return the stamp of the regular file at `path`; None if there is none.

    Raises:
        UnreadableFile: It is not a regular file or cannot be examined.
    """
    _refuse_link_out(path)
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise read_error(path, error) from error
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableFile(
            f"{path.name} is not a regular file",
            hint="move it away: expected a file",
        )
    return stamp_of(status)


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading; never waits for the other end of a pipe.

    Raises:
        UnreadableFile: It does not exist, is not a regular file or may not be read.
    """
    _refuse_link_out(path)
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        raise read_error(path, error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableFile(
            f"{path.name} is not a regular file",
            hint="move it away: expected a file",
        )
    return os.fdopen(descriptor, "rb")


def _refuse_link_out(path: Path) -> None:
    """Refuse a file of a trail that a link replaces by one of another project.

    Raises:
        UnreadableFile: It is one.
    """
    name = os.fspath(path)
    end = name.rfind(_IN_TRAIL)
    if end < 0:
        return
    project = Path(name[:end] or os.sep)
    if not is_inside(path, project) and not is_circular(path):
        raise UnreadableFile(
            f"{path.name} is a link out of the project: the files of an audit trail are its own",
            hint=f"replace the link {path} by a file of this project",
        )


def read_file(path: Path, *, limit: int = MAX_FILE) -> bytes | None:
    """Return a file's bytes; None if there is none.

    Raises:
        UnreadableFile: It is not a regular file, may not be read or is larger than `limit` bytes.
    """
    stamp = regular_file_stamp(path)
    if stamp is None:
        return None
    if stamp.size > limit:
        raise UnreadableFile(
            f"{path.name} is too large: {stamp.size:,} bytes, expected at most {limit:,}"
        )
    try:
        with open_file(path) as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise read_error(path, error) from error
    if len(content) > limit:  # it has grown since
        raise UnreadableFile(f"{path.name} is too large: expected at most {limit:,} bytes")
    return content


def read_beginning(path: Path, size: int) -> bytes:
    """Return the first bytes of a regular file; none if there is none or it cannot be read."""
    try:
        with open_file(path) as file:
            return file.read(size)
    except (OSError, ValueError, UnreadableFile):
        return b""


def create_file(path: Path, content: bytes) -> bool:
    """Create a file with this content unless one exists; return whether it was created.

    A program that is killed leaves the whole file or none.

    Raises:
        RefusedWrite: The folder is not writable or the disk is full; there is no file.
    """
    if os.path.lexists(path):
        return False
    temporary = write_temporary(path.parent, content)
    try:
        return link_file(temporary, path)
    except RefusedWrite:
        with suppress(OSError):
            temporary.unlink()
        if os.path.lexists(path):  # another program made it, and cleared up in this folder
            return False
        raise


def create_private_file(path: Path) -> None:
    """Create an empty file that only the user can read, unless it exists."""
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def link_file(temporary: Path, path: Path) -> bool:
    """Give a temporary file its name unless that is taken; return whether it was free.

    Raises:
        RefusedWrite: The folder is not writable or the disk is full; the temporary file stays.
    """
    try:
        if os.name == "nt":
            temporary.rename(path)  # which fails there if the name is taken
        else:
            os.link(temporary, path)
        is_new = True
    except FileExistsError:
        is_new = False
    except OSError:  # a file system without links, or it refuses the copy too
        is_new = _copy_new(temporary, path)
    flush_folder(path.parent)
    with suppress(OSError):
        temporary.unlink(missing_ok=True)
    return is_new


def _copy_new(source: Path, path: Path) -> bool:
    try:
        _write_new(path, source.read_bytes())
    except FileExistsError:
        return False
    except OSError as error:
        raise write_error(path, error) from error
    return True


def _write_new(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write a file that does not exist; it is removed if that fails.

    Raises:
        OSError: It exists, or it cannot be written.
    """
    with path.open("xb") as file:
        try:
            file.write(content)
            file.flush()
            if durable:
                flush_to_disk(file.fileno())
        except OSError:
            with suppress(OSError):
                path.unlink()
            raise


def is_inside(path: Path, folder: Path) -> bool:
    """Whether `path` is in `folder` after resolving all links."""
    if is_too_long(str(path)):
        return False
    if _has_no_links(os.fspath(path), os.fspath(folder)):
        return True
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL in the name
        return False


def real_path_in(folder: Path, path: str) -> str | None:
    """Return a path with its links resolved, as git has the file; None if it leaves the folder.

    Args:
        folder: The folder.
        path: Relative to it, in normal form.
    """
    file = folder / path
    if not is_inside(file, folder):
        return None
    if _has_no_links(os.fspath(file), os.fspath(folder)):
        return path
    try:
        return file.resolve().relative_to(folder.resolve()).as_posix()
    except (OSError, RuntimeError, ValueError):
        return None


def _has_no_links(path: str, folder: str) -> bool:
    """Whether no part of a path below a folder is a link; a third of the time of resolving both."""
    start = folder.rstrip(os.sep) + os.sep
    if not path.startswith(start) or f"{os.sep}..{os.sep}" in f"{path}{os.sep}":
        return False
    end = len(start) - 1
    try:
        while end < len(path):
            end = (path.find(os.sep, end + 1) + 1 or len(path) + 1) - 1
            status = os.lstat(path[:end])
            # Windows has other kinds of links as well.
            if stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", None):
                return False
    except (OSError, ValueError):
        return False
    return True


def is_circular(path: Path) -> bool:
    """Whether the links in `path` form a loop."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    except ValueError:  # a NUL in the name
        return False
    return False


def read_error(path: Path, error: OSError) -> UnreadableFile:
    """Return the error that says why the system could not read a file."""
    if error.errno == errno.ELOOP:
        return UnreadableFile(
            f"{path.name} cannot be read: its links form a loop",
            hint="point the link at a file of the project",
        )
    reason = error.strerror or str(error)
    return UnreadableFile(
        f"{path.name} cannot be read: {reason}", hint=f"check the permissions of {path}"
    )


TEMPORARY_SUFFIX: Final = ".tmp"
"""The end of the unique names of temporary files."""
_LINK: Final = "it is a symbolic link"
_REPLACE_ATTEMPTS: Final = 10
"""Attempts to replace a file that readers keep open, which fails on Windows only."""


def open_for_writing(path: Path, flags: int = 0) -> int:
    """Open a regular file for reading and writing, but no link: it could lead out of the project.

    Args:
        path: The file.
        flags: Further flags of `os.open`.

    Raises:
        OSError: It is not a regular file, or the system refuses.
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
    """Flush an open file to the disk; on macOS the drive's cache too, which `fsync` does not.

    Raises:
        OSError: The disk is full or fails.
    """
    fcntl = importlib.import_module("fcntl") if os.name == "posix" else None
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if fcntl is not None and full is not None:
        with suppress(OSError):  # not supported on network file systems
            fcntl.fcntl(descriptor, full)
            return
    os.fsync(descriptor)


def flush_file(path: Path) -> None:
    """Flush a file to the disk if it exists.

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
    """Flush the names in a folder to the disk; Windows does that itself."""
    if os.name == "nt":
        return
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_temporary(
    folder: Path, content: bytes, *, like: Path | None = None, durable: bool = True
) -> Path:
    """Write a new file with a unique name and return its path; nothing stays if that fails.

    Args:
        folder: Its folder, created if missing; on the same file system as the file to replace.
        content: The bytes to write.
        like: A file to copy the permissions from.
        durable: Whether to flush it to the disk.

    Raises:
        RefusedWrite: The folder is not writable or the disk is full.
    """
    path = folder / _temporary_name()
    try:
        folder.mkdir(exist_ok=True)
        _write_new(path, content, durable=durable)
    except OSError as error:
        raise write_error(folder, error) from error
    if like is not None:
        with suppress(OSError):
            path.chmod(stat.S_IMODE(like.stat().st_mode))
    return path


def _temporary_name() -> str:
    return f"{os.urandom(8).hex()}{TEMPORARY_SUFFIX}"


def replace_file(
    temporary: Path,
    path: Path,
    *,
    keeps_temporary: bool = False,
) -> None:
    """Replace a file by a temporary one in one step.

    Args:
        temporary: The new file.
        path: The file to replace.
        keeps_temporary: Whether the new file stays if that fails, for another attempt.

    Raises:
        RefusedWrite: The folder is not writable, or a reader on Windows keeps the old file open.
    """
    for attempt in range(_REPLACE_ATTEMPTS):
        try:
            temporary.replace(path)
        except PermissionError as error:
            if os.name == "nt" and attempt < _REPLACE_ATTEMPTS - 1:
                time.sleep(0.01 * (attempt + 1))
                continue
            failure: OSError = error
        except OSError as error:
            failure = error
        else:
            return
        if not keeps_temporary:
            with suppress(OSError):  # a disk that became read-only
                temporary.unlink(missing_ok=True)
        raise write_error(path, failure) from failure


def temporary_files(folder: Path) -> list[Path]:
    """Return the temporary files in a folder, both being written and left by dead programs."""
    try:
        return [path for path in folder.iterdir() if path.name.endswith(TEMPORARY_SUFFIX)]
    except OSError:
        return []


def write_error(path: Path, error: OSError) -> RefusedWrite:
    """Return the error for the user after writing to `path` failed."""
    in_the_way = error.errno in (errno.ELOOP, errno.EINVAL, errno.EISDIR, errno.ENXIO)
    return RefusedWrite(
        f"cannot write {path}: {error.strerror or error}",
        hint="move it away: expected a file, and no link, which could lead elsewhere"
        if in_the_way
        else "check the free disk space and the permissions of the folder",
    )


_IGNORE_ALL: Final = b"*\n"


def make_folder(folder: Path) -> None:
    """Create a folder of the audit directory if it is missing.

    Raises:
        RefusedWrite: The audit directory is not writable, or the name is taken by a file or link.
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
        hint="move it away: expected a folder, and no link, which could lead elsewhere",
    )


def make_ignored_folder(folder: Path) -> None:
    """Create a folder of temporary files if it is missing, with a `.gitignore` for all of it.

    So no lock, journal or spool file shows in `git status`, with any ignore rules of the project.

    Raises:
        RefusedWrite: As for `make_folder`.
    """
    make_folder(folder)
    create_file(folder / ".gitignore", _IGNORE_ALL)
