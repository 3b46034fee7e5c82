"""Which context entries are there already, in the manifest or in our journal: asked before one is written again.

Looked at anew under the lock, and only as far as something changed. A program must not trust its own memory here: git may put
another manifest in the place of the one that held an entry, and a record that names it would name nothing.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.store.appending import Extent
from vibes_lsp.store.disk import Signature, open_file, read_file, signature
from vibes_lsp.store.entry_lines import entries_by_line
from vibes_lsp.store.journal import Journal, own_file
from vibes_lsp.store.layout import AuditDir
from vibes_lsp.store.manifest import LastRead, Manifest, ManifestForm, parse_manifest


class KnownEntries:
    """The keys of the entries that are there; the caller holds the lock of the journal.

    Args:
        directory: The trail.
        last: What others in this program have read of the manifest.
    """

    def __init__(self, directory: AuditDir, last: LastRead) -> None:
        self._manifest_path = directory.manifest
        self._journal_path = own_file(directory)
        self._last = last
        self._seen: Signature | None = None
        self._keys: Collection[str] = frozenset()
        self._frame = Manifest(ManifestForm.ABSENT)
        self._journal = Extent(0, 0)
        self._waiting: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self._keys or key in self._waiting

    @property
    def frame(self) -> Manifest:
        """The manifest without its entries: its form and its version."""
        return self._frame

    def refresh(self) -> None:
        """Take in what changed on disk; a manifest that cannot be read holds nothing."""
        try:
            found = signature(self._manifest_path)
            if found is None or found != self._seen:
                shared = self._last.at(found)
                manifest = shared or parse_manifest(read_file(self._manifest_path))
                broken = manifest.form is ManifestForm.BROKEN
                self._keys = frozenset() if broken else manifest.stored if shared is not None else frozenset(manifest.stored)
                self._frame = replace(manifest, data=b"", stored={}, journal=Journal())
                self._seen = found
                self._forget_journal()  # it may have been folded, and the one that is there now may bear the old one's inode
        except UnreadableFile:
            self._keys, self._frame, self._seen = frozenset(), Manifest(ManifestForm.BROKEN), None
            self._forget_journal()
        self._refresh_journal(self._journal_path)

    def added(self, keys: set[str], journal: Extent) -> None:
        """Take note of what the caller appended itself: the journal reaches so far then."""
        self._waiting |= keys
        self._journal = journal

    def _forget_journal(self) -> None:
        self._waiting, self._journal = set(), Extent(0, 0)

    def _refresh_journal(self, path: Path) -> None:
        try:
            found = signature(path)
            if found is None:
                self._forget_journal()
                return
            if found.inode != self._journal.inode or found.size < self._journal.size:
                self._forget_journal()
            if found.size == self._journal.size:
                return
            with open_file(path) as file:
                file.seek(self._journal.size, os.SEEK_SET)
                added, _ = entries_by_line(file.read().rpartition(b"\n")[0])
        except (UnreadableFile, OSError):
            return
        self._waiting |= set(added)
        self._journal = Extent(found.inode, found.size)
