"""The user's cache folder; what is in it may disappear at any time.

It is used only if no other user can write to it. A cache folder inside a project is not used
either: projects are untrusted. The user's home does not count as one, even if it is a
repository of settings: who can write files there can also change what the shell runs. Any problem
with a folder silently disables the cache, which only costs time.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from vibes_lsp.store.trail_search import AUDIT_DIR_NAME

_NAME: Final = "vibes-lsp"
_CACHE_FOLDERS: Final = {"win32": ("LOCALAPPDATA",), "darwin": ("HOME", "Library", "Caches")}
_DEFAULT_CACHE_FOLDER: Final = ("HOME", ".cache")
"""An environment variable and folders below its value."""
_PROJECT_MARKERS: Final = (".git", AUDIT_DIR_NAME)


def cache_subfolder(name: str) -> Path | None:
    """Return a folder of the cache for databases of a kind; None if there can be none."""
    base = _folder(os.environ, sys.platform)
    if base is None:
        return None
    try:
        for folder in (base, base / name):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(folder):
                return None
    except (OSError, ValueError):
        return None
    return base / name


def database_name(kind: str, path: str) -> str:
    """Return the name of a database about a path; machines may share a home, not its paths.

    Args:
        kind: What is in the database.
        path: The path, resolved.
    """
    host = os.environ.get("COMPUTERNAME", "") if sys.platform == "win32" else os.uname().nodename
    place = os.fsencode(host) + b"\0" + os.fsencode(path)
    return f"{kind}-{hashlib.sha256(place).hexdigest()[:32]}"


def _folder(environ: Mapping[str, str], platform: str) -> Path | None:
    """Return the cache folder; None if it is unknown or inside a project."""
    parts: tuple[str, ...]
    base, parts = environ.get("XDG_CACHE_HOME", ""), (_NAME,)
    if not os.path.isabs(base):  # noqa: PTH117  # the XDG specification says to ignore those
        variable, *parents = _CACHE_FOLDERS.get(platform, _DEFAULT_CACHE_FOLDER)
        base, parts = environ.get(variable, ""), (*parents, _NAME)
    if not os.path.isabs(base):  # noqa: PTH117
        return None
    try:
        folder = Path(base, *parts).resolve()
        marked = [
            parent
            for parent in folder.parents
            if any(os.path.lexists(f"{parent}/{mark}") for mark in _PROJECT_MARKERS)
        ]
        is_in_project = bool(marked) and marked != [_home()]
    except (OSError, RuntimeError, ValueError):
        return None
    return None if is_in_project else folder


def _home() -> Path | None:
    """Return the user's home as the system has it: a project may set `HOME`; None if unknown."""
    if sys.platform == "win32":
        return None
    import pwd  # noqa: PLC0415  # not on Windows

    try:
        return Path(pwd.getpwuid(os.geteuid()).pw_dir).resolve()
    except (KeyError, OSError, RuntimeError, ValueError):
        return None


def _is_private(folder: Path) -> bool:
    """Whether only the user can write to a folder."""
    try:
        status = os.lstat(folder)
    except (OSError, ValueError):
        return False
    if not stat.S_ISDIR(status.st_mode):
        return False
    return sys.platform == "win32" or (status.st_uid == os.geteuid() and not status.st_mode & 0o077)
