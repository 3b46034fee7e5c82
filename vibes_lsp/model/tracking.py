"""Which files a project tracks (RFC 8.1, R26)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

import pathspec


class Tracking:
    """Decides whether a path is tracked: its extension is listed, and no exclude pattern matches it.

    Args:
        extensions: `tracked_extensions`; None means all files.
        excludes: `exclude_patterns`, with the semantics of gitignore lines; what is no pattern excludes nothing.
    """

    def __init__(self, extensions: Sequence[str] | None, excludes: Sequence[str] = ()) -> None:
        self._extensions = None if extensions is None else frozenset(extension.lower() for extension in extensions)
        self._excludes = pathspec.GitIgnoreSpec.from_lines(filter(_is_pattern, excludes))

    def tracks(self, path: str) -> bool:
        """Whether records about this project-relative path count in coverage, gates and risk."""
        if self._extensions is not None and posixpath.splitext(path)[1].lower() not in self._extensions:
            return False
        return not self._excludes.match_file(path)


def _is_pattern(line: str) -> bool:
    try:
        pathspec.GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):  # git passes over such a line, too
        return False
    return True
