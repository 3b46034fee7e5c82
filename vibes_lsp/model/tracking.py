"""Which files a project tracks (RFC 8.1, R26)."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Final

from vibes_lsp.model.gitignore import MAX_PATTERN, IgnorePattern, parse_pattern

MAX_PATTERNS: Final = 500
"""Patterns that are used; bounds the time for one path."""
_MAX_PATH: Final = 4096
"""Longest path of a file, in bytes; a longer one in a record names no file."""
_MAX_LEVELS: Final = 256
"""Folders above a file that are matched; a file that lies deeper is tracked."""


class Tracking:
    """The tracked files: those with a listed extension that no exclude pattern matches.

    Args:
        extensions: `tracked_extensions`; None means all files.
        excludes: `exclude_patterns`, matched like lines of a gitignore file. Invalid patterns and
            those beyond the limits exclude nothing.
    """

    def __init__(self, extensions: Sequence[str] | None, excludes: Sequence[str] = ()) -> None:
        self._extensions = (
            None if extensions is None else frozenset(extension.lower() for extension in extensions)
        )
        read = (parse_pattern(line) for line in excludes[:MAX_PATTERNS] if len(line) <= MAX_PATTERN)
        self._patterns = [pattern for pattern in read if pattern is not None]

    def tracks(self, path: str) -> bool:
        """Whether records about a project-relative path count in coverage, gates and risk."""
        if (
            self._extensions is not None
            and posixpath.splitext(path)[1].lower() not in self._extensions
        ):
            return False
        if not self._patterns:
            return True
        name = posixpath.normpath(path.removeprefix("/")).encode("utf-8", "surrogatepass")
        return len(name) > _MAX_PATH or not self._excludes(name)

    def _excludes(self, name: bytes) -> bool:
        ends = [at for at, byte in enumerate(name) if byte == _SLASH]
        if len(ends) > _MAX_LEVELS:
            return False
        folders = (name[:end] for end in ends)
        return any(self._matches(folder, is_folder=True) for folder in folders) or self._matches(
            name, is_folder=False
        )

    def _matches(self, name: bytes, *, is_folder: bool) -> bool:
        """Whether the last pattern that matches a file or folder excludes it."""
        pattern: IgnorePattern | None = next(
            (
                candidate
                for candidate in reversed(self._patterns)
                if candidate.matches(name, is_folder=is_folder)
            ),
            None,
        )
        return pattern is not None and not pattern.negated


_SLASH: Final = ord("/")
