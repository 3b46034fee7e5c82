"""Create the three anchors of a range (RFC 7.3.1, R14)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.model.hashing import sha256

CONTEXT_LINES: Final = 3
CONTEXT_BYTES: Final = 256


class Anchors(msgspec.Struct, frozen=True, gc=False):
    """The anchors of a range; None for those that a record lacks.

    Attributes:
        context: `anchor_context`, the range's first lines.
        hash: `anchor_hash`, over the range.
        file_hash: `file_content_hash`, over the file.
    """

    context: str | None = None
    hash: str | None = None
    file_hash: str | None = None


def create_anchors(text: Text, start: int, end: int) -> Anchors:
    """Return the anchors of the lines `start` to `end`, 1-based, inclusive, within the text."""
    lines = text.lines[start - 1 : end]
    return Anchors(make_context(lines), range_hash(lines), sha256(encode(text.content)))


def make_context(lines: Sequence[str]) -> str:
    """Return the first three lines, cut to 256 bytes on a character boundary.

    Bytes that are not valid UTF-8 are replaced.
    """
    whole = encode("\n".join(lines[:CONTEXT_LINES]))
    end = min(len(whole), CONTEXT_BYTES)
    while 0 < end < len(whole) and whole[end] & 0xC0 == 0x80:  # within a character
        end -= 1
    return whole[:end].decode("utf-8", "replace")


def range_hash(lines: Sequence[str]) -> str:
    """Return the hash of a range: its lines joined by LF, without a final newline."""
    return hashlib.sha256(encode("\n".join(lines))).hexdigest()


def range_hash_variants(lines: Sequence[str]) -> Iterator[str]:
    """Yield the hashes that tools compute of a range, ours first (R14).

    The others have a final newline, CRLF line ends, or both.
    """
    joined = encode("\n".join(lines))
    for newline in (b"\n", b"\r\n"):
        digest = hashlib.sha256(joined.replace(b"\n", newline))
        yield digest.hexdigest()
        digest.update(newline)
        yield digest.hexdigest()
