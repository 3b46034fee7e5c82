"""Digest a file in one pass, with the digest of its beginning, in bounded memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.store.files import open_file

_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class FileDigest:
    """The digest of a file and of its beginning.

    Attributes:
        size: Its length in bytes.
        sha256: The digest of all of it.
        prefix_size: The length of the beginning; None if the file is shorter.
        prefix_sha256: The digest of the beginning.
        added: The number of lines after the beginning that are not blank.
        at_line_end: Whether the beginning ends where a line ends.
    """

    size: int
    sha256: str
    prefix_size: int | None = None
    prefix_sha256: str | None = None
    added: int = 0
    at_line_end: bool = False


def digest_file(path: Path) -> FileDigest:
    """Return the digest of a file.

    Raises:
        UnreadableFile: It is missing or cannot be read.
    """
    return digest_with_prefix(path, None)


def digest_with_prefix(
    path: Path, size: int | None, ending: bytes = b"", *, lines: int | None = None
) -> FileDigest:
    """Return the digest of a file, and of its first bytes with an ending in place of their last.

    Args:
        path: The file.
        size: The length of the beginning, with the ending; None for none.
        ending: What closes the beginning, as `}}` closes a manifest.
        lines: The number of lines of the beginning, if its length is not known.

    Raises:
        UnreadableFile: The file is missing or cannot be read.
    """
    cut = None if size is None or size < len(ending) else size - len(ending)
    whole, total, prefix = hashlib.sha256(), 0, None
    buffer = bytearray(_CHUNK)
    with _reading(path) as file:
        tail = _LineCounter()
        before, left = b"\n", lines if cut is None else None
        for chunk in _chunks(file, buffer):
            if left:
                end, left = _after_lines(buffer, len(chunk), left)
                cut = None if end is None else total + end
            if cut is not None and prefix is None and total + len(chunk) >= cut:
                head = chunk[: cut - total]
                whole.update(head)
                prefix = whole.copy()
                prefix.update(ending)
                if head:
                    before = bytes(head[-1:])
                rest = chunk[cut - total :]
                whole.update(rest)
                tail.count(rest)
            else:
                whole.update(chunk)
                if prefix is not None:
                    tail.count(chunk)
                else:
                    before = bytes(chunk[-1:])
            total += len(chunk)
        if cut == total == 0:
            prefix = hashlib.sha256(ending)
    return FileDigest(
        size=total,
        sha256=whole.hexdigest(),
        prefix_size=None if prefix is None or cut is None else cut + len(ending),
        prefix_sha256=prefix.hexdigest() if prefix is not None else None,
        added=tail.lines,
        at_line_end=before == b"\n" or tail.first[:1] in {b"", b"\n"} or tail.first == b"\r\n",
    )


def line_ends(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the length of a file up to each end of a line, and the digest of that beginning.

    Raises:
        UnreadableFile: It is missing or cannot be read.
    """
    digest, total = hashlib.sha256(), 0
    with _reading(path) as file:
        for line in file:
            digest.update(line)
            total += len(line)
            yield total, digest.copy().hexdigest()


def _after_lines(buffer: bytearray, length: int, lines: int) -> tuple[int | None, int]:
    """Return where this number of lines ends in a buffer, or None and how many lines are left."""
    count = buffer.count(b"\n", 0, length)
    if count < lines:
        return None, lines - count
    end = 0
    for _ in range(lines):
        end = buffer.index(b"\n", end, length) + 1
    return end, 0


class _LineCounter:
    """Counts lines that are not blank in the parts of a text."""

    def __init__(self) -> None:
        self.lines = 0
        self.first = b""
        self._open = False

    def count(self, part: memoryview) -> None:
        if not part:
            return
        content = bytes(part)
        self.first += content[: 2 - len(self.first)]
        lines = content.split(b"\n")
        for number, line in enumerate(lines):
            if line.strip() and not self._open:
                self.lines += 1
                self._open = True
            if number < len(lines) - 1:
                self._open = False


def _chunks(file: BinaryIO, buffer: bytearray) -> Iterator[memoryview]:
    """Yield the parts of a file, each read to the start of a buffer."""
    view = memoryview(buffer)
    while length := file.readinto(buffer):  # type: ignore[attr-defined]  # of every binary file
        yield view[:length]


def _reading(path: Path) -> BinaryIO:
    try:
        return open_file(path)
    except UnreadableFile as error:
        if not path.exists():
            raise UnreadableFile(f"{path.name} is missing") from error
        raise
