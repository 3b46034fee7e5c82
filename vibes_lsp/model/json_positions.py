"""Where things are in a JSON text, for findings to point at and for what is being written.

The text may end anywhere, lack commas, or have a string that is not closed yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r'"(?>(?:[^"\\\n]|\\.)*)"?|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_NEXT: Final = re.compile(r"\s*(\S?)")
_VALUE: Final = re.compile(r'"(?>(?:[^"\\]|\\.)*)"\s*+:\s*+"', re.DOTALL)
_CHARACTER: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\"\\]",
    re.DOTALL,
)
"""One character in JSON notation; a surrogate pair is one."""


class _Expected(Enum):
    NAME = auto()
    COLON = auto()
    VALUE = auto()
    COMMA = auto()


class _Level:
    """An object or array that is open.

    Attributes:
        is_object: Whether it is an object.
        expected: What comes next in it.
        key: The name of the current member, or the index of the current item.
        names: The names of its members, with the first offset of each.
    """

    def __init__(self, *, is_object: bool) -> None:
        self.is_object = is_object
        self.expected = _Expected.NAME if is_object else _Expected.VALUE
        self.key = "" if is_object else "0"
        self.names: dict[str, int] = {}


class _Reader:
    """Reads a text token by token.

    Attributes:
        levels: The objects and arrays that are open before the next token.
    """

    def __init__(self) -> None:
        self.levels: list[_Level] = []

    def read(self, source: str) -> Iterator[re.Match[str]]:
        """Yield the tokens: strings, punctuation and bare words."""
        for match in _TOKEN.finditer(source):
            yield match
            self._add(match)

    def part(self, token: str) -> str | None:
        """Return the name or index that a token begins; None if it is neither name nor item."""
        level = self.levels[-1] if self.levels else None
        if level is None or token in "}],:":
            return None
        if level.is_object:
            return None if level.expected is _Expected.VALUE else _unquoted(token)
        return level.key if level.expected is _Expected.VALUE else None

    def _add(self, match: re.Match[str]) -> None:
        token, levels = match.group(), self.levels
        level = levels[-1] if levels else None
        if token in "{[":
            levels.append(_Level(is_object=token == "{"))
        elif level is None:
            return
        elif token in "}]":
            levels.pop()
            if levels:
                levels[-1].expected = _Expected.COMMA
        elif token == ",":
            if not level.is_object:
                level.key = str(int(level.key) + 1)
            level.expected = _Expected.NAME if level.is_object else _Expected.VALUE
        elif token == ":":
            level.expected = _Expected.VALUE
        elif level.is_object and level.expected is not _Expected.VALUE:
            level.key = _unquoted(token)
            level.names.setdefault(level.key, match.start())
            level.expected = _Expected.COLON
        else:
            level.expected = _Expected.COMMA


def find_member(source: str, path: Sequence[str]) -> tuple[int, int] | None:
    """Return the 1-based line and column of a member's name, or of an array's element.

    Args:
        source: A JSON text; in an invalid one the search goes as far as it can.
        path: Member names and array indexes, outermost first.

    Returns:
        The place of the deepest part of `path` that exists; None when the first part does not.
    """
    best, place, reader = 0, None, _Reader()
    for match in reader.read(source):
        depth = len(reader.levels)
        part = reader.part(match.group()) if best < depth <= len(path) else None
        above = (level.key for level in reader.levels[:-1])
        if part is not None and [*above, part] == list(path[:depth]):
            best, place = depth, match.start()
        if best == len(path):
            break
    return None if place is None else _line_and_column(source, place)


def find_character(source: str, path: Sequence[str], offset: int) -> tuple[int, int] | None:
    """Return the 1-based line and column of a character in a string value; None without one.

    Args:
        source: A JSON text.
        path: As for `find_member`.
        offset: Index of the character, from 0; the length of the string gives the closing quote.
    """
    place = find_member(source, path)
    if place is None:
        return None
    start = (
        sum(len(line) for line in source.split("\n")[: place[0] - 1]) + place[0] - 1 + place[1] - 1
    )
    value = _VALUE.match(source, start)
    if value is None:
        return None
    here = value.end()
    for _ in range(offset):
        character = _CHARACTER.match(source, here)
        if character is None:
            break
        here = character.end()
    return _line_and_column(source, here)


def find_value(source: str, value: str) -> tuple[int, int]:
    """Return the line and column of the first number or bare word `value`; (1, 1) without one."""
    tokens = _TOKEN.finditer(source)
    return _line_and_column(
        source, next((match.start() for match in tokens if match.group() == value), 0)
    )


def find_repeated_name(source: str, name: str) -> tuple[int, int]:
    """Return the line and column where an object repeats a member name; (1, 1) if none does."""
    reader = _Reader()
    for match in reader.read(source):
        if reader.part(match.group()) == name and name in reader.levels[-1].names:
            return _line_and_column(source, match.start())
    return 1, 1


def find_too_deep(source: str, depth: int) -> tuple[int, int]:
    """Return the line and column of the first bracket nested deeper than `depth`; else (1, 1)."""
    reader = _Reader()
    for match in reader.read(source):
        if len(reader.levels) == depth and match.group() in "{[":
            return _line_and_column(source, match.start())
    return 1, 1


def _line_and_column(source: str, offset: int) -> tuple[int, int]:
    return source.count("\n", 0, offset) + 1, offset - (source.rfind("\n", 0, offset) + 1) + 1


class JsonCursor(NamedTuple):
    """A position in a JSON text.

    Attributes:
        path: Member names and array indexes, outermost first; with the name of the member whose
            name or value is at the position.
        is_name: Whether a member's name is there, or can be written there.
        is_value: Whether a value is there, or can be written there.
        start: Where the string or word at the position begins; the position if there is none.
        end: Where that ends.
        names: The names of the other members of the object.
        next_character: What follows `end`, other than white space; empty at the end.
    """

    path: tuple[str, ...]
    is_name: bool
    is_value: bool
    start: int
    end: int
    names: frozenset[str]
    next_character: str


def cursor_at(source: str, offset: int) -> JsonCursor:
    """Return where an offset of a JSON text is."""
    reader = _Reader()
    place: tuple[tuple[str, ...], _Level | None, _Expected, int, int] | None = None
    for match in reader.read(source):
        if place is not None and place[1] not in reader.levels:
            break  # the object is closed: all its names are known
        if place is None and match.end() >= offset and not _is_before(match, offset):
            is_in = match.start() < offset and match.group() not in "{}[]:,"
            start, end = match.span() if is_in else (offset, offset)
            place = _place(reader.levels, match.group() if is_in else None, start, end)
    path, level, expected, start, end = place or _place(reader.levels, None, offset, offset)
    names = {} if level is None else level.names
    following = _NEXT.match(source, end)
    return JsonCursor(
        path,
        expected is _Expected.NAME,
        expected is _Expected.VALUE,
        start,
        end,
        frozenset(name for name, at in names.items() if at != start),
        "" if following is None else following[1],
    )


def _is_before(match: re.Match[str], offset: int) -> bool:
    """Whether a token ends at an offset, and what is typed there does not change it."""
    token = match.group()
    is_closed = token in "{}[]:," or (len(token) > 1 and token[0] == token[-1] == '"')
    return is_closed and match.end() == offset


def _place(
    levels: list[_Level], token: str | None, start: int, end: int
) -> tuple[tuple[str, ...], _Level | None, _Expected, int, int]:
    if not levels:
        return (), None, _Expected.COMMA, start, end
    level = levels[-1]
    expected = level.expected
    if token is not None and token.startswith('"') and level.is_object:
        expected = _Expected.VALUE if expected is _Expected.VALUE else _Expected.NAME
    last = _unquoted(token or "") if expected is _Expected.NAME else level.key
    return (*(outer.key for outer in levels[:-1]), last), level, expected, start, end


def _unquoted(token: str) -> str:
    return token.removeprefix('"').removesuffix('"')
