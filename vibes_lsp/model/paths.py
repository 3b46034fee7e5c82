"""Paths in records (RFC 7.3, R19): relative to the project, forward slashes. Others' are read for what they are."""

from __future__ import annotations

import posixpath
import re
from enum import StrEnum
from functools import lru_cache
from typing import Final


class PathKind(StrEnum):
    """Whether a recorded path can name a file of this project."""

    INSIDE = "inside"
    ABSOLUTE = "absolute"
    ESCAPING = "escaping"
    UNUSABLE = "unusable"


_ABSOLUTE: Final = re.compile(r"[/\\]|[A-Za-z]:|file:", re.IGNORECASE)


def path_kind(path: str) -> PathKind:
    """Classify a recorded path by its text alone; whether the file exists is not asked."""
    if not path.strip() or any(ord(character) < 32 for character in path):
        return PathKind.UNUSABLE
    if _ABSOLUTE.match(path):
        return PathKind.ABSOLUTE
    normal = normal_path(path)
    if normal == ".." or normal.startswith("../"):
        return PathKind.ESCAPING
    return PathKind.UNUSABLE if normal == "." else PathKind.INSIDE


@lru_cache(maxsize=1 << 16)
def normal_path(path: str) -> str:
    """Return the path as we compare it: forward slashes, no `./`, no doubled slash. Meant for relative paths."""
    return posixpath.normpath(path.replace("\\", "/")) if "\\" in path or "." in path or "//" in path else path
