"""Whether a file has changed since it was last looked at, by what the file system says of it.

A stamp does not show every change: a file that is written twice in a moment may have the same time
of modification. Such a file is not settled, and its content has to be compared as well.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

RACY_NS: Final = 2_000_000_000
"""A file modified this recently may change again without a new time (two seconds on FAT)."""


class FileStamp(NamedTuple):
    """Values that change when a file is written, truncated or replaced."""

    device: int
    inode: int
    size: int
    modified_ns: int


@dataclass(slots=True)
class FileState:
    """The last check of a file's content.

    Attributes:
        checksum: CRC-32 of the content.
        settled: Whether the file was old enough for its stamp to show every later change.
    """

    checksum: int = 0
    settled: bool = False

    @classmethod
    def of(cls, content: bytes | None, stamps: Iterable[FileStamp]) -> FileState:
        """Return the state for this content; the stamps are from before it was read."""
        return cls(zlib.crc32(content or b""), are_settled(stamps))

    def recheck(self, content: bytes | None, stamps: Iterable[FileStamp]) -> bool:
        """Compare content under an unchanged stamp; return whether it is unchanged too."""
        if zlib.crc32(content or b"") != self.checksum:
            return False
        self.settled = are_settled(stamps)
        return True


def now_ns() -> int:
    """Return the time that file times are compared with, in nanoseconds; tests set it."""
    return time.time_ns()


def file_stamp(path: Path | str) -> FileStamp | None:
    """Return the stamp of a file or folder; None if it cannot be examined."""
    try:
        return stamp_of(os.stat(path))  # noqa: PTH116  # a Path would take as long as the look
    except (OSError, ValueError):
        return None


def stamp_of(status: os.stat_result) -> FileStamp:
    """Return the stamp of a file by its status."""
    return FileStamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def is_settled(modified_ns: int, at_ns: int | None = None) -> bool:
    """Whether a file modified then was so old that every later change shows in its time.

    Args:
        modified_ns: Its time of modification.
        at_ns: When it was looked at; by default now.
    """
    return (now_ns() if at_ns is None else at_ns) - modified_ns > RACY_NS


def are_settled(stamps: Iterable[FileStamp | None], at_ns: int | None = None) -> bool:
    """Whether the stamps of all files show every later change."""
    return all(stamp is None or is_settled(stamp.modified_ns, at_ns) for stamp in stamps)
