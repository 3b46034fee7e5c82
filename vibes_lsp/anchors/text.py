"""Text as anchors see it: lines end at LF, a CR before it is dropped (R14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
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
        lines = _split(self.content)
        return [line.removesuffix("\r") for line in lines] if "\r" in self.content else lines

    def block(self, start: int, end: int) -> bytes:
        """Return the bytes of the lines `start` to `end`, 1-based and inclusive, joined by LF: what a digest of them is made of (R14)."""
        data, lengths = self._joined
        return data[lengths[start - 1] + start - 1 : lengths[end] + end - 1]

    def has_block(self, block: bytes, start: int) -> bool:
        """Whether whole lines from one on are these, joined by LF; the line lies within the text."""
        data, lengths = self._joined
        first = lengths[start - 1] + start - 1
        return data.startswith(block, first) and data[first + len(block) : first + len(block) + 1] in (b"\n", b"")

    @cached_property
    def _joined(self) -> tuple[bytes, list[int]]:
        """All lines joined by LF, and how many bytes the lines before each have together, their ends not counted."""
        joined = "\n".join(self.lines) if "\r" in self.content else self.content.removeprefix(BOM)
        data = encode(joined)
        lines = self.lines if len(data) == len(joined) else data.split(b"\n")[: len(self.lines)]
        return data, list(accumulate(map(len, lines), initial=0))

    @cached_property
    def line_numbers(self) -> Mapping[str, Sequence[int]]:
        """Where each line stands in the text, 1-based."""
        numbers: dict[str, list[int]] = {}
        for number, line in enumerate(self.lines, 1):
            if line in numbers:
                numbers[line].append(number)
            else:
                numbers[line] = [number]
        return numbers

    @cached_property
    def bare_lines(self) -> list[str]:
        """The lines without any white space: as they are compared when layout should not count."""
        return bare(self.content.removeprefix(BOM)).split("\n")[: len(self.lines)]

    @cached_property
    def readable_lines(self) -> list[str]:
        """The lines as a record can hold them."""
        return self.lines if self.content.isascii() else [readable(line) for line in self.lines]

    @cached_property
    def file_hashes(self) -> frozenset[str]:
        """The digests that a `file_content_hash` of this text may be: with and without byte-order mark and CR (R14)."""
        data, mark = encode(self.content.removeprefix(BOM)), encode(BOM)
        spellings = {data, mark + data, data.replace(b"\r\n", b"\n") if b"\r" in data else data}
        return frozenset(map(sha256, spellings))


def bare(text: str) -> str:
    """Return a text without the white space within its lines."""
    return text.encode("utf-8", "surrogatepass").translate(None, b" \t\r\f\v").decode("utf-8", "surrogatepass")


def _split(content: str) -> list[str]:
    lines = content.removeprefix(BOM).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def readable(text: str) -> str:
    """Return a text as a record can hold it: bytes that were no UTF-8 are replaced."""
    return text if text.isascii() or text.isprintable() else encode(text).decode("utf-8", "replace")


def encode(text: str) -> bytes:
    """Return the bytes of a text, those that were no UTF-8 as they were; lone surrogates that stand for no byte as three each."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
