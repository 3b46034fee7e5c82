"""The history of a project's files: the versions that edits were made in, and where files went."""

from __future__ import annotations

import hashlib
import os
import posixpath
import stat
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from vibes_lsp.history.blame import Blamed, GitBlame, blamed
from vibes_lsp.history.blobs import Blobs
from vibes_lsp.history.file_versions import (
    FileVersions,
    Trace,
    Version,
    Walked,
    renames_in,
    renames_since,
    trace,
    walk_together,
)
from vibes_lsp.history.git_cache import Facts
from vibes_lsp.history.repository import Repository, open_repository, read_boundary
from vibes_lsp.model.paths import can_be_below, normal_path

_MAX_FILES: Final = 8_192
"""Files whose history is remembered: of most that are asked about, because they are gone, there is little."""
_MAX_HASHES: Final = 1 << 16
_MAX_RENAMES: Final = 16
_MAX_BLAMED: Final = 256
"""Files of which it is remembered since when they have their lines."""
_MAX_COMMITS: Final = 64
"""Commits whose renames are remembered."""


class RepositoryFiles:
    """Answers for one thread at a time; its `blobs` answer any thread. Paths are from the top of the work tree.

    Args:
        repository: Whose files these are.
        keeps_head: Whether HEAD is looked at once, until `renew`: for those who ask much at one moment.
        facts: What earlier commands were told.

    Attributes:
        repository: Whose files these are.
        blobs: Its objects.
        facts: As given.
    """

    def __init__(
        self, repository: Repository, *, keeps_head: bool = False, facts: Facts | None = None
    ) -> None:
        self.repository = repository
        self.facts = facts
        self._keeps_head = keeps_head
        self._has_looked = False
        self.blobs = Blobs(repository.root)
        self._boundary_file: Path | None = None
        self._head: str | None = None
        self._boundary: frozenset[str] = frozenset()
        self._versions: dict[str, FileVersions] = {}
        self._begun: dict[str, Walked] = {}
        self._renames: dict[str, Mapping[str, str]] = {}
        self._hashes: dict[str, frozenset[str]] = {}
        self._blamed: dict[tuple[str, datetime], Sequence[Blamed] | None] = {}
        self._is_settled = True

    def head(self) -> str | None:
        """Return HEAD's commit as it is now, and forget what an earlier one answered, or a clone that was shallower."""
        if self._keeps_head and self._has_looked:
            return self._head
        self._has_looked = True
        head = self.blobs.head()
        if head is not None and self._boundary_file is None:
            self._boundary_file = self.repository.boundary_file()
        boundary = (
            read_boundary(self._boundary_file) if self._boundary_file is not None else frozenset()
        )
        if (head, boundary) != (self._head, self._boundary):
            self._head, self._boundary = head, boundary
            self._versions.clear()
            self._begun.clear()
            self._renames.clear()
            self._blamed.clear()
            self._is_settled = True
        if self.facts is not None and head is not None:
            self.facts.look(head, boundary)
        return head

    def close(self) -> None:
        """End what was started, and keep what is new."""
        self.blobs.close()
        if self.facts is not None:
            self.facts.save()

    def renew(self) -> None:
        """Have HEAD looked at by the next question."""
        self._has_looked = False

    def boundary(self) -> frozenset[str]:
        """Return where a shallow clone ends."""
        self.head()
        return self._boundary

    def versions(self, path: str) -> FileVersions:
        """Return the versions of a file, newest first."""
        head = self.head()
        if head is None:
            return FileVersions()
        known = self._recalled(path)
        if known is None:
            begun = self._begun.pop(path, None)
            traced = trace(self.repository, head, path, self._boundary, self._renamed, begun=begun)
            self._is_settled = self._is_settled and traced.is_settled
            if self.facts is not None and self._is_settled:
                self.facts.keep_of_head(f"trace {path}", traced)
            known = self._remember(path, traced)
        return known

    def _recalled(self, path: str) -> FileVersions | None:
        """Return what is known of a file, here or from earlier commands."""
        known = self._versions.get(path)
        if (
            known is None
            and self.facts is not None
            and (traced := self.facts.of_head(f"trace {path}", Trace)) is not None
        ):
            return self._remember(path, traced)
        return known

    def _remember(self, path: str, traced: Trace) -> FileVersions:
        while len(self._versions) >= _MAX_FILES:
            del self._versions[next(iter(self._versions))]
        known = self._versions[path] = traced.versions(self._boundary)
        return known

    def read_ahead(self, paths: Sequence[str]) -> None:
        """Read the histories of many files at once, which is as quick as reading that of one; those that are known are left out."""
        head = self.head()
        if head is None:
            return
        new = [path for path in paths if path not in self._begun and self._recalled(path) is None]
        if len(new) > 1:
            self._begun.update(walk_together(self.repository, head, new))

    def version_at(self, path: str, commit: str) -> Version | None:
        """Return a file as a commit has it, by its own name or by one that it had before or has got since."""
        found = self.blobs.commit(commit)
        if found is None:
            return None
        entry = self.blobs.entry(found.id, path)
        if entry is None:
            versions = self.versions(path)
            texts = {(version.path, version.blob) for version in versions.versions}
            named = [
                (name, other)
                for name in versions.names
                if (other := self.blobs.entry(found.id, name)) is not None
            ]
            named.sort(
                key=lambda each: (each[0], each[1].id) not in texts
            )  # a name may have been another file's
            path, entry = next(iter(named), (path, None))
        return (
            Version(found.id, path, entry.id, found.moment)
            if entry is not None and entry.is_file
            else None
        )

    def version_with_hash(self, path: str, file_hash: str) -> Version | None:
        """Return the newest version whose bytes, or whose bytes with the other line ends, have a SHA-256 (R14)."""
        wanted = file_hash.lower()
        return next(
            (
                version
                for version in self.versions(path).versions
                if wanted in self._hashes_of(version.blob)
            ),
            None,
        )

    def blamed(self, path: str, since: datetime) -> tuple[Version, Sequence[Blamed]] | None:
        """Return a file as HEAD has it, and since when it has each of its lines; None when it is not there, or git cannot tell."""
        head = self.head()
        entry = self.blobs.entry(head, path) if head is not None else None
        if head is None or entry is None or not entry.is_file:
            return None
        if (path, since) not in self._blamed:
            while len(self._blamed) >= _MAX_BLAMED:
                del self._blamed[next(iter(self._blamed))]
            found = self._asked_blame(path, head, since)
            self._blamed[path, since] = None if found is None else found.lines()
        lines = self._blamed[path, since]
        return None if lines is None else (Version(head, path, entry.id, since), lines)

    def _asked_blame(self, path: str, head: str, since: datetime) -> GitBlame | None:
        """Return what git says of a file's lines, or has said; without an answer it is asked again."""
        key = f"blame {int(since.timestamp())} {path}"
        found = None if self.facts is None else self.facts.of_head(key, GitBlame)
        if found is None:
            found = blamed(self.repository, path, head, since)
            if self.facts is not None and found is not None:
                self.facts.keep_of_head(key, found)
        return found

    def current_paths(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the names that files have in the index, by those asked about; what was deleted, or never was, is left out."""
        head = self.head()
        if head is None:
            return {}
        committed = {
            path: name for path in paths if (name := self._committed_path(head, path)) is not None
        }
        staged = renames_since(self.repository, head) if committed else {}
        return {path: staged.get(name, name) for path, name in committed.items()}

    def _committed_path(self, head: str, path: str) -> str | None:
        """Return what `_path_in` does; that a file is gone is kept only if its history says so, too."""
        known = None if self.facts is None else self.facts.of_head(f"path {path}", list[str])
        if known is not None:
            return known[0] if known else None
        found = self._path_in(head, path)
        if self.facts is not None and self._is_settled:
            touched = () if found is not None else self.versions(path).touched
            if not touched or touched[0][1] is None:
                self.facts.keep_of_head(f"path {path}", [] if found is None else [found])
        return found

    def _path_in(self, head: str, path: str) -> str | None:
        """Return the name that a file has in the commit of HEAD; None when it was deleted, or never was."""
        for _ in range(_MAX_RENAMES):
            if self.blobs.entry(head, path) is not None:
                return path
            renamed = (self._renamed(commit).get(path) for commit in self.versions(path).deletions)
            later = next((name for name in renamed if name is not None), None)
            if later is None:
                return None
            path = later
        return None

    def _renamed(self, commit: str) -> Mapping[str, str]:
        """Return what a commit renamed; many files may have come with it."""
        known = self._renames.get(commit)
        if known is None:
            while len(self._renames) >= _MAX_COMMITS:
                del self._renames[next(iter(self._renames))]
            kept = (
                None
                if self.facts is None
                else self.facts.of_object(f"renames {commit}", dict[str, str])
            )
            known = self._renames[commit] = self._asked(commit) if kept is None else kept
        return known

    def _asked(self, commit: str) -> Mapping[str, str]:
        renamed, is_settled = renames_in(self.repository, commit)
        self._is_settled = self._is_settled and is_settled
        if self.facts is not None and is_settled:
            self.facts.keep_of_object(f"renames {commit}", renamed)
        return renamed

    def _hashes_of(self, blob: str) -> frozenset[str]:
        known = self._hashes.get(blob)
        if known is None and self.facts is not None:
            known = self.facts.of_object(f"hashes {blob}", frozenset[str])
        if known is None:
            content = self.blobs.contents(blob)
            if content is None:
                return frozenset()
            if len(self._hashes) >= _MAX_HASHES:
                self._hashes.clear()
            other = (
                content.replace(b"\r\n", b"\n")
                if b"\r" in content
                else content.replace(b"\n", b"\r\n")
            )
            known = self._hashes[blob] = frozenset(
                hashlib.sha256(each).hexdigest() for each in (content, other)
            )
            if self.facts is not None:
                self.facts.keep_of_object(f"hashes {blob}", sorted(known))
        return known


class ProjectHistory:
    """Any thread may ask. Nothing is started before the first question, nothing raises: what git cannot answer is None or empty.

    All paths are relative to the project. A file in a submodule, or in any repository inside the project, has that one's history.

    Args:
        project: The project's folder.
        keeps_head: Whether HEAD is looked at once, until `renew`: for those who ask much at one moment.
        keeps_facts: Whether what git says is kept for later commands, and what it said to earlier ones believed.
    """

    def __init__(
        self, project: Path, *, keeps_head: bool = False, keeps_facts: bool = False
    ) -> None:
        self._project = project
        self._keeps_head = keeps_head
        self._keeps_facts = keeps_facts
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

    def facts(self) -> Facts | None:
        """Return what is kept of the project's own repository."""
        with self._lock:
            place = self._open("")
            return None if place is None else place.files.facts

    def read_ahead(self, paths: Iterable[str]) -> None:
        """Read the histories of many files at once, which is as quick as reading that of one."""
        with self._lock:
            for place, names in self._by_place(paths):
                place.files.read_ahead([place.inner(name) for name in names])

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

    def blamed(self, path: str, since: datetime) -> tuple[Version, Sequence[Blamed]] | None:
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
        if not can_be_below(path):
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
        facts = Facts(repository.root) if self._keeps_facts else None
        files = RepositoryFiles(repository, keeps_head=self._keeps_head, facts=facts)
        return _Place(files, "" if inside == "." else f"{inside}/", folder)


@dataclass(frozen=True, slots=True)
class _Place:
    """A repository, and how its names become the project's.

    Attributes:
        files: The history of its files.
        prefix: The project's folder in the repository, with a final slash; empty when the repository begins there or further inside.
        folder: The repository's folder in the project, with a final slash; empty when the repository begins there or further outside.
    """

    files: RepositoryFiles
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
