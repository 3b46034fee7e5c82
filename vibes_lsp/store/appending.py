"""Append whole lines to the log and the journal (RFC 9.3, R9), never half a line.

The caller holds the lock. Before the single `write()`, the lock file records which file had which
size (the intent). A writer that dies during the write leaves the intent, and the next one truncates
the partial line. A partial line of another program stays: it gets a newline and is reported (R12).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store.files import flush_folder, flush_to_disk, open_for_writing, write_error
from vibes_lsp.store.locks import LockHandle

_ATTEMPTS: Final = 5
"""Attempts to append while another program, such as git, replaces the file."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The size of a file; `inode` identifies the file."""

    inode: int
    size: int


def append_lines(path: Path, lines: bytes, lock: LockHandle, *, durable: bool = False) -> Extent:
    """Append lines in one write, all or none, and return the new size of the file.

    Args:
        path: The file; created if missing.
        lines: Whole lines, each with its newline.
        lock: The lock that the caller holds.
        durable: Whether to flush the lines to the disk.

    Raises:
        RefusedWrite: The file cannot be written or the disk is full; the file is unchanged.
    """
    for _ in range(_ATTEMPTS):
        try:
            written = _append(path, lines, lock, durable=durable)
        except OSError as error:
            raise write_error(path, error) from error
        if _inode_of(path) == written.inode:
            return written
    raise RefusedWrite(
        f"cannot append to {path}: another program keeps replacing it",
        hint="try again when that program has finished",
    )


def repair_partial_line(paths: Iterable[Path], lock: LockHandle) -> None:
    """Truncate the partial line of a writer that died during a write, if there is one.

    Args:
        paths: The files written under this lock; an intent about another file is ignored.
        lock: The lock that the caller holds.

    Raises:
        RefusedWrite: The file cannot be repaired.
    """
    name, _, place = lock.intent.partition(" ")
    inode, _, size = place.partition(" ")
    if not name:
        return
    for path in paths:
        if path.name == name and inode.isdecimal() and size.isdecimal():
            try:
                _truncate_partial_line(path, Extent(int(inode), int(size)))
            except OSError as error:
                raise write_error(path, error) from error
    with suppress(OSError):
        lock.write_intent("")


def _append(path: Path, lines: bytes, lock: LockHandle, *, durable: bool) -> Extent:
    new = durable and not path.exists()
    descriptor = open_for_writing(path, os.O_CREAT | os.O_APPEND)
    try:
        status = os.fstat(descriptor)
        before = Extent(status.st_ino, status.st_size)
        appended = (
            b"\n" + lines
            if before.size and _byte_at(descriptor, before.size - 1) != b"\n"
            else lines
        )
        lock.write_intent(f"{path.name} {before.inode} {before.size}")
        _write_or_undo(descriptor, appended, before, durable=durable)
        with suppress(OSError):  # the next writer finds whole lines and keeps them
            lock.write_intent("")
    finally:
        os.close(descriptor)
    if new:
        flush_folder(path.parent)
    return Extent(before.inode, before.size + len(appended))


def _write_or_undo(descriptor: int, content: bytes, before: Extent, *, durable: bool) -> None:
    """Write everything; more than one call is needed only on a full disk or at a system limit."""
    view, written = memoryview(content), 0
    try:
        while written < len(content):
            written += os.write(descriptor, view[written:])
        if durable:
            flush_to_disk(descriptor)
    except OSError:
        if os.fstat(descriptor).st_size == before.size + written:  # no other program wrote
            with suppress(OSError):  # the next writer truncates it, from the intent
                os.ftruncate(descriptor, before.size)
        raise


def _truncate_partial_line(path: Path, before: Extent) -> None:
    try:
        descriptor = open_for_writing(path)
    except FileNotFoundError:
        return
    try:
        status = os.fstat(descriptor)
        if status.st_ino != before.inode or status.st_size <= before.size:
            return
        os.lseek(descriptor, before.size, os.SEEK_SET)
        added = b""
        while chunk := os.read(descriptor, status.st_size - before.size):
            added += chunk
        whole = before.size + added.rfind(b"\n") + 1
        if whole < before.size + len(added):
            os.ftruncate(descriptor, whole)
    finally:
        os.close(descriptor)


def _byte_at(descriptor: int, position: int) -> bytes:
    os.lseek(descriptor, position, os.SEEK_SET)
    return os.read(descriptor, 1)


def _inode_of(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None
