"""Wraps the prose of Markdown pages at 100 columns, and leaves what has lines of its own.

Tables, code, headings, comments and quotations stay as they are. A link's target is never broken,
a code span only if no line can hold it, and no line begins with a word that would start a list or
a heading there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

COLUMNS: Final = 100
_FENCE: Final = re.compile(r"\s*(```|~~~)")
_AS_IT_IS: Final = re.compile(r"\s*(\||#|<|>|!\[|\[[^\]]+\]:)|---$")
_ITEM: Final = re.compile(r"(?P<indent>\s*)(?P<mark>[-*]|\d+\.)\s+(?=\S)")
_WORDS: Final = re.compile(r"(?:`+[^`]*`+|\]\([^)]*\)|\S)+")
_STARTS_A_BLOCK: Final = re.compile(r"(?:[-+*=>|]|#+|\d+[.)]|<.*|```.*|~~~.*|!\[.*)$")


def wrapped(page: str) -> str:
    """Return a page with its paragraphs and items wrapped."""
    return "\n".join(_lines(page.split("\n")))


def _lines(lines: list[str]) -> Iterator[str]:
    paragraph: list[str] = []
    fence = ""
    is_code = is_in_list = False
    for line in lines:
        mark = _FENCE.match(line)
        is_code = _is_indented_code(line, may_be=is_code or not (paragraph or is_in_list))
        if is_code or fence or mark or not line.strip() or _AS_IT_IS.match(line):
            yield from _filled(paragraph)
            paragraph = []
            is_in_list = is_in_list and line[:1] in ("", " ")
            yield line
            if mark and not is_code and (not fence or mark[1] == fence):
                fence = "" if fence else mark[1]
        elif _ITEM.match(line):
            yield from _filled(paragraph)
            paragraph = [line]
            is_in_list = True
        else:
            is_in_list = is_in_list and (bool(paragraph) or line.startswith(" "))
            paragraph.append(line)
    yield from _filled(paragraph)


def _is_indented_code(line: str, *, may_be: bool) -> bool:
    """Whether a line is in a block of code that begins with four spaces; lists have none here."""
    return may_be and (line.startswith(" " * 4) or not line.strip())


def _filled(paragraph: list[str]) -> Iterator[str]:
    """Yield the lines of a paragraph or an item, whose later lines have the indent of its text."""
    if not paragraph:
        return
    item = _ITEM.match(paragraph[0])
    indent = " " * (len(paragraph[0]) - len(paragraph[0].lstrip(" ")))
    line = item[0].rstrip() if item else ""
    following = " " * (len(item["indent"]) + len(item["mark"]) + 1) if item else indent
    text = " ".join(paragraph)[len(item[0]) if item else 0 :]
    begun = False
    for word in _words(text):
        separator = " " if line.strip() else indent
        is_too_long = len(line) + len(separator) + len(word) > COLUMNS
        if begun and is_too_long and not _STARTS_A_BLOCK.match(word):
            yield line
            line = following + word
        else:
            line += separator + word
        begun = True
    yield line


def _words(text: str) -> Iterator[str]:
    for word in _WORDS.findall(text):
        yield from [word] if len(word) < COLUMNS else word.split()
