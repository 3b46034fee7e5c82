"""Texts of programs that decode a file, as the file has them. Pure.

A `Text` has the bytes of a file that is not UTF-8 as lone surrogates, while agents and editors give
characters. Which encoding they decoded is not guessed: one of the common ones must give the bytes
of lines that the file has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from vibes_lsp.anchors.text import has_surrogates

_ENCODINGS: Final = (
    "cp1252", "latin-1", "iso8859-15", "iso8859-2", "cp1250", "cp1251", "koi8-r", "cp1253",
    "cp1254", "cp1255", "cp1256", "cp437", "cp850", "cp852", "cp866", "mac-roman", "shift_jis",
    "euc_jp", "gb18030", "big5", "euc_kr",
)  # fmt: skip
"""Tried in this order; of those that fit equally the first counts, which gives the same bytes."""


class UnknownEncoding(Exception):
    """A file is not UTF-8, and in no encoding that is tried it has the lines of another text."""


def encoding_of(saved: str, texts: Iterable[str]) -> str | None:
    """Return the encoding in which a saved text has lines of others; None if none is needed.

    Args:
        saved: The text of the file; invalid UTF-8 as lone surrogates.
        texts: What another program says of the same file.

    Raises:
        UnknownEncoding: None fits.
    """
    if not has_surrogates(saved):
        return None
    wanted = {line for text in texts for line in _lines(text) if not line.isascii()}
    there = set(_lines(saved))
    most, best = 0, None
    for encoding in _ENCODINGS:
        count = sum(in_encoding(line, encoding) in there for line in wanted)
        if count > most:
            most, best = count, encoding
    if wanted and best is None:
        raise UnknownEncoding
    return best


def in_encoding(text: str, encoding: str) -> str:
    """Return a text as a file in an encoding has it; as it is if the encoding lacks a character."""
    try:
        return text.encode(encoding).decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text


def as_saved(text: str, saved: str) -> str:
    """Return a text as its file has it."""
    try:
        encoding = None if text.isascii() else encoding_of(saved, [text])
    except UnknownEncoding:
        return text
    return text if encoding is None else in_encoding(text, encoding)


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.split("\n")]
