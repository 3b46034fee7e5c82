"""Folders of the server outside all projects, in the system's folder of temporary files.

A server that is killed deletes nothing; the next one that needs such a folder does it then. Who
uses a folder holds the lock in it, which the system releases with the process.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store.files import write_error
from vibes_lsp.store.locks import FileLock

_PREFIX: Final = "vibes-lsp-"
_LOCK: Final = "used.lock"


class TemporaryFolder:
    """A new folder that only this user may enter.

    Attributes:
        path: It.

    Raises:
        RefusedWrite: It cannot be created.
    """

    def __init__(self) -> None:
        top = tempfile.gettempdir()
        _remove_abandoned(top)
        try:
            self.path: Final = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
        except OSError as error:
            raise write_error(Path(top), error) from error
        self._lock: Final = FileLock(self.path / _LOCK).acquire()

    def remove(self) -> None:
        """Delete it, with all that is in it."""
        with self._lock:
            pass  # Windows deletes no open file
        shutil.rmtree(self.path, ignore_errors=True)


def _remove_abandoned(top: str) -> None:
    """Delete the folders of this user's servers that were killed."""
    user = os.geteuid() if os.name == "posix" else 0
    with suppress(OSError), os.scandir(top) as found:
        for entry in found:
            if (
                entry.name.startswith(_PREFIX)
                and entry.is_dir(follow_symlinks=False)
                and entry.stat(follow_symlinks=False).st_uid == user
                and _is_abandoned(Path(entry.path) / _LOCK)
            ):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_abandoned(lock: Path) -> bool:
    if not lock.is_file():  # it is being created or deleted
        return False
    try:
        handle = FileLock(lock).try_acquire()
    except RefusedWrite:
        return False
    if handle is None:
        return False
    with handle:
        return True
