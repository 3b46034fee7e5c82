"""Write our hooks into agents' configuration files, and remove them.

A file that cannot be parsed is refused and stays as it is. Files are replaced whole, with their
permissions, and no link is followed out of a project.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vibes_lsp.agents.agent import Scope
from vibes_lsp.agents.setup.configuration import ConfigurationFile
from vibes_lsp.agents.setup.hook_configuration import HookState
from vibes_lsp.agents.setup.json_edits import MisplacedMember
from vibes_lsp.agents.setup.whole_files import ForeignFile, WholeFile
from vibes_lsp.errors import MalformedJson, RefusedWrite, UnreadableFile, VibesError
from vibes_lsp.maintenance.hook_installation import HookChange
from vibes_lsp.store.files import (
    flush_folder,
    is_inside,
    read_file,
    replace_file,
    write_error,
    write_temporary,
)

_UNUSABLE: Final = (MalformedJson, MisplacedMember, ForeignFile)
"""Why a file is refused as it is."""
_MAX_FILE: Final = 1 << 20
"""Largest configuration that is read, in bytes."""


@dataclass(frozen=True, slots=True)
class ConfigurationChange:
    """What was done to a configuration file."""

    path: Path
    change: HookChange


def add_to_files(files: Sequence[ConfigurationFile]) -> tuple[ConfigurationChange, ...]:
    """Write our hooks into files, or bring them up to date; others' content stays.

    Raises:
        RefusedWrite: One cannot be read, parsed or written, or leads out of the project. None was
            changed, except after a failure to write.
    """
    planned = []
    for file in files:
        path = _real_path(file)
        before = _read(path)
        try:
            planned.append((file, path, before, file.configuration.add(before)))
        except _UNUSABLE as error:
            raise _refusal(path, error) from error
    return tuple(_add(*change) for change in planned)


def _add(
    file: ConfigurationFile, path: Path, before: str | None, after: str
) -> ConfigurationChange:
    is_executable = isinstance(file.configuration, WholeFile) and file.configuration.is_executable
    if after == before and not (is_executable and not os.access(path, os.X_OK)):
        return ConfigurationChange(file.path, HookChange.KEPT)
    _write(path, after, is_executable=is_executable, is_new=before is None)
    return ConfigurationChange(
        file.path, HookChange.INSTALLED if before is None else HookChange.UPDATED
    )


def remove_from_files(files: Sequence[ConfigurationFile]) -> tuple[ConfigurationChange, ...]:
    """Remove our hooks from files; delete those that are ours, with folders that are empty then.

    Raises:
        RefusedWrite: As for `add_to_files`.
    """
    planned = []
    for file in files:
        path = _real_path(file)
        before = _read(path)
        try:
            after = None if before is None else file.configuration.remove(before)
        except _UNUSABLE as error:
            raise _refusal(path, error) from error
        planned.append((file, path, before, after))
    return tuple(_remove(*change) for change in planned)


def _remove(
    file: ConfigurationFile, path: Path, before: str | None, after: str | None
) -> ConfigurationChange:
    if after == before:
        return ConfigurationChange(file.path, HookChange.ABSENT)
    if after is not None:
        _write(path, after, is_executable=False, is_new=False)
        return ConfigurationChange(file.path, HookChange.REMOVED)
    try:
        path.unlink()
    except OSError as error:
        raise write_error(path, error) from error
    _remove_empty_folders(path.parent, file.top)
    return ConfigurationChange(file.path, HookChange.REMOVED)


def inspect_file(file: ConfigurationFile) -> HookState:
    """Return whether a file runs `vibes hook`.

    Raises:
        RefusedWrite: It cannot be read or parsed, or leads out of the project.
    """
    path = _real_path(file)
    text = _read(path)
    if text is None:
        return HookState.ABSENT
    try:
        return file.configuration.inspect(text)
    except _UNUSABLE as error:
        raise _refusal(path, error) from error


def _real_path(file: ConfigurationFile) -> Path:
    """Return where the links of a path lead, which must not be outside the project."""
    if file.scope is Scope.PROJECT and not is_inside(file.path, file.top):
        raise RefusedWrite(
            f"{file.path} is not in the project, or a link leads out of it",
            hint="expected a file of the project; nothing was changed",
        )
    try:
        return file.path.resolve()
    except (OSError, RuntimeError) as error:
        raise RefusedWrite(f"{file.path}: its links form a loop") from error


def _read(path: Path) -> str | None:
    try:
        content = read_file(path, limit=_MAX_FILE)
        return None if content is None else content.decode("utf-8")
    except UnreadableFile as error:
        raise RefusedWrite(f"{path}: {error.message}", hint=error.hint) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise RefusedWrite(
            f"{path}: line {line} is not UTF-8", hint="nothing was changed; correct the file"
        ) from error


def _refusal(path: Path, error: VibesError) -> RefusedWrite:
    hint = (
        "move the file away, or add what is missing by hand"
        if isinstance(error, ForeignFile)
        else "nothing was changed; correct the file"
    )
    return RefusedWrite(f"{path}: {error.message}", hint=hint)


def _write(path: Path, text: str, *, is_executable: bool, is_new: bool) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(path.parent, error) from error
    temporary = write_temporary(path.parent, text.encode(), like=None if is_new else path)
    if is_executable:
        with suppress(OSError):
            temporary.chmod(temporary.stat().st_mode | 0o111)
    replace_file(temporary, path)
    flush_folder(path.parent)


def _remove_empty_folders(folder: Path, top: Path) -> None:
    top = top.resolve()
    with suppress(OSError):  # a folder is not empty
        while folder != top and folder.is_relative_to(top):
            folder.rmdir()
            folder = folder.parent
