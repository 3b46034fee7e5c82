"""The files that set attributes, searched for a word: git is asked only where one has it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.store.file_stamps import FileStamp, file_stamp
from vibes_lsp.store.files import read_file

ATTRIBUTES: Final = ".gitattributes"
_MAX_FILE: Final = 1 << 20
"""Larger files are not searched: git is asked."""


def attributes_in_tree(prefix: str) -> Iterator[str]:
    """Yield the files of attributes that git reads for a folder, from the top.

    Args:
        prefix: The folder from the top of the work tree: empty, or ending with a slash.
    """
    parts = prefix.split("/")[:-1]
    yield ATTRIBUTES
    for number in range(1, len(parts) + 1):
        yield "/".join((*parts[:number], ATTRIBUTES))


def mentions(file: Path, *words: bytes) -> bool:
    """Whether a file has one of some words in lower case, or cannot be searched; not if missing."""
    stamp = file_stamp(file)
    return stamp is not None and _mentions(file, stamp, words)


@lru_cache(maxsize=4096)
def _mentions(file: Path, _stamp: FileStamp, words: tuple[bytes, ...]) -> bool:
    try:
        content = (read_file(file, limit=_MAX_FILE) or b"").lower()
    except (UnreadableFile, ValueError):
        return True
    return any(word in content for word in words)
