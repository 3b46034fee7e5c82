"""Where git looks for hooks in a repository, and which one there is ours."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable, RefusedWrite
from vibes_lsp.history.git import run_git
from vibes_lsp.history.hook_text import Script, read_script
from vibes_lsp.history.repository import Repository, open_repository
from vibes_lsp.store.disk import inside

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
    common = repository.root / os.fsdecode(run_git(repository.root, "rev-parse", "--git-common-dir").rstrip(b"\n"))
    own = common / "hooks"
    configured = _configured(repository)
    path = own if configured is None else repository.root / configured
    in_work_tree = inside(path, repository.root) and not inside(path, common)
    reachable = configured != "" and (in_work_tree or inside(path, common))
    return HooksFolder(path, own, configured, reachable, in_work_tree)


def find_ours(folder: Path) -> tuple[Path, Script | None]:
    """Return our hook in a folder, and what it says; where there is none, the place that it would have."""
    for name in NAMES:
        script = read_script(read_hook(folder / name))
        if script is not None:
            return folder / name, script
    return folder / NAMES[0], None


def _configured(repository: Repository) -> str | None:
    """Return what the user's and the repository's settings say, behind the one that our own calls are made with."""
    said = run_git(repository.root, "config", "--show-scope", "-z", "--type=path", "--get-all", "core.hooksPath")
    parts = [os.fsdecode(part) for part in said.split(b"\0")]
    values = [value for scope, value in zip(parts[::2], parts[1::2], strict=False) if scope != "command"]
    return values[-1] if values else None


def open_hooks(project: Path) -> tuple[Repository, HooksFolder]:
    """Return the repository of a project, and where it has its hooks.

    Raises:
        RefusedWrite: The project is in no work tree, or git does not answer.
    """
    repository = open_repository(project)
    if repository is None:
        raise RefusedWrite(f"{project} is in no git work tree", hint="run `git init` first; hooks are a repository's")
    try:
        return repository, hooks_folder(repository)
    except HistoryUnavailable as error:
        raise RefusedWrite(error.message, hint="hooks were left as they are") from error


def read_hook(file: Path) -> bytes:
    """Return the text of a hook; nothing for what is no regular file, or is too large to be one of ours."""
    try:
        status = file.lstat()
        return file.read_bytes() if stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_HOOK else b""
    except OSError:
        return b""
