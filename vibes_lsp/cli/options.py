"""Options that subcommands share, and the trail they name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from vibes_lsp.cli.output import print_warning, progress
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.history.repository import open_repository
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.index.trail import Trail
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir, named_audit_dir
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.store.files import file_signature
from vibes_lsp.store.versions import unsupported_versions

_F = TypeVar("_F", bound=Callable[..., Any])


def audit_dir_option(function: _F) -> _F:
    """Add `--audit-dir DIR`."""
    return click.option(
        "--audit-dir",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The trail; by default the nearest .ai-audit/ above.",
    )(function)


def json_option(function: _F) -> _F:
    """Add `--json`."""
    return click.option(
        "--json",
        "as_json",
        is_flag=True,
        help="Print JSON; records, where there are any, exactly as on disk.",
    )(function)


def git_option(function: _F) -> _F:
    """Add `--no-git`."""
    return click.option(
        "--git/--no-git", default=True, help="Whether to ask git's history where lines came from."
    )(function)


def directory_of(audit_dir: Path | None) -> AuditDir:
    """Return the named audit directory, else the nearest one above the current folder.

    Raises:
        AuditDirNotFound: There is none.
    """
    return named_audit_dir(audit_dir) if audit_dir is not None else find_audit_dir(Path.cwd())


def path_in_project(file: Path, project: Path) -> str:
    """Return a file's path relative to the project, forward slashes.

    Raises:
        UnreadableFile: It is outside the project.
    """
    try:
        return spelled(file).relative_to(spelled(project)).as_posix()
    except ValueError:
        raise UnreadableFile(
            f"{file} is not in the project {project}", hint="name the trail with --audit-dir"
        ) from None


def spelled(path: Path) -> Path:
    """Return a path absolute and without `..`; a link stays what it is."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # which keeps `..`


def open_trail(audit_dir: Path | None) -> Trail:
    """Return the trail, read, with progress on a terminal and a warning about a version we do not know (RFC 12.1).

    Raises:
        AuditDirNotFound: There is none.
        UnreadableFile: The log cannot be read.
    """
    directory = directory_of(audit_dir)

    def nearest(commits: Sequence[str]) -> str | None:
        repository = open_repository(directory.project)
        return repository.nearest_ancestor(commits) if repository is not None else None

    trail = Trail(directory, nearest_commit=nearest)
    log = file_signature(trail.directory.log)
    with progress() as step:
        trail.refresh(progress=lambda done: step("log", done, log.size if log else 0))
    if trail.log.problem is not None:
        raise trail.log.problem
    for sentence in unsupported_versions(load_config(trail.directory), trail.manifest):
        print_warning(f"{sentence}; it is read as far as possible")
    return trail


def now() -> datetime:
    """Return the present instant."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class OpenProject:
    """A trail that was read, with the project's policy."""

    trail: Trail
    config: LoadedConfig

    @property
    def scorer(self) -> Scorer:
        """What scores the annotations by the project's policy."""
        return Scorer(self.trail, self.config.policy)

    def locator(self, *, use_git: bool, use_cache: bool = False) -> ProjectLocator:
        """Return what places the annotations of the project's files; a context manager.

        Args:
            use_git: Whether to ask git at all.
            use_cache: See `ProjectLocator`.
        """
        return ProjectLocator(self.trail, use_git=use_git, use_cache=use_cache)


def open_project(audit_dir: Path | None, near: Path | None = None) -> OpenProject:
    """Return a trail with the project's policy.

    Args:
        audit_dir: The trail that was named.
        near: A file whose trail is meant when none was named.

    Raises:
        AuditDirNotFound: There is none.
        UnreadableFile: The log cannot be read.
    """
    found = (
        find_audit_dir(spelled(near).parent).path
        if audit_dir is None and near is not None
        else audit_dir
    )
    trail = open_trail(found)
    return OpenProject(trail, load_config(trail.directory))
