"""Our pre-commit hook in a repository (R4): put in, taken out, looked at. What it runs is left to the commands.

There is one file for all projects of a repository. A hook that was there before is renamed, and called by ours; taking ours out
gives it its name back. What we have not written, or what was changed since, is never overwritten.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from vibes_lsp.errors import RefusedWrite
from vibes_lsp.history.hook_text import BEFORE, write_script
from vibes_lsp.history.hooks_folder import NAMES, find_ours, open_hooks, read_hook
from vibes_lsp.history.repository import Repository
from vibes_lsp.store.durability import refusal, replace, write_temporary


class Change(StrEnum):
    """What became of the hook."""

    INSTALLED = "installed"
    UPDATED = "updated"
    KEPT = "kept"
    REMOVED = "removed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Changed:
    """What was done.

    Attributes:
        file: The hook.
        change: What became of it.
        before: The hook that was there before and that ours runs, or that has its name again.
        in_work_tree: Whether its folder is part of the work tree, so that git may track it.
    """

    file: Path
    change: Change
    before: Path | None = None
    in_work_tree: bool = False


def install_hook(project: Path, *, program: str = "") -> Changed:
    """Have commits of a repository run the back-fill of a project.

    Args:
        project: The folder of a trail.
        program: What the hook runs where `vibes` is not on PATH. It is left out where the hook is part of the work tree.

    Raises:
        RefusedWrite: The project is in no work tree, the hooks are not the repository's own, or something is in the way.
    """
    repository, folder = open_hooks(project)
    name = _name(repository, project)
    if folder.configured is not None and not folder.reachable:
        raise RefusedWrite(
            f"core.hooksPath is {folder.configured!r}, which is not in this repository",
            hint="have its pre-commit hook run `vibes backfill --pre-commit`",
        )
    if not folder.reachable:
        raise RefusedWrite(f"{folder.path} is a link out of the repository", hint="put a folder there, or write the hook yourself")
    if folder.path.name == "_" and folder.path.parent.name == ".husky":
        raise RefusedWrite(
            f"the hooks in {folder.path} are made anew by husky", hint="add the line `vibes backfill --pre-commit` to .husky/pre-commit"
        )
    file, found = find_ours(folder.path)
    if found is not None and not found.intact:
        raise _edited(file)
    projects = {name, *(found.projects if found else ())}
    text = write_script(projects, "" if folder.in_work_tree or "\n" in program else program)
    before = folder.path / BEFORE
    done = Changed(file, Change.KEPT, before if os.path.lexists(before) else None, folder.in_work_tree)
    if found is not None:
        if read_hook(file) == text and os.access(file, os.X_OK):
            return done
        _put(file, text)
        return Changed(file, Change.UPDATED, done.before, folder.in_work_tree)
    moved = _move_away(file, before)
    try:
        _put(file, text)
    except RefusedWrite:
        if moved:
            before.rename(file)
        raise
    return Changed(file, Change.INSTALLED, before if os.path.lexists(before) else None, folder.in_work_tree)


def remove_hook(project: Path) -> Changed:
    """Take a project out of the hook; with the last one the hook goes, and what was there before has its name again.

    Raises:
        RefusedWrite: The project is in no work tree, or the hook was changed since it was written.
    """
    repository, folder = open_hooks(project)
    name = _name(repository, project)
    done = Changed(folder.path / NAMES[0], Change.ABSENT, in_work_tree=folder.in_work_tree)
    for place in dict.fromkeys((folder.path, folder.own)):
        file, found = find_ours(place)
        if found is None:
            continue
        if not found.intact:
            raise _edited(file)
        left = set(found.projects) - {name}
        if left == set(found.projects):
            continue
        before = place / BEFORE
        restored = not left and os.path.lexists(before)
        try:
            if left:
                _put(file, write_script(left, found.program))
            elif restored:
                before.replace(file)
            else:
                file.unlink()
        except OSError as error:
            raise refusal(file, error) from error
        done = Changed(file, Change.REMOVED, file if restored else None, folder.in_work_tree)
    return done


def _name(repository: Repository, project: Path) -> str:
    name = repository.name_of(project)
    if any(ord(character) < 32 for character in name):
        raise RefusedWrite(
            f"the folder name {name!r} cannot stand in a hook", hint="have a hook of your own run `vibes backfill --pre-commit`"
        )
    return name


def _move_away(file: Path, before: Path) -> bool:
    if not os.path.lexists(file):
        return False
    if file.is_dir():
        raise RefusedWrite(f"{file} is a folder", hint="move it away; a hook is expected in its place")
    if os.path.lexists(before):
        raise RefusedWrite(
            f"{before} is there already, and {file.name} is not the hook that calls it",
            hint="some tool put its hook in the place of ours: decide which of the two to keep, and remove the other",
        )
    try:
        file.rename(before)
    except OSError as error:
        raise refusal(before, error) from error
    return True


def _put(file: Path, text: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refusal(file.parent, error) from error
    temporary = write_temporary(file.parent, text)
    with suppress(OSError):
        temporary.chmod(0o755)
    replace(temporary, file)


def _edited(file: Path) -> RefusedWrite:
    return RefusedWrite(f"{file} was changed since it was written", hint="take our lines out by hand, or move it away")
