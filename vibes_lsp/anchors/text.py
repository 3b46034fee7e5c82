"""The text of a file and its lines, which end at LF; a CR before it is dropped (R14)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from vibes_lsp.model.hashing import sha256

BOM: Final = "\ufeff"


@dataclass(frozen=True)
class Text:
    """The content of a file, saved or not.

    Attributes:
        content: The whole text. Bytes that are not valid UTF-8 are lone surrogates.
    """

    content: str

    @classmethod
    def from_bytes(cls, content: bytes) -> Text:
        """Return the text of a file in any encoding."""
        return cls(content.decode("utf-8", "surrogateescape"))

    @cached_property
    def lines(self) -> list[str]:
        """The lines; a final newline starts no further line."""
        lines = _split(self.content.removeprefix(BOM))
        return [line.removesuffix("\r") for line in lines] if "\r" in self.content else lines

    @cached_property
    def utf8_lines(self) -> list[str]:
        """The lines as a record can hold them."""
        return (
            [replace_invalid(line) for line in self.lines]
            if has_surrogates(self.content)
            else self.lines
        )

    @cached_property
    def file_hashes(self) -> frozenset[str]:
        """The possible `file_content_hash` values: with and without BOM and CR (R14)."""
        encoded = encode(self.content.removeprefix(BOM))
        marked = hashlib.sha256(encode(BOM))
        marked.update(encoded)
        hashes = {sha256(encoded), marked.hexdigest()}
        return frozenset(
            hashes | {sha256(encoded.replace(b"\r\n", b"\n"))} if b"\r" in encoded else hashes
        )


def compact(text: str) -> str:
    """Return a text without the white space within its lines."""
    return (
        text.encode("utf-8", "surrogatepass")
        .translate(None, b" \t\r\f\v")
        .decode("utf-8", "surrogatepass")
    )


def _split(content: str) -> list[str]:
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def has_surrogates(text: str) -> bool:
    """Whether a text has content that is not valid UTF-8, as lone surrogates."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def replace_invalid(text: str) -> str:
    """Return a text as a record can hold it: invalid UTF-8 is replaced."""
    return text if text.isascii() or text.isprintable() else encode(text).decode("utf-8", "replace")


def encode(text: str) -> bytes:
    """Return the bytes of a text; invalid ones as they were.

    Lone surrogates that represent no byte become three bytes each.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
