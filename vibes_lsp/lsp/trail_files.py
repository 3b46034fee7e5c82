"""Notice in one look that nothing which answers depend on was written: 20 µs instead of 150.

Each part of a trail compares its files in its own way, and reads what changed. This only says that
none of them has anything to do.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Final, TypeAlias

from vibes_lsp.history.repository_state import RepositoryState
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import RACY_NS

_Stamp: TypeAlias = tuple[int, ...] | None
_stamp: Final[Callable[[os.stat_result], tuple[int, ...]]] = attrgetter(
    "st_mode", "st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns"
)


class TrailFiles:
    """The files of a trail and of its repository, as they were seen once.

    Args:
        files: Paths of files, which may be missing.
        folders: Paths of folders whose files count; their names are compared.
    """

    def __init__(self, files: list[str], folders: list[str]) -> None:
        self._folders = [(folder, _names(folder)) for folder in folders]
        within = [
            os.path.join(folder, name)  # noqa: PTH118  # strings: every answer looks
            for folder, names in self._folders
            for name in names or ()
        ]
        self._files = [(path, _stamp_of(path)) for path in (*files, *within)]

    @classmethod
    def of(cls, directory: AuditDir, repository: RepositoryState) -> TrailFiles:
        """Look at the files of a trail, and at those that the repository's state depends on."""
        own = (directory.log, directory.manifest, directory.config, *repository.files)
        return cls([*map(str, own)], [str(directory.journal), str(directory.pending_completions)])

    @property
    def is_settled(self) -> bool:
        """Whether all regular files are old enough for a later change to show."""
        now = time.time_ns()
        return all(now - modified > RACY_NS for modified in self._modified())

    def are_unchanged(self) -> bool:
        """Whether all is as it was seen."""
        return all(_stamp_of(path) == seen for path, seen in self._files) and all(
            _names(folder) == seen for folder, seen in self._folders
        )

    def _modified(self) -> Iterator[int]:
        for _, seen in self._files:
            if seen is not None and stat.S_ISREG(seen[0]):
                yield seen[4]


def _stamp_of(path: str) -> _Stamp:
    try:
        return _stamp(os.stat(path))  # noqa: PTH116  # strings: every answer looks
    except (OSError, ValueError):
        return None


def _names(folder: str) -> list[str] | None:
    try:
        return os.listdir(folder)  # noqa: PTH208  # strings: every answer looks
    except (OSError, ValueError):
        return None
