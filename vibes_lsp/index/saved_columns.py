"""Columns of numbers in one file of the user's cache folder, mapped into memory.

A mapped file of any size is opened in a millisecond, and its memory belongs to the system.
Every page is verified by its checksum before it is used, so that a damaged file gives an error
and never a wrong answer. Files are replaced, never changed.
"""

from __future__ import annotations

import mmap
import os
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec

from vibes_lsp import __version__
from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.index.id_keys import secret_fingerprint, text_hash
from vibes_lsp.store.user_cache import large_name, open_large, remove_large, write_large

_MAGIC: Final = b"vibes-ix"
_PAGE_BITS: Final = 12
_PAGE: Final = 1 << _PAGE_BITS
_MAX_RESIDENT: Final = 4_096
"""Pages after which those that were read are given back: they would count as this process's."""
_START: Final = len(_MAGIC) + 8
"""Bytes before the header: the magic number, the header's length and its checksum."""
_MAX_HEADER: Final = 1 << 20
_SIZES: Final = {code: array(code).itemsize for code in "BHIQ"}
"""Bytes of a number, by the type code of its column."""
_damaged: Final[set[str]] = set()
"""Files that this process found damaged; it may not be able to remove them."""


class _Header(msgspec.Struct, array_like=True):
    """What a file contains.

    Attributes:
        source: What the columns were computed from, and by which version.
        byte_order: Of the numbers; files of another machine are not used.
        facts: Anything else that the caller saved.
        columns: For each column its type code, offset in the data and number of items.
        pages: Checksum of the checksums of all pages.
        size: Bytes of data.
    """

    source: str
    byte_order: str
    facts: bytes
    columns: dict[str, tuple[str, int, int]]
    pages: int
    size: int


class SavedFile:
    """A file of columns.

    Attributes:
        facts: What the caller saved beside the columns.
        is_damaged: Whether a page was found to be damaged.
    """

    def __init__(
        self, name: str, mapped: mmap.mmap, header: _Header, checksums: memoryview[int]
    ) -> None:
        self._name = name
        self._columns = header.columns
        self._mapped = mapped
        self._data = memoryview(mapped)[len(mapped) - header.size :]
        self._checksums = checksums
        self._is_verified = bytearray(len(checksums))
        self._resident = 0
        self.facts = header.facts
        self.is_damaged = False

    def column(self, name: str) -> SavedColumn:
        """Return a column."""
        code, offset, count = self._columns[name]
        size = _SIZES[code]
        data: Any = self._data[offset : offset + count * size]
        items: memoryview[int] = data.cast(code)
        return SavedColumn(self, items, offset, size)

    def verify(self, first: int, last: int) -> None:
        """Verify the pages from the first to the last byte of data that are not verified yet.

        Raises:
            OutdatedIndex: The file is damaged; it is removed.
        """
        end = (last >> _PAGE_BITS) + 1
        page = self._is_verified.find(0, first >> _PAGE_BITS, end)
        while page >= 0:
            start = page << _PAGE_BITS
            if zlib.crc32(self._data[start : start + _PAGE]) != self._checksums[page]:
                self.is_damaged = True
                _damaged.add(self._name)
                was_removed = " and was removed" if remove_large(self._name) else ""
                raise OutdatedIndex(
                    f"the saved index {self._name} is damaged{was_removed}", hint="run this again"
                )
            self._is_verified[page] = 1
            self._resident += 1
            page = self._is_verified.find(0, page + 1, end)

        if self._resident > _MAX_RESIDENT and sys.platform == "linux":
            self._resident = 0
            self._mapped.madvise(mmap.MADV_DONTNEED)  # the system still has them

    def is_verified(self, page: int) -> int:
        """Whether a page was verified."""
        return self._is_verified[page]


class SavedColumn:
    """A column of a file; reading it raises `OutdatedIndex` if the file is damaged."""

    __slots__ = ("_file", "_first", "_is_verified", "_items", "_size")

    def __init__(self, file: SavedFile, items: memoryview[int], first: int, size: int) -> None:
        self._file, self._items, self._first, self._size = file, items, first, size
        self._is_verified = file.is_verified

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> int:
        place = self._first + index * self._size
        if not self._is_verified(place >> _PAGE_BITS):
            self._file.verify(place, place)
        return self._items[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self.whole())

    def part(self, start: int, end: int) -> memoryview[int]:
        """Return some items, verified."""
        if end > start:
            first = self._first + start * self._size
            self._file.verify(first, self._first + end * self._size - 1)
        return self._items[start:end]

    def whole(self) -> memoryview[int]:
        """Return all items, verified."""
        return self.part(0, len(self._items))


class SavedLinks:
    """The items that have one value, from the newest to the oldest.

    Args:
        heads: For each group of values, the number of its newest item from 1; 0 for none. Values
            that are equal modulo the number of groups are in one group.
        previous: For each item, the number of the one before it in its group.
    """

    def __init__(self, heads: SavedColumn, previous: SavedColumn) -> None:
        self.heads, self.previous = heads, previous

    def items(self, value: int) -> Iterator[int]:
        """Yield the indexes of the items in the group of a value, newest first."""
        previous, groups = self.previous, len(self.heads)
        number = self.heads[value % groups] if groups else 0
        while number:
            yield number - 1
            number = previous[number - 1]


class SavedNames:
    """Strings by number, found by a hash of their normal form.

    Args:
        text: All strings in UTF-8, one after the other.
        ends: Where each one ends.
        links: The strings by hash.
    """

    def __init__(self, text: SavedColumn, ends: SavedColumn, links: SavedLinks) -> None:
        self._text, self._ends, self._links = text, ends, links

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> str:
        start = self._ends[number - 1] if number else 0
        return decode_name(bytes(self._text.part(start, self._ends[number])))

    def __iter__(self) -> Iterator[str]:
        text, start = bytes(self._text.whole()), 0
        for end in self._ends:
            yield decode_name(text[start:end])
            start = end

    def with_hash(self, normal: str) -> Iterator[int]:
        """Yield the numbers of the strings whose normal form has the hash of this one."""
        return self._links.items(name_hash(normal, len(self._links.heads)))


def name_hash(normal: str, groups: int) -> int:
    """Return the group of a string's normal form."""
    return text_hash(encode_name(normal)) % groups


def encode_name(name: str) -> bytes:
    """Return the bytes of a string that may have lone surrogates."""
    return name.encode("utf-8", "surrogatepass")


def decode_name(data: bytes) -> str:
    """Return the string of `encode_name`."""
    return data.decode("utf-8", "surrogatepass")


def link(
    values: Iterable[int], groups: int, saved: SavedLinks | None = None
) -> tuple[array[int], array[int]]:
    """Return heads and links of the items of a column, as `SavedLinks` has them.

    Args:
        values: The values; without those that `saved` has.
        groups: The number of groups.
        saved: The links of the items before; each must be in the same group still.
    """
    heads, previous = array("I"), array("I")
    if saved is not None:
        heads.frombytes(saved.heads.whole().cast("B"))
        previous.frombytes(saved.previous.whole().cast("B"))
    heads.frombytes(bytes((groups - len(heads)) * heads.itemsize))
    number = len(previous)
    append = previous.append
    for value in values:
        number += 1
        group = value % groups
        append(heads[group])
        heads[group] = number
    return heads, previous


def saved_name(kind: str, path: Path, version: int) -> tuple[str, str]:
    """Return the name of the saved file about a path, and what its columns must be made of.

    Args:
        kind: What is saved.
        path: The file that it is computed from.
        version: Of what is saved; another one is not read.
    """
    resolved = os.path.realpath(path)
    source = repr((version, __version__, secret_fingerprint(), os.fsencode(resolved)))
    return large_name(kind, resolved), source


def save_columns(
    name: str, source: str, facts: bytes, columns: Mapping[str, Sequence[array[int] | memoryview]]
) -> bool:
    """Save columns, each given in parts; return whether they were written."""
    offsets: dict[str, tuple[str, int, int]] = {}
    checksums = array("I")
    size = 0
    for column, parts in columns.items():
        item = parts[0]
        code = item.typecode if isinstance(item, array) else item.format
        length = sum(memoryview(part).nbytes for part in parts)
        offsets[column] = code, size, length // item.itemsize
        checksums.extend(_page_checksums(parts))
        size += length + _padding(length)
    pages = checksums.tobytes()
    header = msgspec.msgpack.encode(
        _Header(source, sys.byteorder, facts, offsets, zlib.crc32(pages), size)
    )
    if len(header) > _MAX_HEADER:
        return False
    lengths = (len(header), zlib.crc32(header))
    start = _MAGIC + b"".join(each.to_bytes(4, "little") for each in lengths) + header + pages
    is_saved = write_large(name, chain((start, bytes(_padding(len(start)))), _padded(columns)))
    if is_saved:
        _damaged.discard(name)
    return is_saved


def _padded(
    columns: Mapping[str, Sequence[array[int] | memoryview]],
) -> Iterator[memoryview | bytes]:
    for parts in columns.values():
        views = [memoryview(part).cast("B") for part in parts]
        yield from views
        yield bytes(_padding(sum(map(len, views))))


def _padding(length: int) -> int:
    return -length % _PAGE


def _page_checksums(parts: Sequence[array[int] | memoryview]) -> Iterator[int]:
    """Yield the checksum of each page of a column; zeros fill the last one."""
    checksum = filled = 0
    for part in parts:
        rest = memoryview(part).cast("B")
        while rest:
            piece = rest[: _PAGE - filled]
            checksum = zlib.crc32(piece, checksum)
            filled += len(piece)
            rest = rest[len(piece) :]
            if filled == _PAGE:
                yield checksum
                checksum = filled = 0
    if filled:
        yield zlib.crc32(bytes(_PAGE - filled), checksum)


def open_columns(name: str, source: str) -> SavedFile | None:
    """Open saved columns; None if there are none of this source, or they were damaged."""
    file = None if name in _damaged else open_large(name)
    if file is None:
        return None
    with file:
        try:
            start = file.read(_START)
            length = int.from_bytes(start[len(_MAGIC) : -4], "little")
            checksum = int.from_bytes(start[-4:], "little")
            if len(start) != _START or not start.startswith(_MAGIC) or length > _MAX_HEADER:
                return None
            data = file.read(length)
            if zlib.crc32(data) != checksum:
                return None
            header = msgspec.msgpack.decode(data, type=_Header)
            if header.source != source or header.byte_order != sys.byteorder:
                return None
            pages = file.read(header.size // _PAGE * 4)
            if zlib.crc32(pages) != header.pages:
                return None
            before = _START + length + len(pages)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError, msgspec.DecodeError):
            return None
    if len(mapped) != before + _padding(before) + header.size:
        return None
    checksums: Any = memoryview(pages).cast("I")
    return SavedFile(name, mapped, header, checksums)
