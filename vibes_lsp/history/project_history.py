"""The history of a project's files, which may lie in several repositories."""

from __future__ import annotations

import os
import posixpath
import stat
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Self

from vibes_lsp.history.file_versions import (
    FileVersions,
    Version,
)
from vibes_lsp.history.file_walks import FileWalks
from vibes_lsp.history.git_cache import GitCache
from vibes_lsp.history.line_origins import LineOrigin
from vibes_lsp.history.repository import Repository, open_repository
from vibes_lsp.history.repository_history import RepositoryHistory
from vibes_lsp.model.paths import can_be_in_project, normal_path


class ProjectHistory:
    """The history of a project's files; thread-safe.

    Paths are relative to the project. A file in a submodule or another nested repository has that
    one's history. Nothing starts before the first request, and nothing raises: what git cannot
    answer is None or empty. HEAD is read once until `refresh_head`.

    Args:
        project: The project's folder.
        use_cache: Whether to use and extend what git answered earlier commands.
        repository: The project's own repository, if it is known.
    """

    def __init__(
        self,
        project: Path,
        *,
        use_cache: bool = False,
        repository: Repository | None = None,
    ) -> None:
        self._project = project
        self._repository = repository
        self._use_cache = use_cache
        self._lock = threading.RLock()
        self._opened: dict[str, tuple[Path | None, MappedRepository | None]] = {}
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop git; later requests return None or nothing."""
        with self._lock:
            self._closed = True
            for _, mapped in self._opened.values():
                if mapped is not None:
                    mapped.history.close()
            self._opened.clear()

    def refresh_head(self) -> None:
        """Read HEAD again for the next request."""
        with self._lock:
            for _, mapped in self._opened.values():
                if mapped is not None:
                    mapped.history.refresh_head()

    def head(self) -> str | None:
        """Return HEAD's commit; None without git, a repository or a commit."""
        with self._lock:
            mapped = self._open("")
            return mapped.history.head() if mapped is not None else None

    def subject(self, commit: str) -> str | None:
        """Return the subject of a commit of the project's own repository; None if unknown."""
        with self._lock:
            mapped = self._open("")
            return None if mapped is None else mapped.history.objects.subject(commit)

    def cache(self) -> GitCache | None:
        """Return the cache of the project's own repository."""
        with self._lock:
            mapped = self._open("")
            return None if mapped is None else mapped.history.cache

    def walks(self) -> FileWalks | None:
        """Return what was read of the files of the project's own repository."""
        with self._lock:
            mapped = self._open("")
            return None if mapped is None else mapped.history.walks

    def save_cache(self) -> None:
        """Save what git answered for later commands."""
        with self._lock:
            for _, mapped in self._opened.values():
                if mapped is not None and mapped.history.cache is not None:
                    mapped.history.cache.save()

    def prefetch(self, paths: Iterable[str]) -> None:
        """Read the histories of several files with one `git log` for each repository."""
        with self._lock:
            for mapped, names in self._by_repository(paths):
                mapped.history.prefetch([mapped.to_repository(name) for name in names])

    def versions(self, path: str) -> FileVersions:
        """Return the versions of a file, newest first, across renames; kept until HEAD moves."""
        with self._lock:
            mapped = self._repository_of(path)
            if mapped is None:
                return FileVersions()
            found = mapped.history.versions(mapped.to_repository(path))
            return found.with_paths(mapped.to_project) if mapped.prefix or mapped.folder else found

    def version_at(self, path: str, commit: str) -> Version | None:
        """Return a file as a commit has it, which may be any commit of the repository.

        Args:
            path: Any path of the file; the one it had in the commit is tried first.
            commit: A hash or a unique prefix. For a file in a submodule also a commit of the outer
                repository; the version's commit is then the submodule's.
        """
        with self._lock:
            mapped = self._repository_of(path)
            if mapped is None:
                return None
            version = mapped.history.version_at(mapped.to_repository(path), commit)
            outer = self._open("") if mapped.folder and version is None else None
            if outer is not None:
                entry = outer.history.objects.entry(commit, outer.to_repository(path))
                if entry is not None and entry.is_submodule:
                    version = mapped.history.version_at(mapped.to_repository(path), entry.id)
            return mapped.version_in_project(version)

    def maker(self, commit: str, name: str) -> str | None:
        """Return the commit that made the version of a file that HEAD has; see `FileWalks.maker`.

        Args:
            commit: A commit; nothing is known of others than HEAD.
            name: From the top of the work tree.
        """
        with self._lock:
            mapped = self._open("")
            if mapped is None or mapped.history.head() != commit:
                return None
            entry = mapped.history.objects.entry(commit, name)
            return None if entry is None else mapped.history.walks.maker(name, entry.id)

    def blame(self, path: str, since: datetime) -> Sequence[LineOrigin | None] | None:
        """Return where each line of a file comes from; see `RepositoryHistory.blame`."""
        with self._lock:
            mapped = self._repository_of(path)
            return (
                None if mapped is None else mapped.history.blame(mapped.to_repository(path), since)
            )

    def contents(self, version: Version) -> bytes | None:
        """Return the bytes of a version; None if the object is missing or larger than 64 MiB."""
        with self._lock:
            mapped = self._repository_of(version.path) or self._open(
                ""
            )  # a version may come from outside the project's folder
        return mapped.history.objects.contents(version.blob) if mapped is not None else None

    def current_paths(self, paths: Iterable[str]) -> dict[str, str]:
        """Return current paths by the given ones; deleted and unknown files are left out."""
        with self._lock:
            found: dict[str, str] = {}
            for mapped, names in self._by_repository(paths):
                now = mapped.history.current_paths(map(mapped.to_repository, names))
                found.update(
                    {
                        name: mapped.to_project(now[inside])
                        for name in names
                        if (inside := mapped.to_repository(name)) in now
                    }
                )
            return found

    def _by_repository(
        self, paths: Iterable[str]
    ) -> Collection[tuple[MappedRepository, list[str]]]:
        """Group files by the repository that has their history."""
        by_folder: dict[str, MappedRepository | None] = {}
        found: dict[int, tuple[MappedRepository, list[str]]] = {}
        for path in filter(can_be_in_project, paths):
            folder = normal_path(path).rpartition("/")[0]
            if folder not in by_folder:
                by_folder[folder] = self._repository_of(path)
            mapped = by_folder[folder]
            if mapped is not None:
                found.setdefault(id(mapped), (mapped, []))[1].append(path)
        return found.values()

    def _repository_of(self, path: str) -> MappedRepository | None:
        """Return the innermost repository that a file lies in."""
        if not can_be_in_project(path):
            return None
        folder = innermost = ""
        for parent in normal_path(path).split("/")[:-1]:
            folder += f"{parent}/"
            if not self._is_folder(folder):
                break
            if os.path.lexists(f"{self._project}/{folder}.git"):
                innermost = folder
        return self._open(innermost)

    def _is_folder(self, folder: str) -> bool:
        """Whether a path is a folder and no symbolic link, which would lead out of the project."""
        try:
            return stat.S_ISDIR(os.lstat(f"{self._project}/{folder}".rstrip("/")).st_mode)
        except (OSError, ValueError):
            return False

    def _open(self, folder: str) -> MappedRepository | None:
        if self._closed:
            return None
        try:
            start = self._project / folder
            marker = next(
                (
                    each
                    for each in (start, *start.absolute().parents)
                    if os.path.lexists(each / ".git")
                ),
                None,
            )
            known, mapped = self._opened.get(folder, (None, None))
            if mapped is None and marker != known:
                mapped = self._open_repository(start, folder)
                self._opened[folder] = marker, mapped
        except (OSError, ValueError):
            return None
        return mapped

    def _open_repository(self, start: Path, folder: str) -> MappedRepository | None:
        repository = None if folder else self._repository
        self._repository = self._repository if folder else None  # another one may follow
        if repository is None:
            repository = open_repository(start)
        if repository is None:
            return None
        inside = repository.relative_path(start)
        if folder and inside != ".":
            return None
        if self._use_cache:
            repository.cache.use_saved(repository.root)
        history = RepositoryHistory(repository, repository.cache if self._use_cache else None)
        return MappedRepository(history, "" if inside == "." else f"{inside}/", folder)


@dataclass(frozen=True, slots=True)
class MappedRepository:
    """A repository, and how its paths map to the project's.

    Attributes:
        history: The history of its files.
        prefix: The project's folder in the repository, with a final slash; empty if the repository
            starts there or further inside.
        folder: The repository's folder in the project, with a final slash; empty if the repository
            starts there or further outside.
    """

    history: RepositoryHistory
    prefix: str
    folder: str

    def to_repository(self, path: str) -> str:
        """Return the repository's path of a path of the project."""
        return self.prefix + normal_path(path)[len(self.folder) :]

    def to_project(self, name: str) -> str:
        """Return the project's path of a path of the repository."""
        if name.startswith(self.prefix):
            return self.folder + name[len(self.prefix) :]
        return posixpath.relpath(f"/{name}", f"/{self.prefix}")

    def version_in_project(self, version: Version | None) -> Version | None:
        """Return a version with the project's path of its file."""
        return replace(version, path=self.to_project(version.path)) if version is not None else None
