"""Paths in records (RFC 7.3, R19): relative to the project, with forward slashes."""

from __future__ import annotations

import posixpath
import re
from enum import StrEnum
from functools import lru_cache
from typing import Final


class PathKind(StrEnum):
    """Whether a recorded path can name a file of this project.

    Attributes:
        INSIDE: It can.
        ABSOLUTE: It is not relative to the project.
        ESCAPING: It leads out of the project with `..`.
        UNUSABLE: It is empty, names the project itself or has a NUL, which no system allows.
        TOO_LONG: It is longer than `MAX_PATH`.
    """

    INSIDE = "inside"
    ABSOLUTE = "absolute"
    ESCAPING = "escaping"
    UNUSABLE = "unusable"
    TOO_LONG = "too-long"


MAX_PATH: Final = 4096
"""Longest path of a file, in bytes: the limit of operating systems and git."""

_ABSOLUTE: Final = re.compile(r"[/\\]|[A-Za-z]:|file:", re.IGNORECASE)
_is_plain: Final = re.compile(r"[\w-][\w.-]*+(?>(?:/[\w-][\w.-]*+)*)", re.ASCII).fullmatch
"""Whether a path is in normal form, by its text alone: a third of the time for most paths."""


def path_kind(path: str) -> PathKind:
    """Classify a recorded path by its text alone, without looking for the file."""
    if len(path) <= MAX_PATH and _is_plain(path):
        return PathKind.INSIDE
    if not path or "\0" in path:
        return PathKind.UNUSABLE
    if _ABSOLUTE.match(path):
        return PathKind.TOO_LONG if is_too_long(path) else PathKind.ABSOLUTE
    normal = normal_path(path)
    if is_too_long(normal):
        return PathKind.TOO_LONG
    if normal == ".." or normal.startswith("../"):
        return PathKind.ESCAPING
    return PathKind.UNUSABLE if normal == "." else PathKind.INSIDE


def is_too_long(path: str) -> bool:
    """Whether a path is too long for any file."""
    return len(path) > MAX_PATH or (
        4 * len(path) > MAX_PATH and len(path.encode("utf-8", "surrogatepass")) > MAX_PATH
    )


def can_be_in_project(path: str) -> bool:
    """Whether some system allows this path in the project, or it is the project itself."""
    return "\0" not in path and path_kind(path) not in {
        PathKind.ABSOLUTE,
        PathKind.ESCAPING,
        PathKind.TOO_LONG,
    }


@lru_cache(maxsize=1 << 16)
def normal_path(path: str) -> str:
    """Return a relative path in normal form: forward slashes, no `./`, no doubled slash."""
    return (
        posixpath.normpath(path.replace("\\", "/"))
        if "\\" in path or "." in path or "//" in path
        else path
    )
