"""Our pre-commit hook in a repository (R4): install, remove, inspect."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable, RefusedWrite
from vibes_lsp.history.git import run_git
from vibes_lsp.history.repository import Repository, open_repository
from vibes_lsp.maintenance.hook_script import PREVIOUS_HOOK, Script, read_script, write_script
from vibes_lsp.store.files import is_inside, replace_file, write_error, write_temporary

NAMES: Final = ("pre-commit", "pre-commit.legacy")
"""Where ours may be: the pre-commit framework, installed after it, renames it and runs it first."""
_MAX_HOOK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class HooksFolder:
    """Where git looks for hooks.

    Attributes:
        path: The folder, whether it is there or not.
        own: The repository's own one, which `core.hooksPath` may put out of use.
        configured: What `core.hooksPath` says; None when nothing does.
        reachable: Whether it is the repository's, or the work tree's, once links are resolved.
        in_work_tree: Whether it is part of the work tree.
    """

    path: Path
    own: Path
    configured: str | None
    reachable: bool
    in_work_tree: bool


def hooks_folder(repository: Repository) -> HooksFolder:
    """Return where git looks for hooks: `core.hooksPath` from the top of the work tree, else what all work trees share.

    Raises:
        HistoryUnavailable: Git does not answer.
    """
    common = repository.root / os.fsdecode(
        run_git(repository.root, "rev-parse", "--git-common-dir").rstrip(b"\n")
    )
    own = common / "hooks"
    configured = _configured(repository)
    path = own if configured is None else repository.root / configured
    in_work_tree = is_inside(path, repository.root) and not is_inside(path, common)
    reachable = configured != "" and (in_work_tree or is_inside(path, common))
    return HooksFolder(path, own, configured, reachable, in_work_tree)


def find_hook(folder: Path) -> tuple[Path, Script | None]:
    """Return our hook in a folder, and what it says; where there is none, the place that it would have."""
    for name in NAMES:
        script = read_script(read_hook(folder / name))
        if script is not None:
            return folder / name, script
    return folder / NAMES[0], None


def _configured(repository: Repository) -> str | None:
    """Return what the user's and the repository's settings say, behind the one that our own calls are made with."""
    said = run_git(
        repository.root,
        "config",
        "--show-scope",
        "-z",
        "--type=path",
        "--get-all",
        "core.hooksPath",
    )
    parts = [os.fsdecode(part) for part in said.split(b"\0")]
    values = [
        value for scope, value in zip(parts[::2], parts[1::2], strict=False) if scope != "command"
    ]
    return values[-1] if values else None


def open_hooks(project: Path) -> tuple[Repository, HooksFolder]:
    """Return the repository of a project, and where it has its hooks.

    Raises:
        RefusedWrite: The project is in no work tree, or git does not answer.
    """
    repository = open_repository(project)
    if repository is None:
        raise RefusedWrite(
            f"{project} is in no git work tree",
            hint="run `git init` first; hooks are a repository's",
        )
    try:
        return repository, hooks_folder(repository)
    except HistoryUnavailable as error:
        raise RefusedWrite(error.message, hint="hooks were left as they are") from error


def read_hook(file: Path) -> bytes:
    """Return the text of a hook; nothing for what is no regular file, or is too large to be one of ours."""
    try:
        status = file.lstat()
        return (
            file.read_bytes()
            if stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_HOOK
            else b""
        )
    except OSError:
        return b""


class HookChange(StrEnum):
    """What became of the hook."""

    INSTALLED = "installed"
    UPDATED = "updated"
    KEPT = "kept"
    REMOVED = "removed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class HookResult:
    """What was done.

    Attributes:
        file: The hook.
        change: What became of it.
        before: The hook that was there before and that ours runs, or that has its name again.
        in_work_tree: Whether its folder is part of the work tree, so that git may track it.
    """

    file: Path
    change: HookChange
    before: Path | None = None
    in_work_tree: bool = False


def install_hook(project: Path, *, program: str = "") -> HookResult:
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
        raise RefusedWrite(
            f"{folder.path} is a link out of the repository",
            hint="put a folder there, or write the hook yourself",
        )
    if folder.path.name == "_" and folder.path.parent.name == ".husky":
        raise RefusedWrite(
            f"the hooks in {folder.path} are made anew by husky",
            hint="add the line `vibes backfill --pre-commit` to .husky/pre-commit",
        )
    file, found = find_hook(folder.path)
    if found is not None and not found.intact:
        raise _edited(file)
    projects = {name, *(found.projects if found else ())}
    text = write_script(projects, "" if folder.in_work_tree or "\n" in program else program)
    before = folder.path / PREVIOUS_HOOK
    done = HookResult(
        file, HookChange.KEPT, before if os.path.lexists(before) else None, folder.in_work_tree
    )
    if found is not None:
        if read_hook(file) == text and os.access(file, os.X_OK):
            return done
        _put(file, text)
        return HookResult(file, HookChange.UPDATED, done.before, folder.in_work_tree)
    moved = _move_away(file, before)
    try:
        _put(file, text)
    except RefusedWrite:
        if moved:
            before.rename(file)
        raise
    return HookResult(
        file, HookChange.INSTALLED, before if os.path.lexists(before) else None, folder.in_work_tree
    )


def remove_hook(project: Path) -> HookResult:
    """Take a project out of the hook; with the last one the hook goes, and what was there before has its name again.

    Raises:
        RefusedWrite: The project is in no work tree, or the hook was changed since it was written.
    """
    repository, folder = open_hooks(project)
    name = _name(repository, project)
    done = HookResult(folder.path / NAMES[0], HookChange.ABSENT, in_work_tree=folder.in_work_tree)
    for place in dict.fromkeys((folder.path, folder.own)):
        file, found = find_hook(place)
        if found is None:
            continue
        if not found.intact:
            raise _edited(file)
        left = set(found.projects) - {name}
        if left == set(found.projects):
            continue
        before = place / PREVIOUS_HOOK
        restored = not left and os.path.lexists(before)
        try:
            if left:
                _put(file, write_script(left, found.program))
            elif restored:
                before.replace(file)
            else:
                file.unlink()
        except OSError as error:
            raise write_error(file, error) from error
        done = HookResult(file, HookChange.REMOVED, file if restored else None, folder.in_work_tree)
    return done


def _name(repository: Repository, project: Path) -> str:
    name = repository.relative_path(project)
    if any(ord(character) < 32 for character in name):
        raise RefusedWrite(
            f"the folder name {name!r} cannot stand in a hook",
            hint="have a hook of your own run `vibes backfill --pre-commit`",
        )
    return name


def _move_away(file: Path, before: Path) -> bool:
    if not os.path.lexists(file):
        return False
    if file.is_dir():
        raise RefusedWrite(
            f"{file} is a folder", hint="move it away; a hook is expected in its place"
        )
    if os.path.lexists(before):
        raise RefusedWrite(
            f"{before} is there already, and {file.name} is not the hook that calls it",
            hint="some tool put its hook in the place of ours: decide which of the two to keep, and remove the other",
        )
    try:
        file.rename(before)
    except OSError as error:
        raise write_error(before, error) from error
    return True


def _put(file: Path, text: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(file.parent, error) from error
    temporary = write_temporary(file.parent, text)
    with suppress(OSError):
        temporary.chmod(0o755)
    replace_file(temporary, file)


def _edited(file: Path) -> RefusedWrite:
    return RefusedWrite(
        f"{file} was changed since it was written",
        hint="take our lines out by hand, or move it away",
    )


_COMMAND: Final = b"vibes backfill --pre-commit"
_FRAMEWORK: Final = ".pre-commit-config.yaml"
_FRAMEWORK_HOOK: Final = b"vibes-backfill"


class HookStatus(StrEnum):
    """Whether commits run the back-fill."""

    OURS = "ours"
    OTHERS = "others"
    NONE = "none"
    BROKEN = "broken"
    SHADOWED = "shadowed"


@dataclass(frozen=True, slots=True)
class HookReport:
    """What a look at the hooks has found.

    Attributes:
        status: Whether commits run the back-fill.
        file: The hook that it is about.
        message: What is there.
    """

    status: HookStatus
    file: Path
    message: str


def inspect_hook(project: Path) -> HookReport:
    """Return whether commits of a project run its back-fill: by our hook, or by another one that calls it.

    Raises:
        RefusedWrite: The project is in no work tree, or git does not answer.
    """
    repository, folder = open_hooks(project)
    file, found = find_hook(folder.path)
    other = _other(repository, folder.path)
    if found is None:
        if other is not None:
            return HookReport(HookStatus.OTHERS, other, f"{other} runs the back-fill")
        shadowed, ours = find_hook(folder.own)
        if ours is not None:
            return HookReport(
                HookStatus.SHADOWED,
                shadowed,
                f"git does not run {shadowed}: core.hooksPath is {folder.configured!r}",
            )
        if os.path.lexists(folder.path / PREVIOUS_HOOK):
            return HookReport(
                HookStatus.BROKEN,
                file,
                f"{file} is not ours any more, though {PREVIOUS_HOOK} beside it says that it was",
            )
        return HookReport(HookStatus.NONE, file, "no pre-commit hook brings the trail up to date")
    trouble = _trouble(file, found, repository.relative_path(project))
    return (
        HookReport(HookStatus.BROKEN, file, f"{file} {trouble}")
        if trouble
        else HookReport(HookStatus.OURS, file, f"{file} brings the trail up to date")
    )


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
        return "finds no program to run: `vibes` is not on PATH" + (
            f", and {found.program} is gone" if found.program else ""
        )
    return ""


def _other(repository: Repository, folder: Path) -> Path | None:
    """Return a hook of somebody else's that runs the back-fill: one written by hand, husky's, or the pre-commit framework's."""
    for file in (
        (folder / NAMES[0], folder.parent / NAMES[0])
        if folder.name == "_"
        else (folder / NAMES[0],)
    ):
        if _COMMAND in read_hook(file):
            return file
    framework = repository.root / _FRAMEWORK
    runs = b"pre-commit" in read_hook(folder / NAMES[0]) and _FRAMEWORK_HOOK in read_hook(framework)
    return framework if runs else None
