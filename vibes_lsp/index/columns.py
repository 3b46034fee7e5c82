"""Columns of numbers, links between equal ones, and numbered strings.

The first items of each may be in a saved file; those added since are in memory.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, count, islice
from typing import Final, TypeAlias

from typing_extensions import override

from vibes_lsp.index.id_keys import append_id_keys, id_key
from vibes_lsp.index.saved_columns import (
    SavedColumn,
    SavedFile,
    SavedLinks,
    SavedNames,
    decode_name,
    encode_name,
    link,
    name_hash,
)

_SEARCHED_AT_ONCE: Final = 1 << 17
"""Numbers whose bytes are copied at once to search them: they fit into a processor's cache."""
Parts: TypeAlias = Mapping[str, Sequence["array[int] | memoryview"]]
"""Columns to save, each in parts."""


class Column:
    """A column of numbers.

    Attributes:
        split: The number of saved items.
        added: The numbers that are not in the saved file.
    """

    __slots__ = ("_code", "_saved", "added", "split")

    def __init__(self, code: str, saved: SavedColumn | None = None) -> None:
        self._code = code
        self._saved = saved
        self.split = 0 if saved is None else len(saved)
        self.added: array[int] = array(code)

    def __len__(self) -> int:
        return self.split + len(self.added)

    def __getitem__(self, index: int) -> int:
        if index >= self.split:
            return self.added[index - self.split]
        if index < 0 or self._saved is None:
            raise IndexError(index)
        return self._saved[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self.added) if self._saved is None else chain(self._saved, self.added)

    def count(self, value: int) -> int:
        """Return how many items of a column of bytes have a value."""
        return sum(bytes(part).count(value) for part in self.parts())

    def in_ranges(self, ranges: Iterable[tuple[int, int]]) -> list[int]:
        """Return the indexes of the numbers that are in any of some ranges, in order.

        Args:
            ranges: The least and the largest number of each. What both begin with is searched in
                the bytes of the column.
        """
        size, before = self.added.itemsize, 0
        searches = [(low, high, *_common_bytes(low, high, size)) for low, high in ranges]
        found: set[int] = set()
        for part in self.parts():
            for first in range(0, len(part), _SEARCHED_AT_ONCE):
                some = part[first : first + _SEARCHED_AT_ONCE]
                data = memoryview(some).tobytes()
                for low, high, wanted, aligned in searches:
                    at = data.find(wanted)
                    while 0 <= at < len(data):  # nothing is found at the end, too
                        if at % size == aligned and low <= some[at // size] <= high:
                            found.add(before + first + at // size)
                        at = data.find(wanted, at + 1)
            before += len(part)
        return sorted(found)

    def last(self, count: int) -> list[int]:
        """Return the last items, in order."""
        return [self[index] for index in range(max(0, len(self) - count), len(self))]

    def parts(self) -> Sequence[array[int] | memoryview]:
        """Return all items, in up to two parts."""
        return (self.added,) if self._saved is None else (self._saved.whole(), self.added)

    def copy(self) -> array[int]:
        """Return all items."""
        items = array(self._code)
        for part in self.parts():
            items.frombytes(memoryview(part).cast("B"))
        return items


def _common_bytes(low: int, high: int, size: int) -> tuple[bytes, int]:
    """Return what numbers of a range begin with, and at which of their bytes in memory it is."""
    differing = ((low ^ high).bit_length() + 7) // 8
    common = low.to_bytes(size, "big")[: size - differing]
    return (common[::-1], differing % size) if sys.byteorder == "little" else (common, 0)


class Links:
    """Finds the items of a column by their value.

    Args:
        column: The column.
        saved: The links of the saved items.
        are_numbers: Whether values count from 0, so that each has a group of its own.
    """

    def __init__(
        self, column: Column, saved: SavedLinks | None = None, *, are_numbers: bool = False
    ) -> None:
        self._column, self._saved, self._are_numbers = column, saved, are_numbers
        self._heads: dict[int, int] = {}
        self._previous = array("I")

    def items(self, value: int) -> list[int]:
        """Return the indexes of the items with a value, in order."""
        found = list(self.newest_first(value))
        found.reverse()
        return found

    def newest_first(self, value: int) -> Iterator[int]:
        """Yield the indexes of the items with a value, from the last to the first."""
        self._extend()
        column = self._column
        number, split = self._heads.get(value, 0), column.split
        while number:
            yield split + number - 1
            number = self._previous[number - 1]
        if self._saved is not None:
            for index in self._saved.items(value):
                if column[index] == value:
                    yield index

    def _extend(self) -> None:
        added, heads, previous = self._column.added, self._heads, self._previous
        for index in range(len(previous), len(added)):
            value = added[index]
            previous.append(heads.get(value, 0))
            heads[value] = index + 1

    def to_save(self, name: str, groups: int) -> Parts:
        """Return the links of all items as columns.

        Args:
            name: Distinguishes these columns.
            groups: The number of groups of values.
        """
        saved = self._saved
        if saved is not None and not self._are_numbers and len(saved.heads) != groups:
            saved = None
        added = self._column if saved is None else self._column.added
        return _links_to_save(name, *link(added, groups, saved))


def group_count(count: int) -> int:
    """Return the number of groups for that many keys."""
    return 1 << min(max(count.bit_length() - 1, 4), 28)


def saved_links(file: SavedFile, name: str) -> SavedLinks:
    """Return the links that `Links.to_save` gave."""
    return SavedLinks(file.column(f"{name} heads"), file.column(f"{name} previous"))


class _PackedNames:
    """Strings as their text and its ends: a string of its own takes 50 bytes more.

    Args:
        names: The strings.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._text, self._ends = bytearray(), array("Q")
        for name in names:
            self._text += encode_name(name)
            self._ends.append(len(self._text))

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> str:
        start = self._ends[number - 1] if number else 0
        return decode_name(bytes(self._text[start : self._ends[number]]))

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))


class Names:
    """Numbers strings in the order in which they are first seen; a missing one is the empty string.

    Args:
        normal_form: Strings with the same normal form are variants of each other.
        saved: The first strings.
    """

    def __init__(
        self, normal_form: Callable[[str], str] = str, saved: SavedNames | None = None
    ) -> None:
        self._normal_form, self._saved = normal_form, saved
        self._split = 0 if saved is None else len(saved)
        self._added: list[str] | _PackedNames = []
        self._numbers: Final = _Numbers(self)
        self._variants: dict[str, list[int]] = {}
        self._grouped = 0

    def __len__(self) -> int:
        return self._split + len(self._added)

    def __getitem__(self, number: int) -> str:
        if number >= self._split or self._saved is None:
            return self._added[number - self._split]
        return self._saved[number]

    def __iter__(self) -> Iterator[str]:
        return chain(self._saved or (), self._added)

    def numbers(self, names: Iterable[str | None]) -> Iterator[int]:
        """Return the numbers of strings, in one pass of C code where they were seen before."""
        return map(self._by_name().__getitem__, names)

    def find(self, name: str) -> int | None:
        """Return the number of a string; None if it was not seen."""
        number = self._by_name().get(name)
        return self.find_saved(name) if number is None else number

    def pack(self) -> None:
        """Keep the strings in a fifth of the memory, until one is looked for or added."""
        self._numbers.clear()
        self._added = _PackedNames(self._added)

    def _by_name(self) -> _Numbers:
        """Return the numbers of the strings that were seen in this process."""
        if not self._numbers:
            self._numbers.update(zip(self._added, count(self._split)))
        return self._numbers

    def find_saved(self, name: str) -> int | None:
        """Return the number of a saved string."""
        if self._saved is None:
            return None
        saved = self._saved
        candidates = saved.with_hash(self._normal_form(name))
        return next((number for number in candidates if saved[number] == name), None)

    def add(self, name: str) -> int:
        """Number a string that was not seen."""
        if isinstance(self._added, _PackedNames):
            self._added = list(self._added)
        self._added.append(name)
        return len(self) - 1

    def variants(self, normal: str) -> list[int]:
        """Return the numbers of the strings with a normal form, in order."""
        for index in range(self._grouped, len(self._added)):
            form = self._normal_form(self._added[index])
            self._variants.setdefault(form, []).append(self._split + index)
        self._grouped = len(self._added)
        found: list[int] = []
        if self._saved is not None:
            saved = self._saved
            found = [
                number
                for number in saved.with_hash(normal)
                if self._normal_form(saved[number]) == normal
            ]
            found.reverse()
        return found + self._variants.get(normal, [])

    def to_save(self, name: str) -> Parts:
        """Return the strings as columns."""
        groups = 1 << max(len(self).bit_length(), 4)
        encoded = [encode_name(each) for each in self]
        ends, end = array("Q"), 0
        for each in encoded:
            end += len(each)
            ends.append(end)
        hashes = (name_hash(self._normal_form(each), groups) for each in self)
        heads, previous = link(hashes, groups)
        return {
            f"{name} text": (array("B", b"".join(encoded)),),
            f"{name} ends": (ends,),
            **_links_to_save(name, heads, previous),
        }


def _links_to_save(name: str, heads: array[int], previous: array[int]) -> Parts:
    return {f"{name} heads": (heads,), f"{name} previous": (previous,)}


def saved_names(file: SavedFile, name: str) -> SavedNames:
    """Return the strings that `Names.to_save` gave."""
    links = saved_links(file, name)
    return SavedNames(file.column(f"{name} text"), file.column(f"{name} ends"), links)


class _Numbers(dict[str | None, int]):
    """The numbers of the strings that were seen in this process."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._names = names

    def __missing__(self, key: str | None) -> int:
        if key is None:
            number = self[""]
        else:
            found = self._names.find_saved(key)
            number = self._names.add(key) if found is None else found
        self[key] = number
        return number


class NamedEntries:
    """Which annotations name entries of one type.

    Attributes:
        lines: The lines of annotations that name one.
        keys: Parallel to it, the keys of the entries' ids.
        links: Finds these by key.
    """

    def __init__(self, lines: Column, keys: Column, saved: SavedLinks | None) -> None:
        self.lines, self.keys = lines, keys
        self.links = Links(keys, saved)

    def extend(self, lines: Iterable[int], named: Sequence[str | None]) -> None:
        """Append the entry that each of some lines names."""
        if any(named):
            self.lines.added.extend(compress(lines, named))
            append_id_keys(self.keys.added, list(filter(None, named)))

    def last_lines(self, identifier: str, limit: int) -> list[int]:
        """Return the last lines that name an entry, in order, and perhaps another one."""
        last = list(islice(self.links.newest_first(id_key(identifier)), limit))
        return [self.lines[index] for index in reversed(last)]

    def to_save(self, name: str) -> Parts:
        """Return the links as columns."""
        return self.links.to_save(name, group_count(len(self.keys)))


class LinesByName(Mapping[str, Sequence[int]]):
    """The lines of the log by name, in the order of their first line.

    Args:
        names: The names, each of some item.
        links: Finds the items of one name.
        lines: The line of each item.
        saved: Gives the lines of the saved items of a name, if `links` does not have these.
    """

    def __init__(
        self,
        names: Names,
        links: Links,
        lines: Column,
        saved: Callable[[int], Sequence[int]] | None = None,
    ) -> None:
        self._names, self._links, self._lines, self._saved = names, links, lines, saved

    @override
    def __getitem__(self, name: str) -> Sequence[int]:
        number = self._names.find(name)
        if number is None:
            raise KeyError(name)
        found = self.of_number(number)
        if not found:
            raise KeyError(name)
        return found

    @override
    def __contains__(self, name: object) -> bool:
        number = self._names.find(name) if isinstance(name, str) else None
        return number is not None and next(self.newest_first(number), None) is not None

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    @override
    def __len__(self) -> int:
        return len(self._names)

    def of_number(self, number: int) -> Sequence[int]:
        """Return the lines of a name by its number, in order."""
        added = [self._lines[index] for index in self._links.items(number)]
        return added if self._saved is None else [*self._saved(number), *added]

    def newest_first(self, number: int) -> Iterator[int]:
        """Yield the lines of a name by its number, from the last to the first."""
        lines = self._lines
        for index in self._links.newest_first(number):
            yield lines[index]
        if self._saved is not None:
            yield from reversed(self._saved(number))
