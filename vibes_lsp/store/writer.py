"""Write a trail: the interface for all layers above. Entries and records that are acknowledged survive `kill -9`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from vibes_lsp.errors import RefusedWrite, UnreadableFile, UnsupportedVersion
from vibes_lsp.model.canonical_json import canonical_json, portable
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members
from vibes_lsp.store.appending import Extent, append_lines, repair_partial_line
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.store.files import (
    FileSignature,
    file_signature,
    flush_file,
    flush_folder,
    make_folder,
    make_ignored_folder,
    open_file,
    read_file,
    replace_file,
    write_temporary,
)
from vibes_lsp.store.journal import Journal, append_entries, entries_file, parse_entry_lines
from vibes_lsp.store.journal_folding import fold_journal
from vibes_lsp.store.locks import LOCK_TIMEOUT, LockHandle, append_lock, fold_lock
from vibes_lsp.store.log_follower import MAX_LINE
from vibes_lsp.store.manifest import Manifest, ManifestCache, ManifestForm, parse_manifest
from vibes_lsp.store.reasoning import PackedEntry, pack_entry
from vibes_lsp.store.versions import unsupported_versions


class KnownEntries:
    """The keys of the entries that are there; the caller holds the lock of the journal.

    Args:
        directory: The trail.
        last: What others in this program have read of the manifest.
    """

    def __init__(self, directory: AuditDir, manifest_cache: ManifestCache) -> None:
        self._manifest_path = directory.manifest
        self._journal_path = entries_file(directory)
        self._manifest_cache = manifest_cache
        self._seen: FileSignature | None = None
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
            found = file_signature(self._manifest_path)
            if found is None or found != self._seen:
                shared = self._manifest_cache.get(found)
                manifest = shared or parse_manifest(read_file(self._manifest_path))
                broken = manifest.form is ManifestForm.BROKEN
                self._keys = (
                    frozenset()
                    if broken
                    else manifest.stored
                    if shared is not None
                    else frozenset(manifest.stored)
                )
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
            found = file_signature(path)
            if found is None:
                self._forget_journal()
                return
            if found.inode != self._journal.inode or found.size < self._journal.size:
                self._forget_journal()
            if found.size == self._journal.size:
                return
            with open_file(path) as file:
                file.seek(self._journal.size, os.SEEK_SET)
                added, _ = parse_entry_lines(file.read().rpartition(b"\n")[0])
        except (UnreadableFile, OSError):
            return
        self._waiting |= set(added)
        self._journal = Extent(found.inode, found.size)


class AuditWriter:
    """Writes one trail; threads may share it, and any number of programs may have one.

    It holds nothing open, and makes nothing until something is written. The config is read again whenever it changes.

    Args:
        directory: The trail.
        timeout: Seconds to wait for another program that holds a lock.
        last: What others in this program have read of the manifest, and are told of it.
    """

    def __init__(
        self,
        directory: AuditDir,
        *,
        timeout: float = LOCK_TIMEOUT,
        manifest_cache: ManifestCache | None = None,
    ) -> None:
        self._directory: Final = directory
        self._timeout: Final = timeout
        self._lock: Final = append_lock(directory, timeout)
        self._log: Final = directory.log
        self._journal: Final = entries_file(directory)
        self._manifest_cache: Final = manifest_cache or ManifestCache()
        self._known: Final = KnownEntries(directory, self._manifest_cache)
        self._config: LoadedConfig | None = None
        self._threads: Final = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def entry(self, members: Members) -> str:
        """Write a context entry unless it is there, and return its hash; see `entries`."""
        return self.entries([members])[0]

    def entries(self, items: Iterable[Members]) -> list[str]:
        """Write context entries, each unless it is there, and return their hashes as stored (R1, R8).

        Args:
            items: Entries in their inline form, with `type` and `created_at`. A long reasoning is compressed, or put into a blob.

        Raises:
            RefusedWrite: The trail cannot be locked or written, or an entry cannot be stored; nothing was added.
            UnsupportedVersion: The trail is of a version that is not ours to change (R11).
        """
        with self._threads:
            config = self._load()
            packed = [pack_entry(members, config.config) for members in items]
            with self._lock.acquire() as held:
                self._prepare(config, held)
                new = {each.key: each for each in packed if each.key not in self._known}
                if new:
                    self._add(list(new.values()), held, durable=_durable(config))
            return [each.key for each in packed]

    def append(
        self, records: Iterable[Members], *, known: Callable[[str], bool] | None = None
    ) -> list[str]:
        """Append records to the log by one write, all or none, and return their ids (R3).

        Whatever they name must have been written before. A record that stands there already, with the same id, is no harm: both
        lines are one record.

        Args:
            records: Without `annotation_id`; one that is given is computed anew.
            known: Says of an id whether the log has it; such a record is not written again.

        Raises:
            RefusedWrite: The log cannot be locked or written, or a record is not JSON or too long; nothing was added.
            UnsupportedVersion: The trail is of a version that is not ours to change (R11).
        """
        lines: dict[str, bytes] = {}
        ids: list[str] = []
        for record in map(portable, records):
            identifier = annotation_id(record)
            ids.append(identifier)
            lines[identifier] = canonical_json({**record, "annotation_id": identifier}) + b"\n"
            if len(lines[identifier]) > MAX_LINE:
                raise RefusedWrite(
                    f"a record of {len(lines[identifier]):,} bytes is longer than the {MAX_LINE:,} that are read"
                )
        new = b"".join(
            line for identifier, line in lines.items() if known is None or not known(identifier)
        )
        with self._threads:
            config = self._load()
            if new:
                with self._lock.acquire() as held:
                    self._prepare(config, held)
                    held.record_size(
                        append_lines(self._log, new, held, durable=_durable(config)).size
                    )
        return ids

    def fold(self, *, wait: bool = True) -> int:
        """Bring the manifest up to date and clear away what dead programs left; see `folding.fold`."""
        return fold_journal(
            self._directory, wait=wait, timeout=self._timeout, manifest_cache=self._manifest_cache
        )

    def sync(self) -> None:
        """Bring to the disk whatever has been written so far, by anyone.

        Raises:
            RefusedWrite: The disk is full or fails.
        """
        for path in (self._journal, self._log):
            flush_file(path)
        for folder in (self._directory.journal, self._directory.blobs, self._directory.path):
            flush_folder(folder)

    def close(self, *, wait: bool = True) -> None:
        """Fold, and bring everything to the disk; see `fold`."""
        self.fold(wait=wait)
        self.sync()

    def _load(self) -> LoadedConfig:
        self._config = load_config(self._directory, self._config)
        return self._config

    def _prepare(self, config: LoadedConfig, held: LockHandle) -> None:
        """Look at what is there now, and refuse what is not ours to add to."""
        self._known.refresh()
        unsupported = unsupported_versions(config, self._known.frame)
        if unsupported:
            raise UnsupportedVersion(
                unsupported[0],
                hint="nothing was changed; upgrade, or correct the version if it is a mistake",
            )
        repair_partial_line((self._log, self._journal), held)

    def _add(self, new: Sequence[PackedEntry], held: LockHandle, *, durable: bool) -> None:
        for each in new:
            if each.blob is not None:
                self._write_blob(*each.blob, durable=durable)
        lines = {each.key: canonical_json(each.entry) for each in new}
        reached = append_entries(self._journal, lines, held, durable=durable)
        self._known.added(set(lines), reached)

    def _write_blob(self, name: str, content: bytes, *, durable: bool) -> None:
        """Write an external file; its name says what it holds (R8), so one that is there stays."""
        path: Path = self._directory.blobs / name
        if path.is_file():
            return
        make_folder(self._directory.blobs)
        make_ignored_folder(self._directory.journal)
        replace_file(write_temporary(self._directory.journal, content, durable=durable), path)
        if durable:
            flush_folder(path.parent)


def is_truncated(directory: AuditDir) -> bool:
    """Whether log or manifest are shorter than this program left them, as while another one has put aside what is not staged."""
    locks = {directory.log: append_lock(directory), directory.manifest: fold_lock(directory)}
    return any(_size(path) < lock.recorded_size() for path, lock in locks.items())


def _size(path: Path) -> int:
    found = file_signature(path)
    return 0 if found is None else found.size


def _durable(config: LoadedConfig) -> bool:
    """Whether every acknowledged batch shall be on the disk, and not only with the system (R9)."""
    return config.config.durability == "full"
