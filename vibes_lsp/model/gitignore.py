"""Match paths against lines of a gitignore file as git does, without backtracking.

A pattern becomes a regular expression in which each `*` takes the first place where the text after
it fits (an atomic group). No match is missed: the next `*` reaches any later place from there as
well. `**` between slashes works the same way over whole folders. For each `*` of the pattern,
matching takes time linear in the path.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_PATTERN: Final = 200
"""Longest pattern, in characters, that callers should accept from untrusted files."""
_STAR: Final = "*"
_ANY_FOLDERS: Final = "**/"
_CLASSES: Final = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, [*range(32), 127])),
    "digit": string.digits,
    "graph": "".join(map(chr, range(33, 127))),
    "lower": string.ascii_lowercase,
    "print": "".join(map(chr, range(32, 127))),
    "punct": string.punctuation,
    "space": " \t\n\v\f\r",
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}


class _InvalidPattern(Exception):
    """The pattern matches nothing: a class or an escape is not closed."""


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """One line of a gitignore file.

    Attributes:
        negated: Whether it starts with `!`, which takes back an earlier match.
        folder_only: Whether it ends with `/` and matches folders only.
        path: Matches the whole path of a file or folder.
    """

    negated: bool
    folder_only: bool
    path: re.Pattern[bytes]

    def matches(self, name: bytes, *, is_folder: bool) -> bool:
        """Whether the pattern matches a file or folder itself."""
        return (is_folder or not self.folder_only) and self.path.match(name) is not None


def parse_pattern(line: str) -> IgnorePattern | None:
    """Return the pattern of a line; None for blank lines, comments and invalid patterns."""
    text = (
        _without_trailing_blanks(line).encode("utf-8", "surrogatepass").decode("latin-1")
    )  # git compares bytes
    if text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[negated:]
    folder_only = text.endswith("/")
    text = text[: len(text) - folder_only]
    if not text:
        return None
    try:
        tokens = list(_tokens(text.removeprefix("/")))
    except _InvalidPattern:
        return None
    if "/" not in text:
        tokens.insert(0, _ANY_FOLDERS)
    return IgnorePattern(negated, folder_only, _expression([*tokens, r"\Z"]))


def _without_trailing_blanks(line: str) -> str:
    kept = line.rstrip(" ")
    is_escaped = len(kept) < len(line) and (len(kept) - len(kept.rstrip("\\"))) % 2 == 1
    return kept + " " * is_escaped


def _tokens(pattern: str) -> Iterator[str]:
    """Yield the parts of a pattern: `_STAR`, `_ANY_FOLDERS` or an expression."""
    at = 0
    while at < len(pattern):
        char, at = pattern[at], at + 1
        if char == "*":
            start = at - 1
            at += len(pattern[at:]) - len(pattern[at:].lstrip("*"))
            is_level = at - start > 1 and (start == 0 or pattern[start - 1] == "/")
            if is_level and at == len(pattern):
                yield ".*?"
            elif is_level and pattern[at] == "/":
                yield _ANY_FOLDERS
                at += 1
            else:
                yield _STAR
        elif char == "?":
            yield "[^/]"
        elif char == "[":
            accepted, at = _class(pattern, at)
            yield (
                "[" + "".join(map(r"\x{:02x}".format, sorted(accepted))) + "]"
                if accepted
                else "(?!)"
            )
        else:
            if char == "\\":
                char, at = _next(pattern, at), at + 1
            yield re.escape(char)


def _next(pattern: str, at: int) -> str:
    if at >= len(pattern):
        raise _InvalidPattern
    return pattern[at]


def _class(pattern: str, at: int) -> tuple[set[int], int]:
    """Return the bytes that a class accepts, never `/`, and the position after the class."""
    negated = _next(pattern, at) in "!^"
    at += negated
    accepted: set[int] = set()
    before, first = "", True
    while first or _next(pattern, at) != "]":
        first = False
        char, at = _next(pattern, at), at + 1
        if char == "-" and before and at < len(pattern) and pattern[at] != "]":
            upto, at = _escapable(pattern, at)
            accepted |= set(range(ord(before), ord(upto) + 1))
            before = ""
        elif (
            char == "["
            and pattern.startswith(":", at)
            and (end := pattern.find("]", at)) > at + 1
            and pattern[end - 1] == ":"
        ):
            named = _CLASSES.get(pattern[at + 1 : end - 1])
            if named is None:
                raise _InvalidPattern
            accepted |= set(named.encode())
            before, at = "", end + 1
        else:
            before, at = _escapable(pattern, at - 1)
            accepted.add(ord(before))
    return (set(range(1, 256)) - accepted if negated else accepted) - {ord("/")}, at + 1


def _escapable(pattern: str, at: int) -> tuple[str, int]:
    char = _next(pattern, at)
    return (_next(pattern, at + 1), at + 2) if char == "\\" else (char, at + 1)


def _expression(tokens: list[str]) -> re.Pattern[bytes]:
    first, *levels = _split(tokens, _ANY_FOLDERS)
    text = _level(first) + "".join(f"(?>(?:[^/]*/)*?{_level(level)})" for level in levels)
    return re.compile(text.encode("latin-1"), re.DOTALL)


def _level(tokens: list[str]) -> str:
    first, *steps = _split(tokens, _STAR)
    return "".join(first) + "".join(f"(?>[^/]*?{''.join(step)})" for step in steps)


def _split(tokens: list[str], mark: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == mark:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
