"""Attributes of files as git has them, and the files that set them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.git.process import run_git
from vibes_lsp.store.files import read_file

ATTRIBUTES: Final = ".gitattributes"
NOT_SET: Final = frozenset({"unspecified", "unset"})
"""The values of an attribute that a file does not have."""
_MAX_FILE: Final = 1 << 20
"""Larger files are not searched."""


def attribute_values(
    folder: Path, names: Iterable[str], *attributes: str
) -> dict[str, dict[str, str]]:
    """Return the values of some attributes, by file.

    Args:
        folder: A folder of the work tree.
        names: The files, relative to it or absolute.
        attributes: The names of the attributes.

    Raises:
        HistoryUnavailable: Git fails.
    """
    asked = b"".join(b"%b\0" % os.fsencode(name) for name in names)
    fields = run_git(folder, "check-attr", "-z", "--stdin", *attributes, stdin=asked).split(b"\0")
    values: dict[str, dict[str, str]] = defaultdict(dict)
    for path, name, value in zip(fields[0::3], fields[1::3], fields[2::3], strict=False):
        values[os.fsdecode(path)][name.decode()] = value.decode("utf-8", "replace")
    return values


def attributes_in_tree(path: str) -> Iterator[str]:
    """Yield the files of attributes that git reads for a file, from the top of the work tree.

    Args:
        path: The file, from the top of the work tree.
    """
    parts = path.split("/")[:-1]
    yield ATTRIBUTES
    for number in range(1, len(parts) + 1):
        yield "/".join((*parts[:number], ATTRIBUTES))


def mentions(file: Path, word: bytes) -> bool:
    """Whether a file has a word in lower case, or cannot be searched; not if it is missing."""
    try:
        return word in (read_file(file, limit=_MAX_FILE) or b"").lower()
    except (UnreadableFile, ValueError):
        return True
