"""Which name a line of code defines, and where its code begins; by patterns alone, no parser."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

MAX_LINE: Final = 2000
"""Longest line that is matched."""
_MAX_LINES: Final = 200
"""Lines that are searched for code, as after a long comment."""

_DEFINING_LINE: Final = re.compile(
    r"""\s*+(?:[\w@<>\[\],&*().:]++\s++){0,12}?
    (?:def|function|func|fn|fun|class|struct|interface|trait|enum|record|object|sub|method|module
    |proc|defn|defp|defun)\s++
    (?P<name>(?:\([^()]{1,200}\)\s*+)?[\w$~@][\w$.:\#?!-]*+)""",
    re.VERBOSE,
)
"""A line that defines something, in languages with a keyword for it."""
_BINDING: Final = re.compile(
    r"\s*+(?:(?:export|default|public|private|protected|static|readonly|pub|declare)\s++){0,4}"
    r"(?:const|let|var|val|type)\s++(?:mut\s++)?(?P<name>[A-Za-z_$][\w$]*+)"
)
_METHOD: Final = re.compile(
    r"\s*+(?:[\w@<>\[\],*&:~]++\s++){0,8}?(?P<name>[A-Za-z_$#~][\w$]*+)\s*+"
    r"\([^(){}]*+\)[^(){}=;]*+\{\s*+$"
)
"""A method, or a function of C and its relatives: no keyword, but parameters and a block."""
_NO_METHODS: Final = frozenset(
    {"if", "for", "while", "switch", "catch", "match", "elif", "foreach", "unless", "until"}
    | {"when", "with", "using", "lock", "synchronized", "return", "else"}
)
_NO_CODE: Final = re.compile(
    r"\s*+(?:$|\#(?![A-Za-z])|\#include\b|@\w|//|/\*|\*(?:[\s/]|$)|--\s|<!--|\"\"\"|'''|;;"
    r"|(?:import|from|use|using|package)\b)"
)
"""A line that is blank, or begins a comment, docstring, decorator, attribute or import."""
_TOKEN: Final = re.compile(r"[\w$@]+|\S")


@dataclass(frozen=True, slots=True)
class CodeToken:
    """A name or another piece of a line.

    Attributes:
        line: Its line, 1-based.
        start: The characters before it.
        end: The characters up to its end.
        is_name: Whether it is a name that the line defines.
    """

    line: int
    start: int
    end: int
    is_name: bool


def first_token(lines: Sequence[str], numbers: Iterable[int]) -> CodeToken | None:
    """Return the name that the first line of code defines, else its first word.

    Comments, decorators and imports count only if there is nothing else. None if all is blank.

    Args:
        lines: The lines of a text.
        numbers: The lines to search, 1-based.
    """
    comment: CodeToken | None = None
    for number in islice(numbers, _MAX_LINES):
        line = lines[number - 1][:MAX_LINE] if 1 <= number <= len(lines) else ""
        if not _NO_CODE.match(line):
            span = defined_name(line)
            token = _TOKEN.search(line) if span is None else None
            if span is not None:
                return CodeToken(number, *span, is_name=True)
            if token is not None:
                return CodeToken(number, *token.span(), is_name=False)
        elif comment is None and (word := _TOKEN.search(line)) is not None:
            comment = CodeToken(number, *word.span(), is_name=False)
    return comment


def match_definition(line: str) -> re.Match[str] | None:
    """Match a line that defines something by a keyword; its group `name` may have a receiver."""
    return _DEFINING_LINE.match(line) if len(line) <= MAX_LINE else None


def defined_name(line: str) -> tuple[int, int] | None:
    """Return where the name is that a line defines, without a receiver; None without one."""
    match = match_definition(line) or _BINDING.match(line)
    if match is None:
        match = _METHOD.match(line)
        if match is None or match["name"] in _NO_METHODS:
            return None
    with_end = match["name"].rpartition(")")[2].lstrip()
    name = with_end.rstrip(":.#")
    start = match.end("name") - len(with_end)
    return (start, start + len(name)) if name else None
