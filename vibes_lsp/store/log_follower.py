"""Follow the annotation log: deliver appended lines, and detect when delivered ones changed.

Other processes append to the file, and git, editors and other tools replace, truncate or rewrite
it. Checksums of fixed blocks cover what was delivered. A log counts as appended to only if those
still match; otherwise it is delivered again from the first line that may differ.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from vibes_lsp.store.bounded_lines import CHUNK
from vibes_lsp.store.file_stamps import FileStamp, is_settled
from vibes_lsp.store.files import open_file, read_error, regular_file_stamp
from vibes_lsp.store.log_batches import (
    BLOCK,
    DeliveredPart,
    LineBatch,
    read_batches,
)

_ALWAYS_VERIFIED: Final = 8 << 20
"""Delivered parts up to this many bytes are verified on every growth, in 3 ms."""
_END_BLOCKS: Final = 4
"""Blocks at the end of a longer part that are verified if the log has grown."""


@dataclass(frozen=True, slots=True)
class LogUpdate:
    """A change of the log. Consume `batches`.

    Attributes:
        reset: Whether it is not only appended lines.
        batches: All lines that are not delivered yet.
        kept: After a reset the number of delivered lines that are still valid.
    """

    reset: bool
    batches: Iterator[LineBatch]
    kept: int = 0


class LogFollower:
    """Delivers a log, then appended lines; when the delivered part changed, from there on again.

    Args:
        path: The log; it may be missing, and appear or disappear later.
        line_end: Returns, of the delivered lines that end at or before a byte offset, where the
            last one ends and how many they are. Without it, a log that changed is delivered from
            the start.
    """

    def __init__(
        self, path: Path, line_end: Callable[[int], tuple[int, int]] | None = None
    ) -> None:
        self._path = path
        self._line_end = line_end or _from_the_start
        self._delivered = DeliveredPart()
        self._seen: FileStamp | None = None
        self._settled = False

    def delivered(self) -> tuple[DeliveredPart, FileStamp | None, bool]:
        """Return what `resume` needs in another process."""
        return self._delivered, self._seen, self._settled

    def resume(self, delivered: DeliveredPart, seen: FileStamp | None, *, settled: bool) -> None:
        """Continue after a part that was delivered before; the next poll verifies it.

        Args:
            delivered: The part.
            seen: The log's stamp at that time; None if it is unknown.
            settled: Whether the log was old enough for its stamp to show every later change.
        """
        self._delivered, self._seen, self._settled = delivered, seen, settled

    @property
    def size(self) -> int:
        """Bytes delivered so far."""
        return self._delivered.end

    def reaches(self, end: int) -> bool:
        """Whether the file has so many bytes, delivered or not."""
        stamp = regular_file_stamp(self._path)
        return stamp is not None and stamp.size >= end

    def is_current(self) -> bool:
        """Whether the file is certainly as at the last poll, by its stamp alone.

        Raises:
            UnreadableFile: The file exists and cannot be read.
        """
        stamp = regular_file_stamp(self._path)
        if stamp is None:
            return self._seen is None and not self._delivered.end
        return stamp == self._seen and self._settled

    def bytes_to_read(self) -> int:
        """Return about how many bytes the next poll reads.

        Raises:
            UnreadableFile: The file exists and cannot be read.
        """
        stamp, known = regular_file_stamp(self._path), self._delivered.end
        if stamp is None:
            return 0
        is_appended = (
            stamp.size == known if self._delivered.unterminated else stamp.size >= known
        ) and self._seems_appended(stamp)
        return stamp.size - known if is_appended else stamp.size

    def restart(self) -> None:
        """Deliver the file from the start at the next poll."""
        self._restart()
        self._seen, self._settled = None, False

    def poll(self) -> LogUpdate | None:
        """Return the change since the last poll; None if there is none.

        Raises:
            UnreadableFile: The log exists but cannot be read; the delivered lines stay valid.
        """
        stamp = regular_file_stamp(self._path)
        if stamp is None:
            self._seen, self._settled = None, False
            return self._restart() if self._delivered.end else None
        if stamp == self._seen and self._settled:
            return None
        file = open_file(self._path)
        settled = is_settled(stamp.modified_ns)
        try:
            common = self._common_beginning(file, stamp)
            unchanged = common == self._delivered.end
            kept = 0 if unchanged else self._cut(file, common)
        except OSError as error:
            file.close()
            raise read_error(self._path, error) from error
        self._seen, self._settled = stamp, settled
        if unchanged and stamp.size == self._delivered.end:
            file.close()
            return None
        return LogUpdate(not unchanged, self._read(file), kept)

    def _cut(self, file: BinaryIO, common: int) -> int:
        """Take back the delivered lines that do not end in the common part; return how many stay.

        Args:
            file: The log.
            common: The length of the common part.
        """
        end, lines = self._line_end(common)
        whole, rest = divmod(end, BLOCK)
        blocks = self._delivered.blocks[:whole]
        if rest:
            file.seek(whole * BLOCK)
            blocks.append(zlib.crc32(file.read(rest)))
        self._delivered = DeliveredPart(end, lines, blocks)
        return lines

    def read(self, places: Iterable[tuple[int, int]]) -> list[bytes]:
        """Return the bytes at each `(offset, length)` of the delivered part.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        contents: list[bytes] = []
        try:
            with open_file(self._path) as file:
                for offset, length in places:
                    file.seek(offset)
                    contents.append(file.read(length))
        except OSError as error:
            raise read_error(self._path, error) from error
        return contents

    def unfinished_line(self) -> bytes:
        """Return up to 200 bytes of a partial last line; empty if the log ends in a newline."""
        stamp = regular_file_stamp(self._path)
        if stamp is None or stamp.size <= self._delivered.end:
            return b""
        with open_file(self._path) as file:
            file.seek(self._delivered.end)
            return file.read(200)

    @property
    def unterminated(self) -> bool:
        """Whether the last delivered line lacks its newline but is complete (RFC 7.10)."""
        return self._delivered.unterminated

    def _restart(self) -> LogUpdate:
        self._delivered = DeliveredPart()
        return LogUpdate(reset=True, batches=iter(()))

    def _common_beginning(self, file: BinaryIO, stamp: FileStamp) -> int:
        """Return how many bytes of the delivered part are unchanged.

        If it is long and the log seems to have grown, only its last blocks are compared, unless
        these differ.
        """
        delivered = self._delivered
        end = delivered.end
        if delivered.unterminated and stamp.size != end:
            end -= 1  # its last line is another one
        if delivered.end > _ALWAYS_VERIFIED and self._seems_appended(stamp):
            first = max(0, len(delivered.blocks) - _END_BLOCKS)
            if self._common_from(file, first) == delivered.end:
                return end
        return min(end, self._common_from(file, 0))

    def _common_from(self, file: BinaryIO, first: int) -> int:
        """Return where the first block that differs begins, from one on; else the end."""
        delivered = self._delivered
        file.seek(first * BLOCK)
        for start in range(first * BLOCK, delivered.end, CHUNK):
            size = min(CHUNK, delivered.end - start)
            part = memoryview(file.read(size))
            for offset in range(0, size, BLOCK):
                known = delivered.blocks[(start + offset) // BLOCK]
                if zlib.crc32(part[offset : min(offset + BLOCK, size)]) != known:
                    return start + offset
        return delivered.end

    def _seems_appended(self, stamp: FileStamp) -> bool:
        seen = self._seen
        if seen is None or (seen.device, seen.inode) != (stamp.device, stamp.inode):
            return False
        return stamp.size > seen.size or stamp == seen

    def _read(self, file: BinaryIO) -> Iterator[LineBatch]:
        with file:
            try:
                yield from read_batches(file, self._delivered)
            except OSError as error:
                self._settled = False  # the next poll goes on after what was delivered
                raise read_error(self._path, error) from error


def _from_the_start(_offset: int) -> tuple[int, int]:
    return 0, 0
