"""Files of the server's folder: read, replaced as a whole, and read again when they change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final, Generic, TypeVar

from vibes_lsp.errors import MalformedJson, VibesError
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members
from vibes_lsp.store.file_stamps import FileStamp
from vibes_lsp.store.files import (
    flush_folder,
    read_file,
    regular_file_stamp,
    replace_file,
    write_error,
    write_temporary,
)
from vibes_lsp.store.locks import FileLock, LockHandle

MAX_STATE: Final = 1 << 20
_LOCK_NAME: Final = ".lock"
_PRIVATE: Final = 0o600

_T = TypeVar("_T")


class ReloadedFile(Generic[_T]):
    """A JSON file whose parsed content is read again when the file changes.

    So keys rotate and tokens are revoked without a restart. A file that is broken or missing
    raises an error at each use: an old token must not outlive its revocation.

    Args:
        path: The file.
        parse: Makes the value from its members.
    """

    def __init__(self, path: Path, parse: Callable[[Members], _T]) -> None:
        self._path = path
        self._parse = parse
        self._loaded: tuple[FileStamp, _T] | None = None

    def get(self) -> _T:
        """Return the value of the file as it is now.

        Raises:
            VibesError: It cannot be read or parsed.
        """
        stamp = regular_file_stamp(self._path)
        if stamp is None:
            raise VibesError(f"{self._path} does not exist")
        if self._loaded is None or self._loaded[0] != stamp:
            self._loaded = None
            members = read_state(self._path)
            if members is None:
                raise VibesError(f"{self._path} does not exist")
            self._loaded = stamp, self._parse(members)
        return self._loaded[1]


def lock_folder(folder: Path, *, creates: bool = False) -> LockHandle:
    """Return the lock of a server's folder, for a `with` block that changes its files.

    Args:
        folder: The folder.
        creates: Whether to create the folder if it is missing.

    Raises:
        VibesError: There is no such folder.
        RefusedWrite: It cannot be created, or another command holds the lock for too long.
    """
    if creates:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise write_error(folder, error) from error
    elif not folder.is_dir():
        raise VibesError(f"{folder} is not a folder", hint="expected the folder of a server")
    return FileLock(folder / _LOCK_NAME).acquire()


def read_state(path: Path) -> Members | None:
    """Return the members of a JSON file; None if there is none.

    Raises:
        VibesError: It cannot be read or is not a JSON object.
    """
    data = read_file(path, limit=MAX_STATE)
    if data is None:
        return None
    try:
        return parse_object(data)
    except MalformedJson as error:
        raise VibesError(
            f"{path}: {error.message}", hint="repair the file or restore it from a backup"
        ) from None


def write_state(path: Path, members: Members, *, private: bool = True) -> None:
    """Replace a JSON file in one step and flush it to the disk.

    Args:
        path: The file.
        members: Its content.
        private: Whether only the owner may read it.

    Raises:
        RefusedWrite: The folder is not writable.
    """
    data = json.dumps(members, indent=2, ensure_ascii=False).encode() + b"\n"
    temporary = write_temporary(path.parent, data)
    if private:
        temporary.chmod(_PRIVATE)
    replace_file(temporary, path)
    flush_folder(path.parent)
