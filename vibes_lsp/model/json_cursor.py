"""Where a position in a JSON text is that is being written: the path to it, and what is there.

The text may end anywhere, lack commas, or have a string that is not closed yet.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

_TOKEN: Final = re.compile(r'"(?>(?:[^"\\\n]|\\.)*)"?|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_NEXT: Final = re.compile(r"\s*(\S?)")


@dataclass(frozen=True, slots=True)
class JsonCursor:
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


class _Expected(Enum):
    NAME = auto()
    COLON = auto()
    VALUE = auto()
    COMMA = auto()


@dataclass(slots=True)
class _Level:
    """An object or array that is open.

    Attributes:
        is_object: Whether it is an object.
        expected: What comes next in it.
        key: The name of the current member, or the index of the current item.
        names: The names of its members, with the offset of each.
    """

    is_object: bool
    expected: _Expected
    key: str
    names: list[tuple[str, int]] = field(default_factory=list)


def cursor_at(source: str, offset: int) -> JsonCursor:
    """Return where an offset of a JSON text is."""
    levels: list[_Level] = []
    found: tuple[tuple[str, ...], _Level | None, _Expected, int, int] | None = None
    for match in _TOKEN.finditer(source):
        if found is None and match.end() >= offset and not _is_before(match, offset):
            is_in = match.start() < offset and match.group() not in "{}[]:,"
            start, end = match.span() if is_in else (offset, offset)
            found = _place(levels, match.group() if is_in else None, start, end)
        _read(levels, match)
        if found is not None and found[1] not in levels:
            break  # the object is closed: all its names are known
    path, level, expected, start, end = found or _place(levels, None, offset, offset)
    names = () if level is None else level.names
    following = _NEXT.match(source, end)
    return JsonCursor(
        path,
        expected is _Expected.NAME,
        expected is _Expected.VALUE,
        start,
        end,
        frozenset(name for name, at in names if at != start),
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
    path = [each.key for each in levels[:-1]]
    if expected is _Expected.NAME:
        path.append(_unquoted(token or ""))
    else:
        path.append(level.key)
    return tuple(path), level, expected, start, end


def _read(levels: list[_Level], match: re.Match[str]) -> None:
    token, level = match.group(), levels[-1] if levels else None
    if token in "{[":
        is_object = token == "{"
        expected = _Expected.NAME if is_object else _Expected.VALUE
        levels.append(_Level(is_object, expected, "" if is_object else "0"))
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
        level.names.append((level.key, match.start()))
        level.expected = _Expected.COLON
    else:
        level.expected = _Expected.COMMA


def _unquoted(token: str) -> str:
    return token.removeprefix('"').removesuffix('"')
