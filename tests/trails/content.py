"""Anchors of a range of lines, and gzip output that is the same on every system."""

from __future__ import annotations

import hashlib
import io
import zlib
from dataclasses import dataclass
from typing import Final

ANCHOR_CONTEXT_LINES: Final = 3
ANCHOR_CONTEXT_BYTES: Final = 256


@dataclass(frozen=True)
class Anchors:
    """The three anchor members of one annotated range (RFC 7.3.1)."""

    anchor_context: str
    anchor_hash: str
    file_content_hash: str

    def members(self) -> dict[str, object]:
        """Return the anchors as the members of a record."""
        return {
            "anchor_context": self.anchor_context,
            "anchor_hash": self.anchor_hash,
            "file_content_hash": self.file_content_hash,
        }


def anchors(text: str | bytes, start: int, end: int) -> Anchors:
    """Return the anchors of lines `start` to `end`, 1-based and inclusive, of a file (R14).

    Args:
        text: The content of the file; a string is encoded as UTF-8.
        start: The first line.
        end: The last line.

    Raises:
        ValueError: If the range is not within the text.
    """
    raw = text.encode("utf-8") if isinstance(text, str) else text
    lines = raw.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    if not 1 <= start <= end <= len(lines):
        raise ValueError(f"lines {start}-{end} are not within a text of {len(lines)} lines")
    chosen = [line.removesuffix(b"\r") for line in lines[start - 1 : end]]
    return Anchors(
        anchor_context=_cut(b"\n".join(chosen[:ANCHOR_CONTEXT_LINES]), ANCHOR_CONTEXT_BYTES),
        anchor_hash=hashlib.sha256(b"\n".join(chosen)).hexdigest(),
        file_content_hash=file_hash(raw),
    )


def file_hash(text: str | bytes) -> str:
    """Return the hash of the content of a file."""
    return hashlib.sha256(text.encode("utf-8") if isinstance(text, str) else text).hexdigest()


def _cut(raw: bytes, limit: int) -> str:
    """Truncate to a number of bytes, at a character boundary."""
    if len(raw) > limit:
        end = limit
        while raw[end] & 0xC0 == 0x80:
            end -= 1
        raw = raw[:end]
    return raw.decode("utf-8", errors="replace")


def gzipped(content: bytes) -> bytes:
    """Compress to gzip with no time and the operating system "unknown" in its header (R8)."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    out = io.BytesIO()
    out.write(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff")
    out.write(compressor.compress(content))
    out.write(compressor.flush())
    out.write(zlib.crc32(content).to_bytes(4, "little"))
    out.write((len(content) & 0xFFFFFFFF).to_bytes(4, "little"))
    return out.getvalue()
