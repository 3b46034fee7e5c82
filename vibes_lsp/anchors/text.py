"""Text as anchors see it: lines end at LF, a CR before it is dropped (R14)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from vibes_lsp.model.hashing import sha256

BOM: Final = "\ufeff"


@dataclass(frozen=True)
class Text:
    """A file's content, saved or not.

    Attributes:
        content: The whole text; bytes that are no UTF-8 stand in it as lone surrogates.
    """

    content: str

    @classmethod
    def from_bytes(cls, data: bytes) -> Text:
        """Return the text of a file, whatever its encoding."""
        return cls(data.decode("utf-8", "surrogateescape"))

    @cached_property
    def lines(self) -> list[str]:
        """The lines; a final newline begins no line of its own."""
        lines = self.content.removeprefix(BOM).split("\n")
        if lines[-1] == "":
            lines.pop()
        return [line.removesuffix("\r") for line in lines] if "\r" in self.content else lines

    @cached_property
    def readable_lines(self) -> list[str]:
        """The lines as a record can hold them."""
        return self.lines if self.content.isascii() else [readable(line) for line in self.lines]

    @cached_property
    def file_hashes(self) -> frozenset[str]:
        """The digests that a `file_content_hash` of this text may be: with and without byte-order mark and CR (R14)."""
        bare = self.content.removeprefix(BOM)
        spellings = {self.content, bare, BOM + bare, bare.replace("\r\n", "\n")}
        return frozenset(sha256(encode(spelling)) for spelling in spellings)


def readable(text: str) -> str:
    """Return a text as a record can hold it: bytes that were no UTF-8 are replaced."""
    return text if text.isascii() or text.isprintable() else encode(text).decode("utf-8", "replace")


def encode(text: str) -> bytes:
    """Return the bytes of a text, those that were no UTF-8 as they were."""
    return (
        text.encode("utf-8", "surrogateescape")
        if text.isascii() or not _has_real_surrogates(text)
        else text.encode("utf-8", "surrogatepass")
    )


def _has_real_surrogates(text: str) -> bool:
    """Whether there are lone surrogates that stand for no byte."""
    return any("\ud800" <= character <= "\udfff" and not "\udc80" <= character <= "\udcff" for character in text)
