"""Which folders of other users are safe to use: `safe.directory` in the user's settings of git.

Git reads it only from the settings of the user and of the system, and so do we. Git itself is not
started: a hook asks, before anything is known of the folder. Files that settings include are not
read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.store.files import read_file

_MAX_SETTINGS: Final = 1 << 20
"""Largest file of settings that is read, in bytes."""


def is_safe_directory(path: str) -> bool:
    """Return whether the user has declared a project safe, by itself or with all below a folder."""
    here = Path(os.path.realpath(path))
    folders = {f"{str(parent).rstrip('/')}/*" for parent in here.parents}
    return any(
        value == "*" or _expanded(value) in folders or _resolved(value) == here
        for value in _safe_directories()
    )


def _expanded(value: str) -> str:
    return os.path.expanduser(value)  # noqa: PTH111  # it never raises


def _resolved(value: str) -> Path:
    return Path(os.path.realpath(_expanded(value)))


def _safe_directories() -> list[str]:
    """Return the values of `safe.directory`; an empty value cancels those before it."""
    directories: list[str] = []
    for file in _settings():
        for value in _values(file):
            directories = [*directories, value] if value else []
    return directories


def _settings() -> Iterator[Path]:
    """Yield git's files of settings that are not a repository's, in git's order."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  # it never raises
    if os.environ.get("GIT_CONFIG_NOSYSTEM", "").lower() not in {"1", "true", "yes", "on"}:
        yield Path(os.environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig")
    named = os.environ.get("GIT_CONFIG_GLOBAL")
    if named is not None:
        yield Path(named)
        return
    yield Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git/config"
    yield home / ".gitconfig"


def _values(file: Path) -> Iterator[str]:
    try:
        content = read_file(file, limit=_MAX_SETTINGS) or b""
    except UnreadableFile:
        return
    is_safe = False
    for line in content.decode("utf-8", "replace").splitlines():
        rest = line.strip()
        if rest.startswith("["):
            section, _, rest = rest[1:].partition("]")
            is_safe = section.strip().lower() == "safe"
        name, _, value = rest.partition("=")
        if is_safe and name.strip().lower() == "directory":
            value = value.strip()
            if value.startswith('"'):
                yield value[1:].partition('"')[0]
            else:
                yield value.partition("#")[0].partition(";")[0].strip()
