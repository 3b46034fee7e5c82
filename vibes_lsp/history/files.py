"""The history of one repository's files: asked of git once, remembered until HEAD moves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from vibes_lsp.history.blobs import Blobs
from vibes_lsp.history.renames import renames_in, renames_since
from vibes_lsp.history.repository import Repository, read_boundary
from vibes_lsp.history.versions import FileVersions, Version, Walked, file_versions, walk_together

_MAX_FILES: Final = 8_192
"""Files whose history is remembered: of most that are asked about, because they are gone, there is little."""
_MAX_HASHES: Final = 1 << 16
_MAX_RENAMES: Final = 16
_MAX_COMMITS: Final = 64
"""Commits whose renames are remembered."""


class FilesHistory:
    """Answers for one thread at a time; its `blobs` answer any thread. Paths are from the top of the work tree.

    Args:
        repository: Whose files these are.
        keeps_head: Whether HEAD is looked at once, until `renew`: for those who ask much at one moment.

    Attributes:
        repository: Whose files these are.
        blobs: Its objects.
    """

    def __init__(self, repository: Repository, *, keeps_head: bool = False) -> None:
        self.repository = repository
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

    def head(self) -> str | None:
        """Return HEAD's commit as it is now, and forget what an earlier one answered, or a clone that was shallower."""
        if self._keeps_head and self._has_looked:
            return self._head
        self._has_looked = True
        head = self.blobs.head()
        if head is not None and self._boundary_file is None:
            self._boundary_file = self.repository.boundary_file()
        boundary = read_boundary(self._boundary_file) if self._boundary_file is not None else frozenset()
        if (head, boundary) != (self._head, self._boundary):
            self._head, self._boundary = head, boundary
            self._versions.clear()
            self._begun.clear()
            self._renames.clear()
        return head

    def renew(self) -> None:
        """Have HEAD looked at by the next question."""
        self._has_looked = False

    def boundary(self) -> frozenset[str]:
        """Return where a shallow clone ends."""
        self.head()
        return self._boundary

    def versions(self, path: str) -> FileVersions:
        """Return the versions of a file, newest first."""
        if self.head() is None:
            return FileVersions()
        known = self._versions.get(path)
        if known is None:
            while len(self._versions) >= _MAX_FILES:
                del self._versions[next(iter(self._versions))]
            begun = self._begun.pop(path, None)
            known = self._versions[path] = file_versions(self.repository, path, self._boundary, self._renamed, begun=begun)
        return known

    def read_ahead(self, paths: Sequence[str]) -> None:
        """Read the histories of many files at once, which is as quick as reading that of one; those that are known are left out."""
        if self.head() is None:
            return
        new = [path for path in paths if path not in self._versions and path not in self._begun]
        if len(new) > 1:
            self._begun.update(walk_together(self.repository, new))

    def version_at(self, path: str, commit: str) -> Version | None:
        """Return a file as a commit has it, by its own name or by one that it had before or has got since."""
        found = self.blobs.commit(commit)
        if found is None:
            return None
        entry = self.blobs.entry(found.id, path)
        if entry is None:
            versions = self.versions(path)
            texts = {(version.path, version.blob) for version in versions.versions}
            named = [(name, other) for name in versions.names if (other := self.blobs.entry(found.id, name)) is not None]
            named.sort(key=lambda each: (each[0], each[1].id) not in texts)  # a name may have been another file's
            path, entry = next(iter(named), (path, None))
        return Version(found.id, path, entry.id, found.moment) if entry is not None and entry.is_file else None

    def version_with_hash(self, path: str, file_hash: str) -> Version | None:
        """Return the newest version whose bytes, or whose bytes with the other line ends, have a SHA-256 (R14)."""
        wanted = file_hash.lower()
        return next((version for version in self.versions(path).versions if wanted in self._hashes_of(version.blob)), None)

    def current_paths(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the names that files have in the index, by those asked about; what was deleted, or never was, is left out."""
        head = self.head()
        if head is None:
            return {}
        committed = {path: name for path in paths if (name := self._path_in(head, path)) is not None}
        staged = renames_since(self.repository, head) if committed else {}
        return {path: staged.get(name, name) for path, name in committed.items()}

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
            known = self._renames[commit] = renames_in(self.repository, commit)
        return known

    def _hashes_of(self, blob: str) -> frozenset[str]:
        known = self._hashes.get(blob)
        if known is None:
            content = self.blobs.contents(blob)
            if content is None:
                return frozenset()
            if len(self._hashes) >= _MAX_HASHES:
                self._hashes.clear()
            other = content.replace(b"\r\n", b"\n") if b"\r" in content else content.replace(b"\n", b"\r\n")
            known = self._hashes[blob] = frozenset(hashlib.sha256(each).hexdigest() for each in (content, other))
        return known
