"""Write a trail: the interface for the layers above. Acknowledged writes survive `kill -9`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

from vibes_lsp.errors import RefusedWrite, UnreadableFile, UnsupportedVersion
from vibes_lsp.model.canonical_json import canonical_json, with_portable_numbers
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members
from vibes_lsp.store.appending import Extent, append_lines, repair_partial_line
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.store.file_stamps import FileStamp
from vibes_lsp.store.files import (
    flush_file,
    flush_folder,
    make_folder,
    make_ignored_folder,
    open_file,
    read_file,
    regular_file_stamp,
    replace_file,
    write_temporary,
)
from vibes_lsp.store.journal import Journal, append_entries, entries_file, parse_entry_lines
from vibes_lsp.store.journal_folding import fold_journal
from vibes_lsp.store.locks import LockHandle, append_lock, fold_lock
from vibes_lsp.store.log_batches import MAX_LINE
from vibes_lsp.store.manifest import Manifest, ManifestCache, ManifestForm, parse_manifest
from vibes_lsp.store.reasoning import PackedEntry, pack_entry
from vibes_lsp.store.versions import unsupported_versions


class KnownEntries:
    """The keys of the stored entries; the caller holds the append lock.

    Args:
        directory: The trail.
        manifest_cache: The manifest shared in this process.
    """

    def __init__(self, directory: AuditDir, manifest_cache: ManifestCache) -> None:
        self._manifest_path = directory.manifest
        self._journal_path = entries_file(directory)
        self._manifest_cache = manifest_cache
        self._manifest_stamp: FileStamp | None = None
        self._manifest_keys: Collection[str] = frozenset()
        self._frame = Manifest(ManifestForm.ABSENT)
        self._journal = Extent(0, 0)
        self._journal_keys: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self._manifest_keys or key in self._journal_keys

    @property
    def frame(self) -> Manifest:
        """The manifest without its entries: its form and version."""
        return self._frame

    def refresh(self) -> None:
        """Read what changed on disk; an unreadable manifest has no entries."""
        try:
            found = regular_file_stamp(self._manifest_path)
            if found is None or found != self._manifest_stamp:
                shared = self._manifest_cache.get(found)
                manifest = (
                    parse_manifest(read_file(self._manifest_path)) if shared is None else shared
                )
                keys = manifest.stored if shared is not None else frozenset(manifest.stored)
                broken = manifest.form is ManifestForm.BROKEN
                self._manifest_keys = frozenset() if broken else keys
                self._frame = replace(manifest, data=b"", stored={}, journal=Journal())
                self._manifest_stamp = found
                # It may have been folded, and a new one may have the same inode.
                self._reset_journal()
        except UnreadableFile:
            self._manifest_keys, self._frame, self._manifest_stamp = (
                frozenset(),
                Manifest(ManifestForm.BROKEN),
                None,
            )
            self._reset_journal()
        self._refresh_journal(self._journal_path)

    def add(self, keys: set[str], journal: Extent) -> None:
        """Add keys that the caller appended, and the new size of the journal."""
        self._journal_keys |= keys
        self._journal = journal

    def _reset_journal(self) -> None:
        self._journal_keys, self._journal = set(), Extent(0, 0)

    def _refresh_journal(self, path: Path) -> None:
        try:
            found = regular_file_stamp(path)
            if found is None:
                self._reset_journal()
                return
            if found.inode != self._journal.inode or found.size < self._journal.size:
                self._reset_journal()
            if found.size == self._journal.size:
                return
            with open_file(path) as file:
                file.seek(self._journal.size, os.SEEK_SET)
                added, _ = parse_entry_lines(file.read().rpartition(b"\n")[0])
        except (UnreadableFile, OSError):
            return
        self._journal_keys |= set(added)
        self._journal = Extent(found.inode, found.size)


class AuditWriter:
    """Writes a trail; threads may share a writer, and many programs may write at once.

    It keeps no file open and creates none before the first write. A changed config is read again.

    Args:
        directory: The trail.
        manifest_cache: The manifest shared in this process; updated.
    """

    def __init__(
        self,
        directory: AuditDir,
        *,
        manifest_cache: ManifestCache | None = None,
    ) -> None:
        self._directory: Final = directory
        self._append_lock: Final = append_lock(directory)
        self._log: Final = directory.log
        self._journal: Final = entries_file(directory)
        self._manifest_cache: Final = manifest_cache or ManifestCache()
        self._known: Final = KnownEntries(directory, self._manifest_cache)
        self._config: LoadedConfig | None = None
        self._thread_lock: Final = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def entry(self, members: Members) -> str:
        """Write a context entry if it is new, and return its hash; see `entries`."""
        return self.entries([members])[0]

    def entries(self, items: Iterable[Members]) -> list[str]:
        """Write the new ones of these context entries; return the hashes of all as stored (R1, R8).

        Args:
            items: Inline entries with `type` and `created_at`; long reasoning is compressed or
                stored in a blob.

        Raises:
            RefusedWrite: The trail cannot be locked or written, or an entry is invalid; nothing
                was added.
            UnsupportedVersion: The trail has an unsupported version (R11).
        """
        with self._thread_lock:
            config = self._load_config()
            packed = [pack_entry(members, config.config) for members in items]
            with self._append_lock.acquire() as lock:
                self._prepare(config, lock)
                new = {each.key: each for each in packed if each.key not in self._known}
                if new:
                    self._append_entries(list(new.values()), lock, durable=_is_durable(config))
            return [each.key for each in packed]

    def append(
        self, records: Iterable[Members], *, known: Callable[[str], bool] | None = None
    ) -> list[str]:
        """Append records to the log in one write, all or none, and return their ids (R3).

        Write the entries that they name first. Two lines with one id count as one record, so a
        duplicate does no harm.

        Args:
            records: The records; `annotation_id` is computed.
            known: Whether the log has an id; those records are not written again.

        Raises:
            RefusedWrite: The log cannot be locked or written, or a record is invalid or too long;
                nothing was added.
            UnsupportedVersion: The trail has an unsupported version (R11).
        """
        lines: dict[str, bytes] = {}
        ids: list[str] = []
        for record in map(with_portable_numbers, records):
            identifier = annotation_id(record)
            ids.append(identifier)
            lines[identifier] = canonical_json({**record, "annotation_id": identifier}) + b"\n"
            if len(lines[identifier]) > MAX_LINE:
                raise RefusedWrite(
                    f"record is too long: {len(lines[identifier]):,} bytes,"
                    f" expected at most {MAX_LINE:,}"
                )
        new = b"".join(
            line for identifier, line in lines.items() if known is None or not known(identifier)
        )
        with self._thread_lock:
            config = self._load_config()
            if new:
                with self._append_lock.acquire() as lock:
                    self._prepare(config, lock)
                    lock.record_size(
                        append_lines(self._log, new, lock, durable=_is_durable(config)).size
                    )
        return ids

    def fold(self, *, wait: bool = True) -> int:
        """Fold the journal into the manifest; see `fold_journal`."""
        return fold_journal(self._directory, wait=wait, manifest_cache=self._manifest_cache)

    def sync(self) -> None:
        """Flush all files of the trail to the disk.

        Raises:
            RefusedWrite: The disk is full or fails.
        """
        for path in (self._journal, self._log):
            flush_file(path)
        for folder in (self._directory.journal, self._directory.blobs, self._directory.path):
            flush_folder(folder)

    def close(self, *, wait: bool = True) -> None:
        """Fold the journal and flush everything to the disk; see `fold`."""
        self.fold(wait=wait)
        self.sync()

    def _load_config(self) -> LoadedConfig:
        self._config = load_config(self._directory, self._config)
        return self._config

    def _prepare(self, config: LoadedConfig, lock: LockHandle) -> None:
        """Read what changed, reject unsupported versions and repair a partial line."""
        self._known.refresh()
        unsupported = unsupported_versions(config, self._known.frame)
        if unsupported:
            raise UnsupportedVersion(
                unsupported[0],
                hint="nothing was changed; upgrade vibes, or correct the version",
            )
        repair_partial_line((self._log, self._journal), lock)

    def _append_entries(
        self, new: Sequence[PackedEntry], lock: LockHandle, *, durable: bool
    ) -> None:
        for each in new:
            if each.blob is not None:
                self._write_blob(*each.blob, durable=durable)
        lines = {each.key: canonical_json(each.entry) for each in new}
        reached = append_entries(self._journal, lines, lock, durable=durable)
        self._known.add(set(lines), reached)

    def _write_blob(self, name: str, content: bytes, *, durable: bool) -> None:
        """Write a blob unless it exists; its name is the hash of its content (R8)."""
        path: Path = self._directory.blobs / name
        if path.is_file():
            return
        make_folder(self._directory.blobs)
        make_ignored_folder(self._directory.journal)
        replace_file(write_temporary(self._directory.journal, content, durable=durable), path)
        if durable:
            flush_folder(path.parent)


def is_truncated(directory: AuditDir) -> bool:
    """Whether log or manifest are shorter than last written, as when a hook stashes changes."""
    locks = {directory.log: append_lock(directory), directory.manifest: fold_lock(directory)}
    return any(_size_of(path) < lock.recorded_size() for path, lock in locks.items())


def _size_of(path: Path) -> int:
    found = regular_file_stamp(path)
    return 0 if found is None else found.size


def _is_durable(config: LoadedConfig) -> bool:
    """Whether to flush every acknowledged batch to the disk (R9)."""
    return config.config.durability == "full"
