"""Results of look-ups in git history, kept on disk by everything that they depend on.

They are used again only while all of that is as it was, which takes no git process: the commit of
HEAD, the log, the text, the files that text may have moved from, and the names that no longer
exist. So a result is the one that a new look-up would have. Texts of versions are saved by how they
differ from the text that was looked up.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import zlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from vibes_lsp.anchors.text import Text
from vibes_lsp.history.git_cache import cache_source
from vibes_lsp.history.repository import Repository
from vibes_lsp.lsp.lookup_state import (
    LookupState,
    Stamp,
    file_status,
    is_unchanged,
    lookup_state,
    stamp_file,
)
from vibes_lsp.lsp.saved_lookup import (
    LookedUpFile,
    SavedLookup,
    restore_lookup,
    save_lookup,
    text_digest,
)
from vibes_lsp.lsp.snapshots import ClosedFiles
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.user_cache import MAX_CACHED, read_cached, write_cached

_PACKAGES: Final = ("model", "anchors", "history", "index", "exchange", "lsp")
_MAX_FILES: Final = 256
_MAX_CLOSED: Final = 10_000
"""Annotations of all files whose commits are kept, and names, in 2 MB."""


class _CacheFile(msgspec.Struct, array_like=True):
    """The content of the cache file.

    Attributes:
        source: The repository, and the version of the code.
        state: What all results depend on.
        existing: The annotated names that are files.
        gone: The others.
        nearest: Sets of commits, and the one that is nearest to HEAD.
        closed_files: What git says about all existing files; None if unknown.
        files: Results by path, the last used ones last.
    """

    source: str
    state: LookupState | None = None
    existing: list[str] = []
    gone: list[str] = []
    nearest: list[tuple[tuple[str, ...], str | None]] = []
    closed_files: ClosedFiles | None = None
    files: dict[str, msgspec.Raw] = {}


class KeptLookups:
    """The kept results of one project's look-ups.

    Args:
        directory: The audit directory.
    """

    def __init__(self, directory: AuditDir) -> None:
        self._directory = directory
        self._project = os.fspath(directory.project)
        self._root: Path | None = None
        self._name = self._source = ""
        self._kept = _CacheFile("")
        self._found: dict[str, tuple[bytes, Mapping[str, Stamp | None], LookedUpFile]] = {}
        self._nearest: dict[tuple[str, ...], str | None] = {}
        self._others: dict[str, Stamp | None] = {}
        self._state: LookupState | None = None
        self._is_changed = False

    def open(self, renamed: Mapping[str, str], *, use_notes: bool) -> bool:
        """Read what is kept, and return whether there is anything that still holds."""
        self._others = {}
        root = _work_tree(self._directory.project)
        state = (
            None
            if root is None
            else lookup_state(self._directory, root, renamed, use_notes=use_notes)
        )
        if root is None or state is None:
            self._state = None
            self._drop()
            return False
        self._read(root)
        kept = self._kept
        is_same = (
            kept.state is not None
            and kept.state.holds(state)
            and not any(map(self._is_file, kept.gone))
            and all(map(self._is_file, kept.existing))
            and not self._has_nested((*kept.existing, *kept.gone))
        )
        self._state = state
        if not is_same:
            self._drop()
        return is_same

    def get(self, path: str, text: Text) -> LookedUpFile | None:
        """Return the result for a file with this text; None if there is none that holds."""
        found = self._found.get(path)
        if found is not None:
            digest, others, result = found
            is_same = digest == text_digest(text) and self._are_unchanged(others)
            return result if is_same else None
        saved = self._kept.files.get(path)
        if self._state is None or saved is None:
            return None
        try:
            kept = msgspec.msgpack.decode(saved, type=SavedLookup)
            if kept.looked_up != text_digest(text) or not self._are_unchanged(kept.others):
                return None
            result = restore_lookup(kept, text)
        except (msgspec.DecodeError, ValueError, IndexError, RecursionError, zlib.error):
            return None
        self._found[path] = kept.looked_up, kept.others, result
        return result

    def keep_in_memory(self, paths: Collection[str]) -> None:
        """Keep the results of these files in memory, and others on disk only."""
        self._found = {path: each for path, each in self._found.items() if path in paths}

    def closed_files(self) -> ClosedFiles | None:
        """Return what git says about all existing files; None if unknown."""
        return self._kept.closed_files

    def put_closed_files(self, found: ClosedFiles) -> None:
        """Keep what git says about all existing files, unless it is too much."""
        if self._state is not None and len(found.commits) + len(found.new_names) <= _MAX_CLOSED:
            self._kept.closed_files, self._is_changed = found, True

    def nearest(self, commits: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], str | None]:
        """Return the commits nearest to HEAD that are known, by the sets that were asked about."""
        return {each: self._nearest[each] for each in commits if each in self._nearest}

    def put_nearest(self, nearest: Mapping[tuple[str, ...], str | None]) -> None:
        """Keep which commits are nearest to HEAD."""
        if nearest.items() - self._nearest.items():
            self._nearest.update(nearest)
            self._is_changed = True

    def stamp_others(self, names: Iterable[str]) -> dict[str, Stamp | None]:
        """Return the stamps of files that text may have moved from; before they are read."""
        found = {
            name: self._others[name]
            if name in self._others
            else stamp_file(f"{self._project}/{name}")
            for name in names
        }
        self._others |= found
        return found

    def put(
        self, path: str, text: Text, found: LookedUpFile, others: Mapping[str, Stamp | None]
    ) -> None:
        """Keep a result.

        Args:
            path: Relative to the project.
            text: The text that was looked up.
            found: The result.
            others: The files that text may have moved from, as they were before.
        """
        if self._state is None:
            return
        try:
            kept = save_lookup(text, found, others)
            encoded = msgspec.Raw(msgspec.msgpack.encode(kept))
        except (UnicodeEncodeError, OverflowError):
            return
        self._kept.files.pop(path, None)
        self._kept.files[path] = encoded
        self._found[path] = kept.looked_up, kept.others, found
        while len(self._kept.files) > _MAX_FILES:
            self._forget(next(iter(self._kept.files)))
        self._is_changed = True

    def confirm(self, repository: Repository | None, names: Iterable[str]) -> None:
        """Drop everything unless all is as it was before the look-ups.

        Args:
            repository: The repository that was read.
            names: The annotated names of the project's files.
        """
        before, names = self._state, list(names)
        if before is None:
            return
        root = self._root
        now = (
            None
            if root is None
            else lookup_state(self._directory, root, before.renamed, use_notes=before.use_notes)
        )
        if (
            now is None
            or repository is None
            or root is None
            or repository.root.resolve() != root.resolve()
            or not before.holds(now)
            or not self._are_unchanged(self._others)
            or self._has_nested(names)
        ):
            self._drop()
            self._state = None
            return
        self._kept.state = before
        is_file = {name: self._is_file(name) for name in names}
        self._kept.existing = [name for name, exists in is_file.items() if exists]
        self._kept.gone = [name for name, exists in is_file.items() if not exists]

    def save(self) -> None:
        """Write what is kept, if it changed; without the oldest results if it is too large."""
        if not self._is_changed or self._state is None or not self._name:
            return
        self._is_changed = False
        self._kept.source = self._source
        self._kept.nearest = list(self._nearest.items())
        while True:
            try:
                data = msgspec.msgpack.encode(self._kept)
            except UnicodeEncodeError:  # a name that is not UTF-8
                return
            if len(data) <= MAX_CACHED:
                write_cached(self._name, data)
                return
            if not self._kept.files:
                return
            self._forget(next(iter(self._kept.files)))

    def _read(self, root: Path) -> None:
        """Read the cache file of a repository, once."""
        name, source = cache_source(root, _PACKAGES)
        if (root, source) == (self._root, self._source):
            return
        self._drop()
        self._root, self._source = root, source
        self._name = hashlib.sha256(
            f"{name} {self._project}".encode("utf-8", "replace")
        ).hexdigest()
        data = read_cached(self._name) if source else None
        try:
            kept = None if data is None else msgspec.msgpack.decode(data, type=_CacheFile)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if kept is not None and kept.source == source:
            self._kept, self._nearest = kept, dict(kept.nearest)

    def _drop(self) -> None:
        self._kept = _CacheFile("")
        self._found.clear()
        self._nearest = {}

    def _forget(self, path: str) -> None:
        self._kept.files.pop(path, None)
        self._found.pop(path, None)

    def _are_unchanged(self, others: Mapping[str, Stamp | None]) -> bool:
        return all(is_unchanged(f"{self._project}/{name}", seen) for name, seen in others.items())

    def _is_file(self, name: str) -> bool:
        return file_status(f"{self._project}/{name}") is not None

    def _has_nested(self, names: Iterable[str]) -> bool:
        """Whether any of these files may lie in a repository of its own, as a submodule has it."""
        folders: set[str] = set()
        for name in names:
            folder = name.rpartition("/")[0]
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        return any(os.path.lexists(f"{self._project}/{folder}/.git") for folder in folders)


def _work_tree(project: Path) -> Path | None:
    """Return the top folder of the work tree that a project is in; None if only git can tell."""
    root = next((each for each in (project, *project.parents) if (each / ".git").exists()), None)
    if root is None or shutil.which("git") is None:
        return None
    marker = root / ".git"
    try:  # git asks the user's settings about a repository of another user
        is_own = sys.platform == "win32" or all(
            each.stat().st_uid == os.geteuid() for each in (root, marker)
        )
    except OSError:
        return None
    return root if is_own else None
