"""The user's cache folder: what lies there may be lost at any time.

It is believed only where nobody but the user can have put it there. A project's own folders are untrusted, and so a
cache folder that lies in one is not used. Whatever is wrong with a folder or a file, nothing is read or
kept, and nobody is told: only time is lost.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from vibes_lsp.store.audit_dir import AUDIT_DIR_NAME

MAX_CACHED: Final = 8 << 20
"""Largest file that is kept, in bytes."""
_MAX_FILES: Final = 64
"""Files that are kept; the oldest go first."""
_NAME: Final = "vibes-lsp"
_PLACES: Final = {"win32": ("LOCALAPPDATA",), "darwin": ("HOME", "Library", "Caches")}
_ELSEWHERE: Final = ("HOME", ".cache")
"""A variable and folders below what it names."""
_DIGEST: Final = 32
_MARKS: Final = (".git", AUDIT_DIR_NAME)


def read_cached(name: str) -> bytes | None:
    """Return what was kept last under a name; None when nothing was, or it is not as it was written."""
    folder = _folder(os.environ, sys.platform)
    if folder is None or not _is_own(folder):
        return None
    try:
        with open(folder / name, "rb", opener=_opener) as file:  # Path.open takes no opener
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_CACHED + _DIGEST:
                return None
            whole = file.read()
    except (OSError, ValueError):
        return None
    data = whole[_DIGEST:]
    return data if hashlib.sha256(data).digest() == whole[:_DIGEST] else None


def write_cached(name: str, data: bytes) -> None:
    """Keep something under a name, whole or not at all."""
    folder = _folder(os.environ, sys.platform)
    if folder is None or len(data) > MAX_CACHED:
        return
    fresh = folder / f"{name}.{secrets.token_hex(8)}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_own(folder):
            return
        try:
            with open(fresh, "xb", opener=_opener) as file:
                file.write(hashlib.sha256(data).digest() + data)
            fresh.replace(folder / name)
        except OSError:
            fresh.unlink(missing_ok=True)
        _prune(folder)
    except (OSError, ValueError):
        return


def _folder(environ: Mapping[str, str], platform: str) -> Path | None:
    """Return where programs of this user keep such things; None where that is not known, or in somebody's project."""
    parts: tuple[str, ...]
    base, parts = environ.get("XDG_CACHE_HOME", ""), (_NAME,)
    if not os.path.isabs(base):  # noqa: PTH117  # which the XDG specification says to ignore
        variable, *parents = _PLACES.get(platform, _ELSEWHERE)
        base, parts = environ.get(variable, ""), (*parents, _NAME)
    if not os.path.isabs(base):  # noqa: PTH117
        return None
    try:
        folder = Path(base, *parts).resolve()
        is_in_project = any(
            os.path.lexists(parent / mark) for parent in folder.parents for mark in _MARKS
        )
    except (OSError, RuntimeError, ValueError):
        return None
    return None if is_in_project else folder


def _is_own(folder: Path) -> bool:
    """Whether nobody but the user can put anything into a folder."""
    try:
        status = os.lstat(folder)
    except (OSError, ValueError):
        return False
    if not stat.S_ISDIR(status.st_mode):
        return False
    return sys.platform == "win32" or (status.st_uid == os.geteuid() and not status.st_mode & 0o077)


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o600)


def _prune(folder: Path) -> None:
    with os.scandir(folder) as found:
        files = sorted(
            (entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in found
        )
    for _, path in files[:-_MAX_FILES]:
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108
