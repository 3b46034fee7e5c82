"""Read the lines of the annotation log in batches, with checksums of what was read."""

from __future__ import annotations

import os
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO, Final

from vibes_lsp.model.canonical_json import object_or_none
from vibes_lsp.store.bounded_lines import CHUNK, MAX_LINE

BLOCK: Final = 1 << 16
"""Bytes that have one checksum: lines from the first one that differs are read again."""


@dataclass(frozen=True, slots=True)
class LineBatch:
    """Consecutive lines of the log.

    Attributes:
        first: Number of the first line, 1-based.
        lines: The lines with their newline, which the last line of the log may lack; one longer
            than `MAX_LINE` comes alone and truncated.
        oversized: Length in bytes of such a line without its newline; None otherwise.
    """

    first: int
    lines: list[bytes]
    oversized: int | None = None


@dataclass(slots=True)
class DeliveredPart:
    """The part of a log that was delivered.

    Attributes:
        end: Its length in bytes.
        lines: Its number of lines.
        blocks: The checksums of its blocks.
        unterminated: Whether its last line lacks the newline.
    """

    end: int = 0
    lines: int = 0
    blocks: array[int] = field(default_factory=lambda: array("I"))
    unterminated: bool = False

    @property
    def has_all_blocks(self) -> bool:
        """Whether each of its blocks has a checksum."""
        return len(self.blocks) == -(-self.end // BLOCK)

    def add(self, delivered: bytes | memoryview) -> None:
        """Add bytes that were delivered."""
        view = memoryview(delivered)
        while view:
            used = self.end % BLOCK
            if not used:
                self.blocks.append(0)
            part = view[: BLOCK - used]
            self.blocks[-1] = zlib.crc32(part, self.blocks[-1])
            self.end += len(part)
            view = view[len(part) :]


def read_batches(file: BinaryIO, delivered: DeliveredPart) -> Iterator[LineBatch]:
    """Yield the lines after what was delivered."""
    file.seek(delivered.end)
    begun = b""  # the start of a line whose end was not read yet
    while True:
        # No more than there is: memory for a whole chunk takes longer than a record to read.
        end = os.fstat(file.fileno()).st_size + 1
        size = max(0, min(CHUNK, end - delivered.end - len(begun)))
        chunk = file.read(size)
        if not chunk:
            break
        lines = BytesIO(chunk).readlines()  # takes half the time of `bytes.split`
        # Chunks are shorter than MAX_LINE: only the first line can be too long.
        if len(begun) + len(lines[0].removesuffix(b"\n")) > MAX_LINE:
            oversized = _skip_oversized(file, delivered)
            if oversized is None:
                return
            yield oversized
            begun = b""
            continue
        lines[0] = begun + lines[0]
        rest = b"" if lines[-1].endswith(b"\n") else lines.pop()
        if lines:
            delivered.add(lines[0][: len(begun)])
            delivered.add(memoryview(chunk)[: len(chunk) - len(rest)])
            delivered.lines += len(lines)
            yield LineBatch(delivered.lines - len(lines) + 1, lines)
        begun = rest
        if len(chunk) < size:
            break
    if begun.rstrip().endswith(b"}") and object_or_none(begun) is not None:
        delivered.add(begun)
        delivered.lines += 1
        delivered.unterminated = True  # any text after it resets the follower
        yield LineBatch(delivered.lines, [begun])


def _skip_oversized(file: BinaryIO, delivered: DeliveredPart) -> LineBatch | None:
    """Skip the next line, which is too long; None if its end is not written yet."""
    after = DeliveredPart(delivered.end, delivered.lines + 1, delivered.blocks[:])
    file.seek(delivered.end)
    head = b""
    while chunk := file.read(CHUNK):
        head = head or chunk[:200]
        end = chunk.find(b"\n") + 1
        after.add(chunk[:end] if end else chunk)
        if end:
            length = after.end - delivered.end - 1
            delivered.end, delivered.lines, delivered.blocks = after.end, after.lines, after.blocks
            file.seek(after.end)
            return LineBatch(after.lines, [head], length)
    return None
