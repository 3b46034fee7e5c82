"""The history of a project's files: the versions that edits were made in, and where files went."""

from __future__ import annotations

import os
import posixpath
import stat
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from vibes_lsp.history.blame import BlamedLine
from vibes_lsp.history.file_versions import (
    FileVersions,
    Version,
)
from vibes_lsp.history.git_cache import GitCache
from vibes_lsp.history.renames import renames_since
from vibes_lsp.history.repository import open_repository
from vibes_lsp.history.repository_history import RepositoryHistory
from vibes_lsp.model.paths import can_be_in_project, normal_path


class ProjectHistory:
    """Any thread may ask. Nothing is started before the first question, nothing raises: what git cannot answer is None or empty.

    All paths are relative to the project. A file in a submodule, or in any repository inside the project, has that one's history.

    Args:
        project: The project's folder.
        cache_head: Whether HEAD is looked at once, until `renew`: for those who ask much at one moment.
        use_cache: Whether what git says is kept for later commands, and what it said to earlier ones believed.
    """

    def __init__(self, project: Path, *, cache_head: bool = False, use_cache: bool = False) -> None:
        self._project = project
        self._cache_head = cache_head
        self._use_cache = use_cache
        self._lock = threading.RLock()
        self._opened: dict[str, tuple[Path | None, _Place | None]] = {}
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what was started; every later question is answered with None or nothing."""
        with self._lock:
            self._closed = True
            for _, place in self._opened.values():
                if place is not None:
                    place.files.close()
            self._opened.clear()

    def renew(self) -> None:
        """Have HEAD looked at by the next question."""
        with self._lock:
            for _, place in self._opened.values():
                if place is not None:
                    place.files.renew()

    def head(self) -> str | None:
        """Return HEAD's commit as it is now; None without git, a repository or a commit."""
        with self._lock:
            place = self._open("")
            return place.files.head() if place is not None else None

    def cache(self) -> GitCache | None:
        """Return what is kept of the project's own repository."""
        with self._lock:
            place = self._open("")
            return None if place is None else place.files.cache

    def prefetch(self, paths: Iterable[str]) -> None:
        """Read the histories of many files at once, which is as quick as reading that of one."""
        with self._lock:
            for place, names in self._by_place(paths):
                place.files.prefetch([place.inner(name) for name in names])

    def versions(self, path: str) -> FileVersions:
        """Return the versions of a file, newest first, renames followed; remembered until HEAD moves."""
        with self._lock:
            place = self._place_of(path)
            if place is None:
                return FileVersions(complete=False)
            found = place.files.versions(place.inner(path))
            return found.named(place.outer) if place.prefix or place.folder else found

    def version_at(self, path: str, commit: str) -> Version | None:
        """Return a file as a commit has it, which need neither touch it nor be an ancestor of HEAD.

        Args:
            path: Any name of the file; the one that it had in the commit is tried first.
            commit: A hash or a unique prefix. For a file in a submodule also a commit of the repository around it; the version's
                commit is then the submodule's.
        """
        with self._lock:
            place = self._place_of(path)
            if place is None:
                return None
            version = place.files.version_at(place.inner(path), commit)
            around = self._open("") if place.folder and version is None else None
            if around is not None:
                entry = around.files.blobs.entry(commit, around.inner(path))
                if entry is not None and entry.is_submodule:
                    version = place.files.version_at(place.inner(path), entry.id)
            return place.outer_version(version)

    def version_with_hash(self, path: str, file_hash: str) -> Version | None:
        """Return the newest version of a file whose bytes have a SHA-256, as they are or with the other line ends (R14)."""
        with self._lock:
            place = self._place_of(path)
            return (
                place.outer_version(place.files.version_with_hash(place.inner(path), file_hash))
                if place is not None
                else None
            )

    def blamed(self, path: str, since: datetime) -> tuple[Version, Sequence[BlamedLine]] | None:
        """Return a file as HEAD has it, and since when it has each of its lines; see `blamed`. None when git cannot tell."""
        with self._lock:
            place = self._place_of(path)
            found = place.files.blamed(place.inner(path), since) if place is not None else None
            return (
                None
                if place is None or found is None
                else (replace(found[0], path=place.outer(found[0].path)), found[1])
            )

    def contents(self, version: Version) -> bytes | None:
        """Return the bytes of a version; None when the object is missing here, or is larger than 64 MiB."""
        with self._lock:
            place = self._place_of(version.path) or self._open(
                ""
            )  # it may have come from outside the project's folder
        return place.files.blobs.contents(version.blob) if place is not None else None

    def current_paths(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the names that files of HEAD's ancestry have now, by those asked about; what was deleted, or never was, is left out."""
        with self._lock:
            found: dict[str, str] = {}
            for place, names in self._by_place(paths):
                now = place.files.current_paths(map(place.inner, names))
                found.update(
                    {
                        name: place.outer(now[inner])
                        for name in names
                        if (inner := place.inner(name)) in now
                    }
                )
            return found

    def renames_since(self, commit: str) -> Mapping[str, str]:
        """Return the names that files of the project's own repository have now, by others that they had in a commit."""
        with self._lock:
            place = self._open("")
            whole = place.files.blobs.commit(commit) if place is not None else None
            if place is None or whole is None:
                return {}
            renames = renames_since(place.files.repository, whole.id)
            return {place.outer(old): place.outer(new) for old, new in renames.items()}

    def _by_place(self, paths: Iterable[str]) -> Collection[tuple[_Place, list[str]]]:
        """Return where the histories of some files are, each with those of the files."""
        found: dict[int, tuple[_Place, list[str]]] = {}
        for path in paths:
            place = self._place_of(path)
            if place is not None:
                found.setdefault(id(place), (place, []))[1].append(path)
        return found.values()

    def _place_of(self, path: str) -> _Place | None:
        """Return where a file's history is: in the innermost repository that it lies in."""
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
        """Whether the project has a folder itself; one that a symbolic link leads to, and all below it, are another's."""
        try:
            return stat.S_ISDIR(os.lstat(f"{self._project}/{folder}".rstrip("/")).st_mode)
        except (OSError, ValueError):
            return False

    def _open(self, folder: str) -> _Place | None:
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
            known, place = self._opened.get(folder, (None, None))
            if place is None and marker != known:
                place = self._place(start, folder)
                self._opened[folder] = marker, place
        except (OSError, ValueError):
            return None
        return place

    def _place(self, start: Path, folder: str) -> _Place | None:
        repository = open_repository(start)
        if repository is None:
            return None
        inside = repository.name_of(start)
        if folder and inside != ".":
            return None
        cache = GitCache(repository.root) if self._use_cache else None
        files = RepositoryHistory(repository, cache_head=self._cache_head, cache=cache)
        return _Place(files, "" if inside == "." else f"{inside}/", folder)


@dataclass(frozen=True, slots=True)
class _Place:
    """A repository, and how its names become the project's.

    Attributes:
        files: The history of its files.
        prefix: The project's folder in the repository, with a final slash; empty when the repository begins there or further inside.
        folder: The repository's folder in the project, with a final slash; empty when the repository begins there or further outside.
    """

    files: RepositoryHistory
    prefix: str
    folder: str

    def inner(self, path: str) -> str:
        return self.prefix + normal_path(path)[len(self.folder) :]

    def outer(self, name: str) -> str:
        if name.startswith(self.prefix):
            return self.folder + name[len(self.prefix) :]
        return posixpath.relpath(f"/{name}", f"/{self.prefix}")

    def outer_version(self, version: Version | None) -> Version | None:
        return replace(version, path=self.outer(version.path)) if version is not None else None
