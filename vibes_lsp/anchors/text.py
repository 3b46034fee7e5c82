"""Text as anchors see it: lines end at LF, a CR before it is dropped (R14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, compress, count
from operator import add
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
        return self.data[self.offsets[start - 1] : self.offsets[end] - 1]

    def copies(self, block: bytes, starts: Iterable[int]) -> list[int]:
        """Return at which of some lines a block stands: whole lines, joined by LF."""
        data, offsets, wanted = self.data, self.offsets, block + b"\n"
        return [start for start in starts if data.startswith(wanted, offsets[start - 1])]

    @cached_property
    def data(self) -> bytes:
        """The lines as bytes, each with an LF behind it."""
        whole = self.content.removeprefix(BOM)
        if "\r" in whole:
            whole = "".join(f"{line}\n" for line in self.lines)
        return encode(whole if not whole or whole.endswith("\n") else whole + "\n")

    @cached_property
    def offsets(self) -> list[int]:
        """Where in `data` each line begins, and where the last one ends."""
        lines = self.lines if self.content.isascii() else self.data.split(b"\n")[: len(self.lines)]
        return list(map(add, accumulate(map(len, lines), initial=0), count()))

    @cached_property
    def line_counts(self) -> Mapping[str, int]:
        """How often each line stands in the text."""
        return Counter(self.lines)

    @cached_property
    def repeats(self) -> Mapping[str, Sequence[int]]:
        """Where each line stands, 1-based, that stands more than once in the text."""
        numbers: dict[str, list[int]] = {line: [] for line, times in self.line_counts.items() if times > 1}
        for number in compress(range(len(self.lines)), map(numbers.__contains__, self.lines)):
            numbers[self.lines[number]].append(number + 1)
        return numbers

    @cached_property
    def bare_lines(self) -> list[str]:
        """The lines without any white space: as they are compared when layout should not count."""
        content = self.content.removeprefix(BOM)
        lines = bare(content).split("\n")
        return lines[:-1] if not content or content.endswith("\n") else lines

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
