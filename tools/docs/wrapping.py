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
    for line in lines:
        mark = _FENCE.match(line)
        if fence or mark:
            yield from _filled(paragraph)
            paragraph = []
            yield line
            if mark and (not fence or mark[1] == fence):
                fence = "" if fence else mark[1]
            continue
        if not line.strip() or _AS_IT_IS.match(line):
            yield from _filled(paragraph)
            paragraph = []
            yield line
        elif _ITEM.match(line):
            yield from _filled(paragraph)
            paragraph = [line]
        else:
            paragraph.append(line)
    yield from _filled(paragraph)


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
