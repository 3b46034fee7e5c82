"""Follow the annotation log: deliver appended lines, and detect when delivered ones changed.

Other processes append to the file, and git, editors and other tools replace, truncate or rewrite
it. Checksums of fixed blocks cover what was delivered. A log counts as appended to only if those
still match; otherwise it is reset and delivered from the start.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO, Final

from vibes_lsp.errors import MalformedJson, MuchToRead, OutdatedIndex
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.store.files import RACY_NS, FileSignature, file_signature, open_file, read_error

MAX_LINE: Final = 8 << 20
"""Longest line in bytes that is read as a record; real ones are below 2 kB."""

_CHUNK: Final = 1 << 18
_GAP: Final = 4_096
"""Bytes between two lines that are read at once."""
_BLOCK: Final = 1 << 16
_ALWAYS_VERIFIED: Final = 1 << 20
"""Delivered parts up to this many bytes are verified on every growth, in under a millisecond."""
_VERIFIED_WHEN_SETTLED: Final = 8 << 20
"""Parts up to this many bytes are verified once the log is settled; of larger ones, the end."""


def bounded_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file with their ends; of one that is too long the start and a hash.

    So no line takes much memory, different lines differ, and a line over `MAX_LINE` is no record.
    """
    while line := file.readline(MAX_LINE + 1):
        if len(line) <= MAX_LINE or line.endswith(b"\n"):
            yield line
            continue
        rest = hashlib.sha256()
        while part := file.readline(_CHUNK):
            rest.update(part.replace(b"\r", b"").removesuffix(b"\n"))  # line ends may differ
            if part.endswith(b"\n"):
                break
        yield b"%b %b\n" % (line, rest.hexdigest().encode())


@dataclass(frozen=True, slots=True)
class LineBatch:
    """Consecutive lines of the log.

    Attributes:
        first: Number of the first line, 1-based.
        lines: The lines without newline; one longer than `MAX_LINE` comes alone and truncated.
        oversized: Length in bytes of such a line; None otherwise.
    """

    first: int
    lines: list[bytes]
    oversized: int | None = None


@dataclass(frozen=True, slots=True)
class LogUpdate:
    """A change of the log; after a `reset` all earlier lines are void. Consume `batches`."""

    reset: bool
    batches: Iterator[LineBatch]


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

    def add(self, data: bytes | memoryview) -> None:
        """Add bytes that were delivered."""
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
    """Delivers a log, then appended lines, and starts over when the delivered part changed.

    Args:
        path: The log; it may be missing, and appear or disappear later.
        now_ns: The clock that file times are compared with.
    """

    def __init__(self, path: Path, *, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._path = path
        self._now_ns = now_ns
        self._delivered = DeliveredPart()
        self._seen: FileSignature | None = None
        self._settled = False
        self._is_verified: bytearray | None = None
        self._is_outdated = False

    def delivered(self) -> tuple[DeliveredPart, FileSignature, bool] | None:
        """Return what `resume` needs in another process, after a thorough poll.

        None if it cannot be resumed: nothing was delivered, or the last line is not terminated.
        """
        delivered, seen = self._delivered, self._seen
        if not delivered.end or delivered.unterminated or seen is None:
            return None
        return delivered, seen, self._settled

    def resume(
        self, delivered: DeliveredPart, seen: FileSignature | None, *, settled: bool
    ) -> None:
        """Continue after a part that was delivered before; the next poll verifies it.

        Args:
            delivered: The part.
            seen: The log's signature at that time; None if it is unknown.
            settled: Whether the log was old enough for its signature to show every later change.
        """
        self._delivered = delivered
        self._seen, self._settled = seen, settled
        self._is_verified, self._is_outdated = None, False

    @property
    def is_wholly_verified(self) -> bool:
        """Whether all of the delivered part was compared, not its end alone."""
        return self._is_verified is None and not self._is_outdated

    def checksum(self, end: int) -> bytes | None:
        """Return a checksum of the first bytes of the delivered part; None if it has fewer.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        part = self._delivered
        if end > part.end or part.unterminated:
            return None
        whole, rest = divmod(end, _BLOCK)
        digest = hashlib.sha256(part.blocks[:whole])
        if rest:
            try:
                with open_file(self._path) as file:
                    [tail] = _read_places(file, [(whole * _BLOCK, rest)])
            except OSError as error:
                raise read_error(self._path, error) from error
            digest.update(tail)
        return digest.digest()

    @property
    def is_settled(self) -> bool:
        """Whether the log's signature shows every change since the last poll."""
        return self._settled and not self._is_outdated

    def is_level_with(self, other: LogFollower) -> bool:
        """Whether another follower has delivered the same."""
        return self._delivered == other._delivered

    @property
    def size(self) -> int:
        """Bytes delivered so far."""
        return self._delivered.end

    def poll(self, *, thorough: bool = False, at_most: int | None = None) -> LogUpdate | None:
        """Return the change since the last poll; None if there is none.

        Args:
            thorough: Verify all of the delivered part, even of a large log that grew.
            at_most: Bytes that may be read to verify and deliver.

        Raises:
            MuchToRead: These are more.
            UnreadableFile: The log exists but cannot be read; the delivered lines stay valid.
        """
        found = file_signature(self._path)
        if found is None:
            self._seen = None
            return self._restart() if self._delivered.end else None
        if found == self._seen and self._settled and not thorough:
            return None
        if at_most is not None and self._bytes_to_read(found) > at_most:
            raise MuchToRead(f"{self._path.name} has {found.size:,} bytes to read")
        file = open_file(self._path)
        settled = self._now_ns() - found.modified_ns > RACY_NS
        limit = _VERIFIED_WHEN_SETTLED if settled else _ALWAYS_VERIFIED
        try:
            unchanged = not self._is_outdated and self._is_unchanged(
                file, found, whole_up_to=None if thorough else limit
            )
        except OSError as error:
            file.close()
            raise read_error(self._path, error) from error
        if not unchanged and at_most is not None and found.size > at_most:
            file.close()
            self._is_outdated = True
            raise MuchToRead(f"{self._path.name} has {found.size:,} bytes to read")
        self._is_outdated = False
        self._seen, self._settled = found, settled
        if unchanged and found.size == self._delivered.end:
            file.close()
            return None
        if not unchanged:
            self._delivered = DeliveredPart()
            self._is_verified = None
        return LogUpdate(reset=not unchanged, batches=self._read(file))

    def read(self, places: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes at each `(offset, length)` of the delivered part.

        Where only its end was verified since the log changed, the blocks of these places are.

        Raises:
            UnreadableFile: The log cannot be read.
            OutdatedIndex: A block was changed; the next poll delivers the log from the start.
        """
        try:
            with open_file(self._path) as file:
                if len(places) > 1:
                    _will_need(file, places)
                if self._is_verified is not None:
                    self._verify(file, places, self._is_verified)
                return _read_places(file, places)
        except OSError as error:
            raise read_error(self._path, error) from error

    def _verify(
        self, file: BinaryIO, places: Sequence[tuple[int, int]], is_verified: bytearray
    ) -> None:
        for offset, length in places:
            for number in range(offset // _BLOCK, (offset + length) // _BLOCK + 1):
                if number >= len(is_verified) or is_verified[number]:
                    continue
                file.seek(number * _BLOCK)
                if zlib.crc32(file.read(_BLOCK)) != self._delivered.blocks[number]:
                    self._is_outdated, self._settled = True, False
                    raise OutdatedIndex(f"{self._path.name} was rewritten", hint="run this again")
                is_verified[number] = 1

    def unfinished_line(self) -> bytes:
        """Return up to 200 bytes of a partial last line; empty if the log ends in a newline."""
        found = file_signature(self._path)
        if found is None or found.size <= self._delivered.end:
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

    def _is_unchanged(
        self, file: BinaryIO, found: FileSignature, *, whole_up_to: int | None
    ) -> bool:
        """Whether the delivered part is unchanged.

        If it is longer than `whole_up_to` and the log seems to have grown, only its end is checked.
        """
        delivered = self._delivered
        if found.size < delivered.end or (delivered.unterminated and found.size != delivered.end):
            return False
        whole = (
            whole_up_to is None or delivered.end <= whole_up_to or not self._seems_appended(found)
        )
        first = 0 if whole else max(0, len(delivered.blocks) - 2)
        self._is_verified = None if whole else bytearray(first)
        file.seek(first * _BLOCK)
        for number in range(first, len(delivered.blocks)):
            block = file.read(min(_BLOCK, delivered.end - number * _BLOCK))
            if zlib.crc32(block) != delivered.blocks[number]:
                return False
        return True

    def _bytes_to_read(self, found: FileSignature) -> int:
        known = self._delivered.end
        is_appended = (
            (found.size == known if self._delivered.unterminated else found.size >= known)
            and not self._is_outdated
            and self._seems_appended(found)
        )
        return found.size - known if is_appended else found.size

    def _seems_appended(self, found: FileSignature) -> bool:
        seen = self._seen
        if seen is None or (seen.device, seen.inode) != (found.device, found.inode):
            return False
        return found.size > seen.size or found == seen

    def _read(self, file: BinaryIO) -> Iterator[LineBatch]:
        try:
            yield from self._read_batches(file)
        except OSError as error:
            self._settled = False  # the next poll goes on after what was delivered
            raise read_error(self._path, error) from error

    def _read_batches(self, file: BinaryIO) -> Iterator[LineBatch]:
        with file:
            file.seek(self._delivered.end)
            partial = b""  # the start of a line whose end was not read yet
            while chunk := file.read(_CHUNK):
                lines = chunk.split(b"\n")
                # Chunks are shorter than MAX_LINE: only the first line can be too long.
                if len(partial) + len(lines[0]) > MAX_LINE:
                    oversized = self._skip_oversized(file)
                    if oversized is None:
                        return
                    yield oversized
                    partial = b""
                    continue
                lines[0] = partial + lines[0]
                rest = lines.pop()
                if lines:
                    yield self._batch(
                        lines, len(partial), memoryview(chunk)[: len(chunk) - len(rest)]
                    )
                partial = rest
            if partial.rstrip().endswith(b"}") and _is_object(partial):
                yield self._deliver_unterminated(partial)

    def _deliver_unterminated(self, line: bytes) -> LineBatch:
        """Deliver a last record that lacks its newline; any text after it resets the follower."""
        delivered = self._delivered
        delivered.add(line)
        delivered.lines += 1
        delivered.unterminated = True
        return LineBatch(delivered.lines, [line])

    def _batch(self, lines: list[bytes], partial: int, chunk: memoryview) -> LineBatch:
        """Deliver lines; `partial` bytes of the first were read before, the rest is `chunk`."""
        delivered = self._delivered
        delivered.add(lines[0][:partial])
        delivered.add(chunk)
        delivered.lines += len(lines)
        return LineBatch(delivered.lines - len(lines) + 1, lines)

    def _skip_oversized(self, file: BinaryIO) -> LineBatch | None:
        """Skip the next line, which is too long; None if its end is not written yet."""
        delivered = self._delivered
        after = DeliveredPart(delivered.end, delivered.lines + 1, delivered.blocks[:])
        file.seek(delivered.end)
        head = b""
        while chunk := file.read(_CHUNK):
            head = head or chunk[:200]
            end = chunk.find(b"\n") + 1
            after.add(chunk[:end] if end else chunk)
            if end:
                self._delivered = after
                file.seek(after.end)
                return LineBatch(after.lines, [head], after.end - delivered.end - 1)
        return None


def _is_object(line: bytes) -> bool:
    try:
        parse_object(line)
    except MalformedJson:
        return False
    return True


def read_lines(path: Path, places: Sequence[tuple[int, int]]) -> list[bytes]:
    """Return the bytes at each `(offset, length)`, in this order; fewer at the end of the file.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    with open_file(path) as file:
        return _read_places(file, places)


def _read_places(file: BinaryIO, places: Sequence[tuple[int, int]]) -> list[bytes]:
    found: list[bytes] = []
    for start, end, lines in _runs(places):
        if sys.platform == "win32":
            file.seek(start)
            block = file.read(end - start)
        else:
            block = os.pread(file.fileno(), end - start, start)
        if len(lines) == 1:
            found.append(block)
        else:
            found += [block[offset - start : offset - start + size] for offset, size in lines]
    return found


def _runs(
    places: Sequence[tuple[int, int]],
) -> Iterator[tuple[int, int, Sequence[tuple[int, int]]]]:
    """Yield start, end and places of lines that are near each other.

    Reading a few lines between them takes a quarter of the time of another call.
    """
    at = 0
    while at < len(places):
        start, length = places[at]
        first, end = at, start + length
        at += 1
        while at < len(places) and end < places[at][0] <= end + _GAP and end - start < _CHUNK:
            end = sum(places[at])
            at += 1
        yield start, end, places[first:at]


def _will_need(file: BinaryIO, places: Sequence[tuple[int, int]]) -> None:
    """Ask the system to read places of a file at once, where it can: a disk reads them faster."""
    if sys.platform == "linux":
        for start, end, _ in _runs(places):
            os.posix_fadvise(file.fileno(), start, end - start, os.POSIX_FADV_WILLNEED)
