"""The history of one repository's files: versions, renames, blame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.file_versions import FileVersions, FileWalk, Version, trace_file
from vibes_lsp.history.file_walks import FileWalks, walk_before
from vibes_lsp.history.git_cache import GitCache
from vibes_lsp.history.line_origins import LineOrigin, line_origins
from vibes_lsp.history.renames import renames_in_commit, renames_since
from vibes_lsp.history.repository import Repository, read_shallow_file

_MAX_FILES: Final = 8_192
"""Files whose history is kept; most requests are for deleted files, which have little of it."""
_MAX_RENAMES: Final = 16
_MAX_COMMITS: Final = 64
"""Commits whose renames are kept."""


class RepositoryHistory:
    """The history of a repository's files, for one thread at a time; its `objects` are thread-safe.

    Paths are from the top of the work tree. HEAD is read once until `refresh_head`.

    Args:
        repository: The repository.
        cache: What git answered earlier commands; None not to use it.

    Attributes:
        repository: As given.
        objects: Its objects.
        cache: As given.
        walks: What HEAD and its ancestors did to files, as of the last request.
    """

    def __init__(self, repository: Repository, cache: GitCache | None) -> None:
        self.repository = repository
        self.cache = cache
        self._has_head = False
        self.objects = repository.objects
        self.walks = FileWalks(repository, cache)
        self._shallow_file: Path | None = None
        self._head: str | None = None
        self._boundary: frozenset[str] = frozenset()
        self._versions: dict[str, FileVersions] = {}
        self._renames: dict[str, Mapping[str, str]] = {}
        self._is_settled = True

    def head(self) -> str | None:
        """Return HEAD's commit; if it or the shallow boundary changed, drop what is kept."""
        if self._has_head:
            return self._head
        self._has_head = True
        head = self.objects.head()
        if head is not None and self._shallow_file is None:
            self._shallow_file = self.repository.shallow_file()
        boundary = (
            read_shallow_file(self._shallow_file) if self._shallow_file is not None else frozenset()
        )
        if (head, boundary) != (self._head, self._boundary):
            self._head, self._boundary = head, boundary
            self._versions.clear()
            self._renames.clear()
            self._is_settled = True
        if head is not None:
            self.walks.set_head(head, boundary)
        return head

    def close(self) -> None:
        """Close the repository, which saves what git answered."""
        self.repository.close()

    def refresh_head(self) -> None:
        """Read HEAD again for the next request."""
        self._has_head = False

    def versions(self, path: str) -> FileVersions:
        """Return the versions of a file, newest first."""
        head = self.head()
        if head is None:
            return FileVersions()
        known = self._versions.get(path)
        if known is None:
            walked = self.walks.of(path)
            traced = trace_file(
                head,
                path,
                self._boundary,
                self._renamed,
                walked=walked,
                walk_before=self._walk_before,
            )
            self._is_settled = self._is_settled and traced.is_settled
            while len(self._versions) >= _MAX_FILES:
                del self._versions[next(iter(self._versions))]
            known = self._versions[path] = traced.versions
        return known

    def _walk_before(self, commit: str, path: str) -> FileWalk:
        """Return what the ancestors of a commit did to a file, which had another name later."""
        return walk_before(self.repository, commit, path, None if self._boundary else self.cache)

    def prefetch(self, paths: Sequence[str]) -> None:
        """Read the unknown histories of several files with one `git log`."""
        if self.head() is not None:
            self.walks.read(path for path in paths if path not in self._versions)

    def version_at(self, path: str, commit: str) -> Version | None:
        """Return a file as a commit has it, by this path or another one of its history."""
        if (known := self.versions(path).of_commit(commit)) is not None and known.path == path:
            return known
        found = self.objects.commit(commit)
        if found is None:
            return None
        entry = self.objects.entry(found.id, path)
        if entry is None:
            versions = self.versions(path)
            texts = {(version.path, version.blob) for version in versions.versions}
            named = [
                (name, other)
                for name in versions.names
                if (other := self.objects.entry(found.id, name)) is not None
            ]
            named.sort(
                key=lambda each: (each[0], each[1].id) not in texts
            )  # another file may have had that path
            path, entry = next(iter(named), (path, None))
        return (
            Version(found.id, path, entry.id, found.moment)
            if entry is not None and entry.is_file
            else None
        )

    def blame(self, path: str, since: datetime) -> Sequence[LineOrigin | None] | None:
        """Return where each line of HEAD's version of a file comes from; None without an answer."""
        head = self.head()
        entry = self.objects.entry(head, path) if head is not None else None
        if head is None or entry is None or not entry.is_file:
            return None
        start = self.walks.maker(path, entry.id) or head
        try:
            return line_origins(self.repository, path, start, since=since)
        except HistoryUnavailable:
            return None

    def current_paths(self, paths: Iterable[str]) -> dict[str, str]:
        """Return paths in the index by the given ones; deleted and unknown files are left out."""
        head, paths = self.head(), list(paths)
        if head is None:
            return {}
        self.walks.read(path for path in paths if self._known_path(path) is None)
        committed = {
            path: name for path in paths if (name := self._committed_path(head, path)) is not None
        }
        staged = renames_since(self.repository, head) if committed else {}
        return {path: staged.get(name, name) for path, name in committed.items()}

    def _committed_path(self, head: str, path: str) -> str | None:
        """Return `_follow_renames`, cached; a deletion only if the file's history confirms it."""
        known = self._known_path(path)
        if known is not None:
            return known[0] if known else None
        found = self._follow_renames(head, path)
        is_sure = found is not None or self.versions(path).is_gone
        if self.cache is not None and self._is_settled and is_sure:
            self.cache.put_for_head(f"path {path}", [] if found is None else [found])
        return found

    def _known_path(self, path: str) -> list[str] | None:
        """Return the cached path in HEAD, none for a deleted file; None if it is not cached."""
        return None if self.cache is None else self.cache.get_for_head(f"path {path}", list[str])

    def _follow_renames(self, head: str, path: str) -> str | None:
        """Return a file's path in HEAD; None if it was deleted or never existed."""
        for _ in range(_MAX_RENAMES):
            if self.objects.entry(head, path) is not None:
                return path
            renamed = (self._renamed(commit).get(path) for commit in self.versions(path).deletions)
            later = next((name for name in renamed if name is not None), None)
            if later is None:
                return None
            path = later
        return None

    def _renamed(self, commit: str) -> Mapping[str, str]:
        """Return the files that a commit renamed, kept because it may rename many."""
        known = self._renames.get(commit)
        if known is None:
            while len(self._renames) >= _MAX_COMMITS:
                del self._renames[next(iter(self._renames))]
            cached = (
                None if self.cache is None else self.cache.get(f"renames {commit}", dict[str, str])
            )
            known = self._renames[commit] = self._read_renames(commit) if cached is None else cached
        return known

    def _read_renames(self, commit: str) -> Mapping[str, str]:
        renamed, is_settled = renames_in_commit(self.repository, commit)
        self._is_settled = self._is_settled and is_settled
        if self.cache is not None and is_settled:
            self.cache.put(f"renames {commit}", renamed)
        return renamed
