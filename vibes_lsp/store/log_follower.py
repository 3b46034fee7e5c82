"""Following the annotation log: what was appended since the last look, in whole lines, and whether the rest still stands.

Other processes append while we read, and git, editors and other tools replace, truncate or rewrite the file. Whatever has
been delivered is remembered by checksums of fixed blocks, so that only a log whose delivered part is unchanged counts as
appended to; everything else is a reset and is delivered from the start.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.store.files import RACY_NS, FileSignature, file_signature, open_file

MAX_LINE: Final = 8 << 20
"""Longest line in bytes that is read as a record; real ones are below 2 kB."""

_CHUNK: Final = 1 << 18
_BLOCK: Final = 1 << 16
_QUICK: Final = 1 << 20
"""A delivered part up to this many bytes is verified whole whenever the log has grown; it takes a fraction of a millisecond."""
_CHEAP: Final = 8 << 20
"""One up to this many bytes is verified whole as soon as the log is left alone; of a larger one the last blocks."""


@dataclass(frozen=True, slots=True)
class LineBatch:
    """Consecutive lines of the log.

    Attributes:
        first: Number of the first line, from 1.
        lines: The lines without their newline; one beyond `MAX_LINE` comes alone, cut to its beginning.
        oversized: Length in bytes of such a line; None for all others.
    """

    first: int
    lines: list[bytes]
    oversized: int | None = None


@dataclass(frozen=True, slots=True)
class LogUpdate:
    """What happened to the log: `reset` says that all lines delivered before are void; `batches` must be consumed."""

    reset: bool
    batches: Iterator[LineBatch]


@dataclass(slots=True)
class _Delivered:
    """How far the log was delivered, and what the delivered bytes were."""

    end: int = 0
    lines: int = 0
    blocks: list[int] = field(default_factory=list)
    unterminated: bool = False

    def add(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        while view:
            used = self.end % _BLOCK
            if not used:
                self.blocks.append(0)
            part = view[: _BLOCK - used]
            self.blocks[-1] = zlib.crc32(part, self.blocks[-1])
            self.end += len(part)
            view = view[len(part) :]


class LogFollower:
    """Delivers a log once, then what is appended to it, and starts over when the delivered part has changed.

    Args:
        path: The log; it may be absent, and appear or vanish later.
        now_ns: The clock that file times are compared with.
    """

    def __init__(self, path: Path, *, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._path = path
        self._now_ns = now_ns
        self._delivered = _Delivered()
        self._seen: FileSignature | None = None
        self._settled = False

    @property
    def size(self) -> int:
        """Bytes delivered so far."""
        return self._delivered.end

    def poll(self, *, thorough: bool = False) -> LogUpdate | None:
        """Return what changed since the last poll; None when nothing did.

        Args:
            thorough: Verify the whole delivered part, also of a large log that merely grew.

        Raises:
            UnreadableFile: The log is there and cannot be read; what was delivered stays as it was.
        """
        found = file_signature(self._path)
        if found is None:
            self._seen = None
            return self._restart() if self._delivered.end else None
        if found == self._seen and self._settled and not thorough:
            return None
        file = open_file(self._path)
        settled = self._now_ns() - found.modified_ns > RACY_NS
        stands = self._stands(
            file, found, whole_up_to=None if thorough else _CHEAP if settled else _QUICK
        )
        self._seen, self._settled = found, settled
        if stands and found.size == self._delivered.end:
            file.close()
            return None
        if not stands:
            self._delivered = _Delivered()
        return LogUpdate(reset=not stands, batches=self._read(file))

    def unfinished_line(self) -> bytes:
        """Return the beginning of an unfinished last line, cut to 200 bytes; empty when the log ends in a newline."""
        found = file_signature(self._path)
        if found is None or found.size <= self._delivered.end:
            return b""
        with open_file(self._path) as file:
            file.seek(self._delivered.end)
            return file.read(200)

    @property
    def unterminated(self) -> bool:
        """Whether the last line delivered was complete but for its newline (RFC 7.10)."""
        return self._delivered.unterminated

    def _restart(self) -> LogUpdate:
        self._delivered = _Delivered()
        return LogUpdate(reset=True, batches=iter(()))

    def _stands(self, file: BinaryIO, found: FileSignature, *, whole_up_to: int | None) -> bool:
        """Whether the delivered part is still there, unchanged; one of more bytes is believed from its end if the log merely seems to have grown."""
        delivered = self._delivered
        if found.size < delivered.end or (delivered.unterminated and found.size != delivered.end):
            return False
        whole = (
            whole_up_to is None or delivered.end <= whole_up_to or not self._looks_appended(found)
        )
        first = 0 if whole else max(0, len(delivered.blocks) - 2)
        file.seek(first * _BLOCK)
        for number in range(first, len(delivered.blocks)):
            block = file.read(min(_BLOCK, delivered.end - number * _BLOCK))
            if zlib.crc32(block) != delivered.blocks[number]:
                return False
        return True

    def _looks_appended(self, found: FileSignature) -> bool:
        seen = self._seen
        if seen is None or (seen.device, seen.inode) != (found.device, found.inode):
            return False
        return found.size > seen.size or found == seen

    def _read(self, file: BinaryIO) -> Iterator[LineBatch]:
        with file:
            file.seek(self._delivered.end)
            begun = b""  # the beginning of a line whose end was not read yet
            while chunk := file.read(_CHUNK):
                lines = chunk.split(b"\n")
                if (
                    len(begun) + len(lines[0]) > MAX_LINE
                ):  # a chunk is shorter, so no other line in it can be too long
                    oversized = self._skip(file)
                    if oversized is None:
                        return
                    yield oversized
                    begun = b""
                    continue
                lines[0] = begun + lines[0]
                rest = lines.pop()
                if lines:
                    yield self._batch(
                        lines, len(begun), memoryview(chunk)[: len(chunk) - len(rest)]
                    )
                begun = rest
            if begun.rstrip().endswith(b"}") and _is_object(begun):
                yield self._unfinished(begun)

    def _unfinished(self, line: bytes) -> LineBatch:
        """Deliver a last record that lacks its newline; whatever is written after it resets the follower."""
        delivered = self._delivered
        delivered.add(line)
        delivered.lines += 1
        delivered.unterminated = True
        return LineBatch(delivered.lines, [line])

    def _batch(self, lines: list[bytes], begun: int, chunk: memoryview) -> LineBatch:
        """Account for whole lines: `begun` bytes of the first were read before, all the rest is in `chunk`."""
        delivered = self._delivered
        delivered.add(lines[0][:begun])
        delivered.add(chunk)
        delivered.lines += len(lines)
        return LineBatch(delivered.lines - len(lines) + 1, lines)

    def _skip(self, file: BinaryIO) -> LineBatch | None:
        """Pass over the next line, which is too long, and go on after it; None when its end has not been written yet."""
        delivered = self._delivered
        passed = _Delivered(delivered.end, delivered.lines + 1, list(delivered.blocks))
        file.seek(delivered.end)
        head = b""
        while chunk := file.read(_CHUNK):
            head = head or chunk[:200]
            end = chunk.find(b"\n") + 1
            passed.add(chunk[:end] if end else chunk)
            if end:
                self._delivered = passed
                file.seek(passed.end)
                return LineBatch(passed.lines, [head], passed.end - delivered.end - 1)
        return None


def _is_object(line: bytes) -> bool:
    try:
        parse_object(line)
    except MalformedJson:
        return False
    return True


def read_lines(path: Path, places: list[tuple[int, int]]) -> list[bytes]:
    """Return the bytes at `(offset, length)` places of the log, in the order asked; short where the file is shorter.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    found = []
    with open_file(path) as file:
        for offset, length in places:
            file.seek(offset)
            found.append(file.read(length))
    return found
