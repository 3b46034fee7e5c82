"""Find the line and column of a member or value in a JSON text, for findings to point at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

_COLON: Final = re.compile(r"\s*:")
_PUNCTUATION_OR_WORD: Final = re.compile(r'[{}\[\],:]|[^\s{}\[\],:"]+')
_TOKEN: Final = re.compile(
    r'"(?>(?:[^"\\]|\\.)*)(?:"|(?P<unclosed>))|' + _PUNCTUATION_OR_WORD.pattern, re.DOTALL
)


def find_member(source: str, path: Sequence[str]) -> tuple[int, int] | None:
    """Return the 1-based line and column of a member's name, or of an array's element.

    Args:
        source: A JSON text; in an invalid one the search goes as far as it can.
        path: Member names and array indexes, outermost first.

    Returns:
        The place of the deepest part of `path` that exists; None when the first part does not.
    """
    keys: list[str] = []  # the path to the next value, one part for each open bracket
    counters: list[int | None] = []  # the index in an array; None in an object
    best = 0
    place: int | None = None
    name_next = False
    for match in _tokens(source):
        token = match.group()
        if counters and counters[-1] is not None and token != "]" and keys[-1] == "":
            keys[-1] = str(counters[-1])
            best, place = _deepest_match(keys, path, best, place, match.start())
        if token in "{[":
            counters.append(None if token == "{" else 0)
            keys.append("")
            name_next = token == "{"
        elif token in "}]":
            if counters:
                counters.pop()
                keys.pop()
            name_next = False
        elif token == ",":
            if counters and counters[-1] is not None:
                counters[-1] += 1
                keys[-1] = ""
            else:
                name_next = True
        elif name_next and counters and token != ":":
            keys[-1] = token[1:-1]
            best, place = _deepest_match(keys, path, best, place, match.start())
            name_next = False
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


_VALUE: Final = re.compile(r'"(?>(?:[^"\\]|\\.)*)"\s*+:\s*+"', re.DOTALL)
_CHARACTER: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\"\\]",
    re.DOTALL,
)
"""One character in JSON notation; a surrogate pair is one."""


def _tokens(source: str) -> Iterator[re.Match[str]]:
    """Yield the strings, punctuation and bare words of a JSON text.

    After an unclosed string every quote is escaped, so no later string is closed either. Searching
    for the end of each would take quadratic time, so the rest is read without strings.
    """
    for match in _TOKEN.finditer(source):
        if match.lastgroup == "unclosed":
            yield from _PUNCTUATION_OR_WORD.finditer(source, match.start() + 1)
            return
        yield match


def _deepest_match(
    keys: Sequence[str], path: Sequence[str], best: int, place: int | None, start: int
) -> tuple[int, int | None]:
    if best < len(keys) <= len(path) and list(keys) == list(path[: len(keys)]):
        return len(keys), start
    return best, place


def _line_and_column(source: str, offset: int) -> tuple[int, int]:
    return source.count("\n", 0, offset) + 1, offset - (source.rfind("\n", 0, offset) + 1) + 1


def find_value(source: str, value: str) -> tuple[int, int]:
    """Return the line and column of the first number or bare word `value`; (1, 1) without one."""
    found = next((match.start() for match in _tokens(source) if match.group() == value), 0)
    return _line_and_column(source, found)


def find_long_number(source: str, digits: int) -> tuple[int, int]:
    """Return the line and column of the first integer longer than `digits`; (1, 1) without one."""
    tokens = ((match.start(), match.group().removeprefix("-")) for match in _tokens(source))
    found = next((start for start, token in tokens if len(token) > digits and token.isdigit()), 0)
    return _line_and_column(source, found)


def find_repeated_name(source: str, name: str) -> tuple[int, int]:
    """Return the line and column where an object repeats a member name; (1, 1) if none does."""
    seen: list[set[str]] = []
    for match in _tokens(source):
        part = match.group()
        if part in "{[":
            seen.append(set())
        elif part in "}]" and seen:
            seen.pop()
        elif part.startswith('"') and seen and _COLON.match(source, match.end()):
            if part[1:-1] in seen[-1] and part[1:-1] == name:
                return _line_and_column(source, match.start())
            seen[-1].add(part[1:-1])
    return 1, 1


def find_too_deep(source: str, depth: int) -> tuple[int, int]:
    """Return the line and column of the first bracket nested deeper than `depth`; else (1, 1)."""
    level = 0
    for match in _tokens(source):
        level += {"{": 1, "[": 1, "}": -1, "]": -1}.get(match.group(), 0)
        if level > depth:
            return _line_and_column(source, match.start())
    return 1, 1
