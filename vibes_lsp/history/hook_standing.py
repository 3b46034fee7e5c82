"""Whether commits run the back-fill, and if not, why: for `vibes doctor`, which changes nothing."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from vibes_lsp.history.hook_text import BEFORE, Script, write_script
from vibes_lsp.history.hooks_folder import NAMES, find_ours, open_hooks, read_hook
from vibes_lsp.history.repository import Repository

_COMMAND: Final = b"vibes backfill --pre-commit"
_FRAMEWORK: Final = ".pre-commit-config.yaml"
_FRAMEWORK_HOOK: Final = b"vibes-backfill"


class Standing(StrEnum):
    """Whether commits run the back-fill."""

    OURS = "ours"
    OTHERS = "others"
    NONE = "none"
    BROKEN = "broken"
    SHADOWED = "shadowed"


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at the hooks has found.

    Attributes:
        standing: Whether commits run the back-fill.
        file: The hook that it is about.
        message: What is there.
    """

    standing: Standing
    file: Path
    message: str


def look_at_hook(project: Path) -> Look:
    """Return whether commits of a project run its back-fill: by our hook, or by another one that calls it.

    Raises:
        RefusedWrite: The project is in no work tree, or git does not answer.
    """
    repository, folder = open_hooks(project)
    file, found = find_ours(folder.path)
    other = _other(repository, folder.path)
    if found is None:
        if other is not None:
            return Look(Standing.OTHERS, other, f"{other} runs the back-fill")
        shadowed, ours = find_ours(folder.own)
        if ours is not None:
            return Look(Standing.SHADOWED, shadowed, f"git does not run {shadowed}: core.hooksPath is {folder.configured!r}")
        if os.path.lexists(folder.path / BEFORE):
            return Look(Standing.BROKEN, file, f"{file} is not ours any more, though {BEFORE} beside it says that it was")
        return Look(Standing.NONE, file, "no pre-commit hook brings the trail up to date")
    trouble = _trouble(file, found, repository.name_of(project))
    return Look(Standing.BROKEN, file, f"{file} {trouble}") if trouble else Look(Standing.OURS, file, f"{file} brings the trail up to date")


def _trouble(file: Path, found: Script, name: str) -> str:
    if not found.intact:
        return "was changed since it was written"
    if not os.access(file, os.X_OK):
        return "may not be executed, so that git passes it over"
    if name not in found.projects:
        return "brings only trails of other projects up to date"
    if read_hook(file) != write_script(found.projects, found.program):
        return "is of another version of this program"
    if shutil.which("vibes") is None and not os.access(found.program or "vibes", os.X_OK):
        return "finds no program to run: `vibes` is not on PATH" + (f", and {found.program} is gone" if found.program else "")
    return ""


def _other(repository: Repository, folder: Path) -> Path | None:
    """Return a hook of somebody else's that runs the back-fill: one written by hand, husky's, or the pre-commit framework's."""
    for file in (folder / NAMES[0], folder.parent / NAMES[0]) if folder.name == "_" else (folder / NAMES[0],):
        if _COMMAND in read_hook(file):
            return file
    framework = repository.root / _FRAMEWORK
    runs = b"pre-commit" in read_hook(folder / NAMES[0]) and _FRAMEWORK_HOOK in read_hook(framework)
    return framework if runs else None
