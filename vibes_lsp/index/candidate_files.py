"""Which of some texts may stand in a file, told by its bytes: nearly all files of a project hold none.

To decode each file and locate in it takes ten times as long; what is said here is exact all the
same: `anchors.locating.standing_whole` finds nothing of what cannot stand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from vibes_lsp.anchors.create_anchors import block_hashes
from vibes_lsp.anchors.located import AnchoredRange
from vibes_lsp.anchors.occurrences import read_context

_BOM: Final = b"\xef\xbb\xbf"
_REPLACED: Final = "\ufffd"
_MAX_LOOKS: Final = 64
"""Places at which the hash of a range is tried; with more of them it may stand."""


class RawLines:
    """The lines of a file as bytes: ends of lines and a byte-order mark are no part of them (R14).

    Args:
        content: The file.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content.removeprefix(_BOM)

    def __len__(self) -> int:
        """Return how many lines there are."""
        return self._content.count(b"\n") + (
            not self._content.endswith(b"\n") and self._content != b""
        )

    @cached_property
    def digest(self) -> bytes:
        """What tells the lines from others."""
        return hashlib.sha256(self._content).digest()

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines."""
        lines = self._content.split(b"\n")
        if not lines[-1]:
            lines.pop()
        return [line.removesuffix(b"\r") for line in lines] if b"\r" in self._content else lines

    @cached_property
    def content(self) -> bytes:
        """The lines, LF before and after each."""
        return b"\n%b\n" % b"\n".join(self.lines)

    @cached_property
    def known(self) -> frozenset[bytes]:
        """The lines, in no order."""
        return frozenset(self.lines)


class Sought:
    """A recorded range that is looked for.

    Attributes:
        recorded: The range.
        first: Its first line, which has to stand in a file; None when that is not known.
    """

    __slots__ = ("_begun", "_is_readable", "_whole", "first", "recorded")

    def __init__(self, recorded: AnchoredRange) -> None:
        self.recorded = recorded
        context = recorded.anchors.context
        first, newline, _ = (context or "").partition("\n")
        self._is_readable = _REPLACED not in (context or "")
        self.first = _encoded(first.removesuffix("\r")) if newline and self._is_readable else None
        pieces, cut = ((), True) if context is None else read_context(context)
        self._whole = [*map(_encoded, pieces[:-1] if cut else pieces)]
        self._begun = (
            b""
            if context is None
            else b"\n" + b"\n".join(map(_encoded, pieces)) + (b"" if cut else b"\n")
        )

    def may_stand(self, file: RawLines) -> bool:
        """Whether the range may stand in a file whole: where its context does, or where it was recorded."""
        if not self._is_readable:
            return True
        if self.first is not None and self.first not in file.known:
            return False
        return self._is_at(file, self.recorded.start) or self._is_behind_context(file)

    def _is_behind_context(self, file: RawLines) -> bool:
        if not self._begun or not all(line in file.known for line in self._whole):
            return False
        last = len(file.lines) - self.recorded.length + 1
        number, before, looks = 1, 0, 0
        found = file.content.find(self._begun)
        while found >= 0:
            number, before = number + file.content.count(b"\n", before, found), found
            if number > last:
                return False
            looks += 1
            if looks > _MAX_LOOKS or self._is_at(file, number):
                return True
            found = file.content.find(self._begun, found + 1)
        return False

    def _is_at(self, file: RawLines, start: int) -> bool:
        digest, end = self.recorded.anchors.hash, start - 1 + self.recorded.length
        return (
            digest is not None
            and end <= len(file.lines)
            and digest in block_hashes(b"\n".join(file.lines[start - 1 : end]))
        )


class SoughtTexts:
    """Some recorded ranges.

    Args:
        ranges: What is looked for.

    Attributes:
        digest: What tells them from others.
    """

    def __init__(self, ranges: Iterable[AnchoredRange]) -> None:
        self._others: list[Sought] = []
        self._by_first: dict[bytes, list[Sought]] = {}
        seen = hashlib.sha256()
        for each in map(Sought, ranges):
            seen.update(repr(each.recorded).encode("utf-8", "backslashreplace"))
            (
                self._others if each.first is None else self._by_first.setdefault(each.first, [])
            ).append(each)
        self.digest: Final = seen.digest()

    def may_stand(self, file: RawLines) -> bool:
        """Whether any of them may stand in a file whole."""
        return self._is_any(self._others, file) or any(
            self._is_any(self._by_first[first], file)
            for first in self._by_first.keys() & file.known
        )

    @staticmethod
    def _is_any(sought: Sequence[Sought], file: RawLines) -> bool:
        return any(each.may_stand(file) for each in sought)


def _encoded(line: str) -> bytes:
    return line.encode("utf-8", "surrogatepass")
