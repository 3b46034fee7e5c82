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


def digest_with_prefix(path: Path, size: int | None, ending: bytes = b"") -> FileDigest:
    """Return the digest of a file, and of its first bytes with an ending in place of their last.

    Args:
        path: The file.
        size: The length of the beginning, with the ending; None for none.
        ending: What closes the beginning, as `}}` closes a manifest.

    Raises:
        UnreadableFile: The file is missing or cannot be read.
    """
    cut = None if size is None or size < len(ending) else size - len(ending)
    whole, total, last = hashlib.sha256(), 0, b"\n"
    prefix = None
    added, first = 0, b""
    with _reading(path) as file:
        while part := file.read(_CHUNK if cut is None else min(cut - total, _CHUNK)):
            whole.update(part)
            total, last = total + len(part), part[-1:]
        if cut == total:
            prefix = whole.copy()
            prefix.update(ending)
            is_counted = False
            while part := file.readline(_CHUNK):
                whole.update(part)
                total, first = total + len(part), first or part[:2]
                if part.strip() and not is_counted:
                    added, is_counted = added + 1, True
                is_counted = is_counted and not part.endswith(b"\n")
    return FileDigest(
        size=total,
        sha256=whole.hexdigest(),
        prefix_size=None if prefix is None else size,
        prefix_sha256=None if prefix is None else prefix.hexdigest(),
        added=added,
        at_line_end=last == b"\n" or first[:1] in {b"", b"\n"} or first == b"\r\n",
    )


def line_ends(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the length of a file up to each end of a line, and the digest of that beginning.

    Raises:
        UnreadableFile: It is missing or cannot be read.
    """
    digest, total = hashlib.sha256(), 0
    with _reading(path) as file:
        while part := file.readline(_CHUNK):
            digest.update(part)
            total += len(part)
            if part.endswith(b"\n"):
                yield total, digest.copy().hexdigest()


def _reading(path: Path) -> BinaryIO:
    try:
        return open_file(path)
    except UnreadableFile as error:
        if not path.exists():
            raise UnreadableFile(f"{path.name} is missing") from error
        raise
