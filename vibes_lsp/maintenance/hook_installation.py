"""Install, remove and inspect the pre-commit hook of a repository (R4)."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable, RefusedWrite, UnreadableFile
from vibes_lsp.git.process import run_git
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.maintenance.hook_script import PREVIOUS_HOOK, HookScript, read_script, write_script
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import is_inside, read_file, replace_file, write_error, write_temporary
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME
from vibes_lsp.store.waiting import register_hook, unregister_hook, waiting_place

NAMES: Final = ("pre-commit", "pre-commit.legacy")
"""Its file names: the pre-commit framework, installed later, renames it and runs it first."""
_MAX_HOOK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class HooksFolder:
    """Where git looks for hooks.

    Attributes:
        path: The folder, which need not exist.
        own: The repository's own folder, which `core.hooksPath` may override.
        configured: The value of `core.hooksPath`; None if unset.
        reachable: Whether it is inside the repository or the work tree, with links resolved.
        in_work_tree: Whether it is part of the work tree.
    """

    path: Path
    own: Path
    configured: str | None
    reachable: bool
    in_work_tree: bool


def hooks_folder(repository: Repository) -> HooksFolder:
    """Return where git looks for hooks: `core.hooksPath`, else the folder of all work trees.

    Raises:
        HistoryUnavailable: Git fails.
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


def find_hook(folder: Path) -> tuple[Path, HookScript | None]:
    """Return the hook in a folder, or where it would be installed, and its content."""
    for name in NAMES:
        script = read_script(read_hook(folder / name))
        if script is not None:
            return folder / name, script
    return folder / NAMES[0], None


def _configured(repository: Repository) -> str | None:
    """Return `core.hooksPath` from the settings, ignoring the value on our own command line."""
    output = run_git(
        repository.root,
        "config",
        "--show-scope",
        "-z",
        "--type=path",
        "--get-all",
        "core.hooksPath",
    )
    parts = [os.fsdecode(part) for part in output.split(b"\0")]
    values = [
        value for scope, value in zip(parts[::2], parts[1::2], strict=False) if scope != "command"
    ]
    return values[-1] if values else None


def open_hooks(project: Path) -> tuple[Repository, HooksFolder]:
    """Return a project's repository and its hooks folder.

    Raises:
        RefusedWrite: The project is outside a git work tree, or git fails.
    """
    repository = open_repository(project)
    if repository is None:
        raise RefusedWrite(
            f"{project} is not in a git work tree",
            hint="run `git init` first",
        )
    try:
        return repository, hooks_folder(repository)
    except HistoryUnavailable as error:
        raise RefusedWrite(error.message, hint="no hook was changed") from error


def read_hook(file: Path) -> bytes:
    """Return the text of a hook; empty unless it is a regular file of at most 1 MiB."""
    try:
        return b"" if file.is_symlink() else read_file(file, limit=_MAX_HOOK) or b""
    except UnreadableFile:
        return b""


class HookChange(StrEnum):
    """What was done to the hook."""

    INSTALLED = "installed"
    UPDATED = "updated"
    KEPT = "kept"
    REMOVED = "removed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class HookResult:
    """The result of installing or removing the hook.

    Attributes:
        file: The hook.
        change: What was done to it.
        before: The previous hook that this one runs, or that was restored.
        in_work_tree: Whether its folder is part of the work tree, so that git may track it.
    """

    file: Path
    change: HookChange
    before: Path | None = None
    in_work_tree: bool = False


def install_hook(project: Path, *, program: str = "") -> HookResult:
    """Install the hook, or add a project to it; its records wait for commits from now on.

    Args:
        project: The folder of a trail.
        program: What the hook runs if `vibes` is not on PATH. Left out if the hook is part of the
            work tree.

    Raises:
        RefusedWrite: There is no work tree, the hooks folder is outside the repository, or another
            file is in the way.
    """
    repository, folder = open_hooks(project)
    done = _install(repository, folder, project, program)
    directory = AuditDir(project / AUDIT_DIR_NAME)
    place = waiting_place(directory)
    if place is not None and not repository.is_ignored(directory.log):
        register_hook(place, done.file)
    return done


def update_hook(project: Path) -> None:
    """Replace a hook that another version installed; a modified one stays.

    Raises:
        RefusedWrite: It cannot be written.
    """
    _, folder = open_hooks(project)
    file, script = find_hook(folder.path)
    if script is not None and script.is_unmodified and folder.reachable:
        text = write_script(script.projects, script.program)
        if read_hook(file) != text:
            _write_hook(file, text)


def _install(
    repository: Repository, folder: HooksFolder, project: Path, program: str
) -> HookResult:
    name = _relative_folder(repository, project)
    if folder.configured is not None and not folder.reachable:
        raise RefusedWrite(
            f"core.hooksPath is {folder.configured!r}, which is not in this repository",
            hint="add `vibes backfill --pre-commit` to its pre-commit hook",
        )
    if not folder.reachable:
        raise RefusedWrite(
            f"{folder.path} is a link out of the repository",
            hint="replace it with a folder, or add `vibes backfill --pre-commit` to your hook",
        )
    if folder.path.name == "_" and folder.path.parent.name == ".husky":
        raise RefusedWrite(
            f"husky overwrites the hooks in {folder.path}",
            hint="add the line `vibes backfill --pre-commit` to .husky/pre-commit",
        )
    file, script = find_hook(folder.path)
    if script is not None and not script.is_unmodified:
        raise _modified(file)
    projects = {name, *(script.projects if script else ())}
    text = write_script(projects, "" if folder.in_work_tree or "\n" in program else program)
    before = folder.path / PREVIOUS_HOOK
    done = HookResult(
        file, HookChange.KEPT, before if os.path.lexists(before) else None, folder.in_work_tree
    )
    if script is not None:
        if read_hook(file) == text and os.access(file, os.X_OK):
            return done
        _write_hook(file, text)
        return HookResult(file, HookChange.UPDATED, done.before, folder.in_work_tree)
    _refuse_occupied(file, before)
    temporary = _write_script(file.parent, text)
    if os.path.lexists(file) and not os.path.lexists(before):
        _give_second_name(file, before, temporary)
    replace_file(temporary, file)
    return HookResult(
        file, HookChange.INSTALLED, before if os.path.lexists(before) else None, folder.in_work_tree
    )


def remove_hook(project: Path) -> HookResult:
    """Remove a project from the hook; without projects, delete it and restore the previous one.

    Records are written at once from then on; see `maintenance.flush` for those that wait.

    Raises:
        RefusedWrite: The project is outside a git work tree, or the hook was modified.
    """
    repository, folder = open_hooks(project)
    done = _remove(repository, folder, project)
    place = waiting_place(AuditDir(project / AUDIT_DIR_NAME))
    if place is not None and done.change is HookChange.REMOVED:
        unregister_hook(place)
    return done


def _remove(repository: Repository, folder: HooksFolder, project: Path) -> HookResult:
    name = _relative_folder(repository, project)
    done = HookResult(folder.path / NAMES[0], HookChange.ABSENT, in_work_tree=folder.in_work_tree)
    for place in dict.fromkeys((folder.path, folder.own)):
        file, script = find_hook(place)
        if script is None:
            continue
        if not script.is_unmodified:
            raise _modified(file)
        left = set(script.projects) - {name}
        if left == set(script.projects):
            continue
        before = place / PREVIOUS_HOOK
        restored = not left and os.path.lexists(before)
        try:
            if left:
                _write_hook(file, write_script(left, script.program))
            elif restored:
                before.replace(file)
            else:
                file.unlink()
        except OSError as error:
            raise write_error(file, error) from error
        done = HookResult(file, HookChange.REMOVED, file if restored else None, folder.in_work_tree)
    return done


def _relative_folder(repository: Repository, project: Path) -> str:
    name = repository.relative_path(project)
    if any(ord(character) < 32 for character in name):
        raise RefusedWrite(
            f"the folder name {name!r} has control characters, which a hook cannot contain",
            hint="add `vibes backfill --pre-commit` to a hook of your own",
        )
    return name


def _refuse_occupied(file: Path, before: Path) -> None:
    if not os.path.lexists(file):
        return
    if file.is_dir():
        raise RefusedWrite(f"{file} is a folder", hint="move it away: a hook is expected there")
    if os.path.lexists(before) and not os.path.samestat(file.lstat(), before.lstat()):
        raise RefusedWrite(
            f"{before} exists, but {file.name} is not the hook that calls it",
            hint="another tool replaced the hook of vibes: keep one of the two, remove the other",
        )


def _give_second_name(file: Path, before: Path, temporary: Path) -> None:
    """Give a hook the name by which ours calls it; it keeps its own until ours replaces it.

    So a program that is killed leaves no repository without its hook.
    """
    try:
        try:
            os.link(file, before, follow_symlinks=False)
        except (OSError, NotImplementedError):  # a file system without links
            file.rename(before)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise write_error(before, error) from error


def _write_hook(file: Path, text: bytes) -> None:
    replace_file(_write_script(file.parent, text), file)


def _write_script(folder: Path, text: bytes) -> Path:
    """Write an executable temporary file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(folder, error) from error
    temporary = write_temporary(folder, text)
    with suppress(OSError):
        temporary.chmod(0o755)
    return temporary


def _modified(file: Path) -> RefusedWrite:
    return RefusedWrite(
        f"{file} was modified since it was installed",
        hint="remove the lines of vibes by hand, or move the file away",
    )


_COMMAND: Final = b"vibes backfill --pre-commit"
_FRAMEWORK: Final = ".pre-commit-config.yaml"
_FRAMEWORK_HOOK: Final = b"vibes-backfill"


class HookStatus(StrEnum):
    """Whether commits run `vibes backfill`.

    Attributes:
        OURS: The hook of `vibes init` runs it.
        OTHERS: Another hook runs it.
        NONE: No hook does.
        BROKEN: Our hook is installed, but does not work.
        SHADOWED: Git ignores our hook, because `core.hooksPath` names another folder.
    """

    OURS = "ours"
    OTHERS = "others"
    NONE = "none"
    BROKEN = "broken"
    SHADOWED = "shadowed"


@dataclass(frozen=True, slots=True)
class HookReport:
    """The state of a project's hook.

    Attributes:
        status: Whether commits run `vibes backfill`.
        file: The hook.
        message: What was found.
    """

    status: HookStatus
    file: Path
    message: str


def inspect_hook(project: Path) -> HookReport:
    """Return whether commits of a project run `vibes backfill`, from this hook or another one.

    Raises:
        RefusedWrite: The project is outside a git work tree, or git fails.
    """
    repository, folder = open_hooks(project)
    file, script = find_hook(folder.path)
    other_hook = _find_other_hook(repository, folder.path)
    if script is None:
        if other_hook is not None:
            return HookReport(HookStatus.OTHERS, other_hook, f"{other_hook} runs `vibes backfill`")
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
                f"{file} was replaced by another hook: {PREVIOUS_HOOK} is in the same folder",
            )
        return HookReport(HookStatus.NONE, file, "no pre-commit hook updates the audit trail")
    problem = _problem(file, script, repository.relative_path(project))
    return (
        HookReport(HookStatus.BROKEN, file, f"{file} {problem}")
        if problem
        else HookReport(HookStatus.OURS, file, f"{file} updates the audit trail")
    )


def _problem(file: Path, script: HookScript, name: str) -> str:
    if not script.is_unmodified:
        return "was modified since it was installed"
    if not os.access(file, os.X_OK):
        return "is not executable, so git ignores it"
    if name not in script.projects:
        return "updates only the audit trails of other projects"
    if read_hook(file) != write_script(script.projects, script.program):
        return "was installed by another version of vibes"
    import shutil  # noqa: PLC0415  # a commit, which asks for no problems, need not wait for it

    if shutil.which("vibes") is None and not os.access(script.program or "vibes", os.X_OK):
        return "finds no program to run: `vibes` is not on PATH" + (
            f", and {script.program} does not exist" if script.program else ""
        )
    return ""


def _find_other_hook(repository: Repository, folder: Path) -> Path | None:
    """Return a handwritten, husky or pre-commit framework hook that runs `vibes backfill`."""
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
