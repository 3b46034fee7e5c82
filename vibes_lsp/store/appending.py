"""Appending whole lines to the log and to the journal (RFC 9.3, R9), so that no crash and no full disk leaves half a line.

The caller holds the lock. Before the one `write()` the lock's note says which file had which size; a writer that dies within
the write leaves the note, and the next one cuts off what has no end of line. An unfinished line that some other program left
is not ours to cut: it gets a newline, and is reported as the broken line that it is (R12).
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
"""How often a file is appended to anew because another program put a new one in its place meanwhile, as git does."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a file reached: `inode` says which file it was."""

    inode: int
    size: int


def append_lines(path: Path, lines: bytes, held: LockHandle, *, durable: bool = False) -> Extent:
    """Append lines by one write, all or none, and return how far the file reaches then.

    Args:
        path: The file; it is created where it is missing.
        lines: Whole lines, each with its newline.
        held: The lock, and its note.
        durable: Whether they shall be on the disk, and not only with the system, on return.

    Raises:
        RefusedWrite: The place does not allow it, or the disk is full; the file is as it was.
    """
    for _ in range(_ATTEMPTS):
        try:
            written = _append(path, lines, held, durable=durable)
        except OSError as error:
            raise write_error(path, error) from error
        if _inode(path) == written.inode:
            return written
    raise RefusedWrite(
        f"{path} is replaced by another program again and again",
        hint="try again when that has finished",
    )


def repair_partial_line(paths: Iterable[Path], held: LockHandle) -> None:
    """Cut off the unfinished line that a writer left which died within a write, if one did.

    Args:
        paths: The files that are written under this lock; a note about any other is void.
        held: The lock, and its note.

    Raises:
        RefusedWrite: The file cannot be repaired.
    """
    name, _, place = held.intent.partition(" ")
    inode, _, size = place.partition(" ")
    if not name:
        return
    for path in paths:
        if path.name == name and inode.isdecimal() and size.isdecimal():
            try:
                _cut(path, Extent(int(inode), int(size)))
            except OSError as error:
                raise write_error(path, error) from error
    with suppress(OSError):
        held.write_intent("")


def _append(path: Path, lines: bytes, held: LockHandle, *, durable: bool) -> Extent:
    new = durable and not path.exists()
    descriptor = open_for_writing(path, os.O_CREAT | os.O_APPEND)
    try:
        status = os.fstat(descriptor)
        before = Extent(status.st_ino, status.st_size)
        data = (
            b"\n" + lines
            if before.size and _byte_at(descriptor, before.size - 1) != b"\n"
            else lines
        )
        held.write_intent(f"{path.name} {before.inode} {before.size}")
        _write_or_undo(descriptor, data, before)
        held.write_intent("")
        if durable:
            flush_to_disk(descriptor)
    finally:
        os.close(descriptor)
    if new:
        flush_folder(path.parent)
    return Extent(before.inode, before.size + len(data))


def _write_or_undo(descriptor: int, data: bytes, before: Extent) -> None:
    """Write all; the loop only goes round where the disk is full, or where the system takes no more at once."""
    view, written = memoryview(data), 0
    try:
        while written < len(data):
            written += os.write(descriptor, view[written:])
    except OSError:
        if (
            os.fstat(descriptor).st_size == before.size + written
        ):  # else a program without the lock wrote, too
            with suppress(OSError):  # what remains is cut off by the next writer, from the note
                os.ftruncate(descriptor, before.size)
        raise


def _cut(path: Path, before: Extent) -> None:
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


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None
