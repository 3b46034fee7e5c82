"""Read the project's files, find paths that name none of them (R19), filter files by content.

`RangeFilters` decides by the bytes of a file whether recorded ranges may be in it. Locating ranges
in the decoded text takes ten times as long, and nearly all files of a project contain none.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.create_anchors import hash_variants
from vibes_lsp.anchors.encodings import as_saved
from vibes_lsp.anchors.location import AnchoredRange
from vibes_lsp.anchors.occurrences import parse_context
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.history.file_encodings import as_stored
from vibes_lsp.model.paths import PathKind, normal_path, path_kind
from vibes_lsp.store.files import is_circular, is_inside, read_file

_MAX_SOURCE: Final = 64 << 20
"""Largest source file that is read, in bytes."""
_HINT: Final = "give a file of the project"
_BOM: Final = b"\xef\xbb\xbf"
_REPLACEMENT: Final = "\ufffd"
_MAX_TRIES: Final = 64
"""Positions at which the hash of a range is computed; with more, the filter lets the file pass."""


def read_source(project: Path, path: str, *, hint: str = _HINT) -> Text:
    """Return the text of a file of the project; raises like `read_content`."""
    return Text.from_bytes(read_content(project, path, hint=hint))


def given_text(project: Path, path: str, text: str) -> Text:
    """Return what another program gives as the text of a file, in the encoding that the file has.

    Args:
        project: The project's root.
        path: The file, relative to it; it may not exist.
        text: The text.
    """
    saved = ""
    if not text.isascii():
        with suppress(UnreadableFile):
            saved = read_source(project, path).content
    return Text(as_saved(text, saved))


def read_content(project: Path, path: str, *, limit: int = _MAX_SOURCE, hint: str = _HINT) -> bytes:
    """Return the bytes of a file of the project, in the encoding in which git stores them.

    Args:
        project: The project's root.
        path: Relative to it.
        limit: Largest file that is read, in bytes.
        hint: The hint of the error if the file does not exist.

    Raises:
        UnreadableFile: It does not exist, cannot be read, or links out of the project (R19).
    """
    if not is_inside(project / path, project) and not is_circular(project / path):
        raise UnreadableFile(f"{path} is outside the project")
    data = read_file(project / path, limit=limit)
    if data is None:
        raise UnreadableFile(f"{path} does not exist", hint=hint)
    return as_stored(project, path, data)


_REASONS: Final = {
    PathKind.ABSOLUTE: "absolute",
    PathKind.ESCAPING: "outside the project",
    PathKind.UNUSABLE: "invalid",
    PathKind.TOO_LONG: "too long",
}
ABSENT: Final = "missing"


def why_foreign(path: str, project: Path) -> str | None:
    """Return in words why a path names no file of the project; None if it names one (R19)."""
    reason = _REASONS.get(path_kind(path))
    if reason is not None:
        return reason
    # A Path takes three times as long, and there may be a million, too many for a cache.
    file = f"{project}/{normal_path.__wrapped__(path)}".rstrip("/")
    return None if os.path.isfile(file) else ABSENT  # noqa: PTH113


def count_foreign(paths: Iterable[str], project: Path) -> int:
    """Return how many paths name no file of the project (R19)."""
    return sum(why_foreign(path, project) is not None for path in paths)


class RawLines:
    """The lines of a file as bytes, without line ends and byte-order mark (R14).

    Args:
        content: The bytes of the file.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content.removeprefix(_BOM)

    def __len__(self) -> int:
        """Return the number of lines."""
        return self._content.count(b"\n") + (
            not self._content.endswith(b"\n") and self._content != b""
        )

    @cached_property
    def digest(self) -> bytes:
        """A hash of the content without the byte-order mark."""
        return hashlib.sha256(self._content).digest()

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines, in order."""
        lines = self._content.split(b"\n")
        if not lines[-1]:
            lines.pop()
        return [line.removesuffix(b"\r") for line in lines] if b"\r" in self._content else lines

    @cached_property
    def content(self) -> bytes:
        """The lines with LF before and after each."""
        return b"\n%b\n" % b"\n".join(self.lines)

    @cached_property
    def unique(self) -> frozenset[bytes]:
        """The distinct lines."""
        return frozenset(self.lines)


class RangeFilter:
    """A filter for files that may contain a recorded range, without false negatives.

    Attributes:
        recorded_range: The range.
        first_line: Its first line, which a file must contain; None if unknown.
    """

    __slots__ = ("_context", "_is_readable", "_whole_lines", "first_line", "recorded_range")

    def __init__(self, recorded: AnchoredRange) -> None:
        self.recorded_range = recorded
        context = recorded.anchors.context
        first, newline, _ = (context or "").partition("\n")
        self._is_readable = _REPLACEMENT not in (context or "")
        self.first_line = (
            _encoded(first.removesuffix("\r")) if newline and self._is_readable else None
        )
        pieces, cut = ((), True) if context is None else parse_context(context)
        self._whole_lines = [*map(_encoded, pieces[:-1] if cut else pieces)]
        self._context = (
            b""
            if context is None
            else b"\n" + b"\n".join(map(_encoded, pieces)) + (b"" if cut else b"\n")
        )

    def may_be_in(self, file: RawLines) -> bool:
        """Whether a file may contain the whole range: at its context, or where it was recorded."""
        if not self._is_readable:
            return True
        if self.first_line is not None and self.first_line not in file.unique:
            return False
        return self._is_at(file, self.recorded_range.start) or self._is_at_context(file)

    def _is_at_context(self, file: RawLines) -> bool:
        if not self._context or not all(line in file.unique for line in self._whole_lines):
            return False
        last = len(file.lines) - self.recorded_range.length + 1
        number, before, tries = 1, 0, 0
        found = file.content.find(self._context)
        while found >= 0:
            number, before = number + file.content.count(b"\n", before, found), found
            if number > last:
                return False
            tries += 1
            if tries > _MAX_TRIES or self._is_at(file, number):
                return True
            found = file.content.find(self._context, found + 1)
        return False

    def _is_at(self, file: RawLines, start: int) -> bool:
        digest, end = self.recorded_range.anchors.hash, start - 1 + self.recorded_range.length
        return (
            digest is not None
            and end <= len(file.lines)
            and digest in hash_variants(b"\n".join(file.lines[start - 1 : end]))
        )


class RangeFilters:
    """A filter for files that may contain any of some recorded ranges.

    Args:
        ranges: The ranges.

    Attributes:
        digest: A hash of the ranges.
    """

    def __init__(self, ranges: Iterable[AnchoredRange]) -> None:
        self._without_first_line: list[RangeFilter] = []
        self._by_first_line: dict[bytes, list[RangeFilter]] = {}
        ranges_hash = hashlib.sha256()
        for each in map(RangeFilter, ranges):
            ranges_hash.update(repr(each.recorded_range).encode("utf-8", "backslashreplace"))
            (
                self._without_first_line
                if each.first_line is None
                else self._by_first_line.setdefault(each.first_line, [])
            ).append(each)
        self.digest: Final = ranges_hash.digest()

    def may_be_in(self, file: RawLines) -> bool:
        """Whether a file may contain any of the ranges whole."""
        return self._any_may_be_in(self._without_first_line, file) or any(
            self._any_may_be_in(self._by_first_line[first], file)
            for first in self._by_first_line.keys() & file.unique
        )

    @staticmethod
    def _any_may_be_in(filters: Sequence[RangeFilter], file: RawLines) -> bool:
        return any(each.may_be_in(file) for each in filters)


def _encoded(line: str) -> bytes:
    return line.encode("utf-8", "surrogatepass")
