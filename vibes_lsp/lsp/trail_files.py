"""Notice in one look that nothing beside the log was written: 15 µs instead of 60.

Each part of a trail compares its files in its own way, and reads what changed. This only says that
none of them has anything to do. A log changes with every record, and is compared by itself.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from operator import attrgetter
from typing import Final, TypeAlias

from vibes_lsp.history.repository_state import RepositoryState
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import RACY_NS

_Stamp: TypeAlias = tuple[int, ...]
_MODIFIED: Final = 4
"""Which part of a stamp is the time."""
_stamp: Final[Callable[[os.stat_result], tuple[int, ...]]] = attrgetter(
    "st_mode", "st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns"
)
_stat: Final = os.stat
_access: Final = os.access


class TrailFiles:
    """The files of a trail and of its repository, as they were seen once.

    Args:
        files: Paths of files, which may be missing.
        folders: Paths of folders whose files count; their names are compared.
    """

    def __init__(self, files: list[str], folders: list[str]) -> None:
        looked = [(folder, _names(folder)) for folder in folders]
        within = [
            os.path.join(folder, name)  # noqa: PTH118
            for folder, names in looked
            for name in names or ()
        ]
        stamps = [(path, _stamp_of(path)) for path in (*files, *within)]
        self._folders = [(folder, names) for folder, names in looked if names is not None]
        self._files = [(path, stamp) for path, stamp in stamps if stamp is not None]
        self._missing = [path for path, found in (*looked, *stamps) if found is None]

    @classmethod
    def of(cls, directory: AuditDir, repository: RepositoryState) -> TrailFiles:
        """Look at the files beside a log, and at those that the repository's state depends on."""
        own = (directory.manifest, directory.config, *repository.files)
        return cls([*map(str, own)], [str(directory.journal), str(directory.pending_completions)])

    @property
    def is_settled(self) -> bool:
        """Whether all regular files are old enough for a later change to show."""
        now = time.time_ns()
        return not any(
            now - seen[_MODIFIED] <= RACY_NS and stat.S_ISREG(seen[0]) for _, seen in self._files
        )

    def are_unchanged(self) -> bool:
        """Whether all is as it was seen."""
        for path in self._missing:
            if _access(path, os.F_OK):
                return False
        try:
            for path, seen in self._files:
                if _stamp(_stat(path)) != seen:
                    return False
            for folder, names in self._folders:
                if os.listdir(folder) != names:  # noqa: PTH208
                    return False
        except (OSError, ValueError):
            return False
        return True


def _stamp_of(path: str) -> _Stamp | None:
    try:
        return _stamp(_stat(path))
    except (OSError, ValueError):
        return None


def _names(folder: str) -> list[str] | None:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except (OSError, ValueError):
        return None
