"""Text as anchors see it: lines end at LF, a CR before it is dropped (R14)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Final

from vibes_lsp.model.hashing import sha256

BOM: Final = "\ufeff"


_STRIDES: Final = (1 << 14, 1 << 10, 1 << 6, 1 << 3, 1)


@dataclass(frozen=True, slots=True)
class Shared:
    """The lines that a text has in common with one near to it.

    Attributes:
        first: How many lines both begin with.
        last: The number of lines of the text before those that both end with.
        near_last: The same of the other one.
        between: What the text has in between.
    """

    first: int
    last: int
    near_last: int
    between: str

    def of(self, near: Sequence[str], between: Sequence[str]) -> list[str]:
        """Return the lines of the text, given those of the other one and those in between."""
        return [*near[: self.first], *between, *near[self.near_last :]]

    def is_most(self, length: int) -> bool:
        """Whether the lines that only one of the two has are at most half as many as the text has."""
        return 2 * (self.last + self.near_last - 2 * self.first) <= length

    def numbers(self, near: Sequence[int], between: Sequence[int]) -> Sequence[int]:
        """Return where a line stands in the text, 1-based, given where it does in the other one and in between."""
        shift = self.last - self.near_last
        before = [number for number in near if number <= self.first]
        return [*before, *between, *(number + shift for number in near if number > self.near_last)]


def shared_lines(content: str, near: str) -> Shared | None:
    """Return what a text shares with another; None where lines end in other ways than by LF."""
    if any("\r" in each or each.startswith("\ufeff") for each in (content, near)):
        return None
    most = min(len(content), len(near))
    begin = content.rfind("\n", 0, common_start(content, near, most)) + 1
    end = common_end(content, near, most - begin)
    newline = content.find("\n", len(content) - end)
    end = 0 if newline < 0 else len(content) - newline - 1
    between = content[begin : len(content) - end]
    first = content.count("\n", 0, begin)
    return Shared(
        first, first + _lines_in(between), first + _lines_in(near[begin : len(near) - end]), between
    )


def _lines_in(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def common_start(one: Sequence[object], other: Sequence[object], most: int) -> int:
    """Return how many members two sequences begin with alike, at most so many: long slices first, they are what Python compares fastest."""
    alike = 0
    for stride in _STRIDES:
        while (
            alike + stride <= most and one[alike : alike + stride] == other[alike : alike + stride]
        ):
            alike += stride
    return alike


def common_end(one: Sequence[object], other: Sequence[object], most: int) -> int:
    """Return how many members two sequences end with alike, at most so many."""
    alike, here, there = 0, len(one), len(other)
    for stride in _STRIDES:
        while alike + stride <= most and one[here - stride : here] == other[there - stride : there]:
            alike, here, there = alike + stride, here - stride, there - stride
    return alike


@dataclass(frozen=True)
class Text:
    """A file's content, saved or not.

    Attributes:
        content: The whole text; bytes that are no UTF-8 stand in it as lone surrogates.
        near: Another version of the file: lines with which both begin and end are split, stripped and counted once. It changes no answer.
    """

    content: str
    near: Text | None = field(default=None, repr=False, compare=False)

    @classmethod
    def from_bytes(cls, data: bytes, near: Text | None = None) -> Text:
        """Return the text of a file, whatever its encoding."""
        return cls(data.decode("utf-8", "surrogateescape"), near)

    @cached_property
    def lines(self) -> list[str]:
        """The lines; a final newline begins no line of its own."""
        if self.near is not None and (shared := self._shared) is not None:
            return shared.of(self.near.lines, _split(shared.between))
        lines = _split(self.content.removeprefix(BOM))
        return [line.removesuffix("\r") for line in lines] if "\r" in self.content else lines

    def copies(self, start: int, length: int, others: Iterable[int]) -> list[int]:
        """Return at which of some lines the same stands as at one of them, whole lines, so many of them."""
        lines, before = self.lines, length - 2
        ends, block = lines[start + before], lines[start - 1 : start - 1 + length]
        alike = [other for other in others if lines[other + before] == ends]
        return [
            other
            for other in alike
            if other == start or lines[other - 1 : other - 1 + length] == block
        ]

    @cached_property
    def line_counts(self) -> Mapping[str, int]:
        """How often each line stands in the text."""
        if (
            self.near is None
            or (shared := self._shared) is None
            or not shared.is_most(len(self.lines))
        ):
            return Counter(self.lines)
        counts = Counter(self.near.line_counts)
        counts.update(self.lines[shared.first : shared.last])
        for line in self.near.lines[shared.first : shared.near_last]:
            counts[line] -= 1
        return counts

    def numbers(self, line: str) -> Sequence[int]:
        """Return where a line stands, 1-based and in order."""
        known = self._numbers.get(line)
        if known is None:
            known = self._numbers[line] = self._find(line)
        return known

    def _find(self, line: str) -> Sequence[int]:
        if (
            self.near is not None
            and (shared := self._shared) is not None
            and shared.is_most(len(self.lines))
        ):
            return shared.numbers(self.near.numbers(line), self._between.get(line, ()))
        times = self.line_counts.get(line, 0)
        return self._repeats[line] if times > 1 else [self.lines.index(line) + 1] if times else []

    @cached_property
    def _numbers(self) -> dict[str, Sequence[int]]:
        """What was asked for."""
        return {}

    @cached_property
    def _repeats(self) -> Mapping[str, Sequence[int]]:
        """Where each line stands that stands more than once in the text."""
        numbers: dict[str, list[int]] = {
            line: []
            for line in compress(self.line_counts, map((1).__lt__, self.line_counts.values()))
        }
        for number in compress(range(len(self.lines)), map(numbers.__contains__, self.lines)):
            numbers[self.lines[number]].append(number + 1)
        return numbers

    @cached_property
    def _between(self) -> Mapping[str, Sequence[int]]:
        """Where each line stands among those that the other version does not share."""
        numbers: dict[str, list[int]] = {}
        if self._shared is not None:
            for number, line in enumerate(
                self.lines[self._shared.first : self._shared.last], self._shared.first + 1
            ):
                numbers.setdefault(line, []).append(number)
        return numbers

    @cached_property
    def _shared(self) -> Shared | None:
        return None if self.near is None else shared_lines(self.content, self.near.content)

    @cached_property
    def compact_lines(self) -> list[str]:
        """The lines without any white space: as they are compared when layout should not count."""
        if self.near is not None and (shared := self._shared) is not None:
            return shared.of(self.near.compact_lines, _split(compact(shared.between)))
        content = self.content.removeprefix(BOM)
        lines = compact(content).split("\n")
        return lines[:-1] if not content or content.endswith("\n") else lines

    @cached_property
    def utf8_lines(self) -> list[str]:
        """The lines as a record can hold them."""
        return (
            [replace_invalid(line) for line in self.lines]
            if _has_surrogates(self.content)
            else self.lines
        )

    @cached_property
    def file_hashes(self) -> frozenset[str]:
        """The digests that a `file_content_hash` of this text may be: with and without byte-order mark and CR (R14)."""
        data = encode(self.content.removeprefix(BOM))
        marked = hashlib.sha256(encode(BOM))
        marked.update(data)
        hashes = {sha256(data), marked.hexdigest()}
        return frozenset(
            hashes | {sha256(data.replace(b"\r\n", b"\n"))} if b"\r" in data else hashes
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


def _has_surrogates(text: str) -> bool:
    """Whether a text holds what no UTF-8 can: bytes that were none, lone surrogates."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def replace_invalid(text: str) -> str:
    """Return a text as a record can hold it: bytes that were no UTF-8 are replaced."""
    return text if text.isascii() or text.isprintable() else encode(text).decode("utf-8", "replace")


def encode(text: str) -> bytes:
    """Return the bytes of a text, those that were no UTF-8 as they were; lone surrogates that stand for no byte as three each."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
