"""Lines of a gitignore file as git matches them, in time linear in the path and in the pattern.

A pattern becomes a regular expression without backtracking: what follows a `*` is looked for from left to right, and the first
place where it fits is kept (an atomic group). That finds every match, since whatever a later place offers, the next `*` reaches
from the first one as well. `**` between slashes is the same, one level up, over whole folders.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_PATTERN: Final = 200
"""Characters of a pattern that whoever reads untrusted ones should take."""
_STAR: Final = "*"
_FOLDERS: Final = "**/"
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


class _Never(Exception):
    """The pattern matches nothing: a class or an escape has no end."""


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """One line.

    Attributes:
        negated: Whether what it matches is not ignored after all.
        for_folders: Whether it matches folders only.
        whole: Matches the path of a file or folder.
        beginning: Matches the path of whatever is that file or folder, or lies in it.
    """

    negated: bool
    for_folders: bool
    whole: re.Pattern[bytes]
    beginning: re.Pattern[bytes]

    def matches(self, name: bytes, *, is_folder: bool) -> bool:
        """Whether it matches a file or folder itself."""
        return (is_folder or not self.for_folders) and self.whole.match(name) is not None

    def covers(self, name: bytes) -> bool:
        """Whether it matches a file or a folder that the file is in."""
        return self.beginning.match(name) is not None


def parse_pattern(line: str) -> IgnorePattern | None:
    """Return what a line says; None for a blank line, a comment, and one that can match nothing."""
    text = (
        _without_trailing_blanks(line).encode("utf-8", "surrogatepass").decode("latin-1")
    )  # git compares bytes
    if text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[negated:]
    for_folders = text.endswith("/")
    text = text[: len(text) - for_folders]
    if not text:
        return None
    try:
        tokens = list(_tokens(text.removeprefix("/")))
    except _Never:
        return None
    if "/" not in text:
        tokens.insert(0, _FOLDERS)
    whole, beginning = (
        _expression([*tokens, end]) for end in (r"\Z", "(?=/)" if for_folders else r"(?=/|\Z)")
    )
    return IgnorePattern(negated, for_folders, whole, beginning)


def _without_trailing_blanks(line: str) -> str:
    kept = line.rstrip(" ")
    is_escaped = len(kept) < len(line) and (len(kept) - len(kept.rstrip("\\"))) % 2 == 1
    return kept + " " * is_escaped


def _tokens(pattern: str) -> Iterator[str]:
    """Give the pieces of a pattern: `_STAR`, `_FOLDERS`, and expressions that take what they take without a choice."""
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
                yield _FOLDERS
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
        raise _Never
    return pattern[at]


def _class(pattern: str, at: int) -> tuple[set[int], int]:
    """Return the bytes that a class takes, and where the pattern goes on behind it; `/` is in none."""
    negated = _next(pattern, at) in "!^"
    at += negated
    taken: set[int] = set()
    before, first = "", True
    while first or _next(pattern, at) != "]":
        first = False
        char, at = _next(pattern, at), at + 1
        if char == "-" and before and at < len(pattern) and pattern[at] != "]":
            upto, at = _escapable(pattern, at)
            taken |= set(range(ord(before), ord(upto) + 1))
            before = ""
        elif (
            char == "["
            and pattern.startswith(":", at)
            and (end := pattern.find("]", at)) > at + 1
            and pattern[end - 1] == ":"
        ):
            named = _CLASSES.get(pattern[at + 1 : end - 1])
            if named is None:
                raise _Never
            taken |= set(named.encode())
            before, at = "", end + 1
        else:
            before, at = _escapable(pattern, at - 1)
            taken.add(ord(before))
    return (set(range(1, 256)) - taken if negated else taken) - {ord("/")}, at + 1


def _escapable(pattern: str, at: int) -> tuple[str, int]:
    char = _next(pattern, at)
    return (_next(pattern, at + 1), at + 2) if char == "\\" else (char, at + 1)


def _expression(tokens: list[str]) -> re.Pattern[bytes]:
    first, *levels = _split(tokens, _FOLDERS)
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
