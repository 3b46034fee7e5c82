"""Write a trail: the interface for the layers above. Acknowledged writes survive `kill -9`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.model.canonical_json import canonical_json, with_portable_numbers
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members
from vibes_lsp.store.appending import append_lines, repair_partial_line
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.bounded_lines import MAX_LINE
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.store.file_stamps import FileStamp
from vibes_lsp.store.files import (
    create_private_file,
    flush_file,
    flush_folder,
    make_folder,
    make_ignored_folder,
    read_file,
    regular_file_stamp,
    replace_file,
    write_temporary,
)
from vibes_lsp.store.git_folders import read_head
from vibes_lsp.store.journal import (
    EntriesFile,
    append_entries,
    entries_file,
    read_waiting_entries,
)
from vibes_lsp.store.journal_folding import fold_journal
from vibes_lsp.store.locks import FileLock, LockHandle, append_lock
from vibes_lsp.store.manifest import Manifest, ManifestForm, parse_manifest
from vibes_lsp.store.reasoning import PackedEntry, pack_entry
from vibes_lsp.store.versions import refuse_unsupported
from vibes_lsp.store.waiting import (
    HEAD,
    WaitingPlace,
    make_private_folder,
    place_of_waiting,
    records_in_journal,
    waiting_place,
)


class _KnownManifest:
    """The keys of the entries of a manifest, and its version.

    Args:
        path: The manifest.

    Attributes:
        frame: The manifest without its entries.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: FileStamp | None = None
        self._keys: frozenset[str] = frozenset()
        self.frame = Manifest(ManifestForm.ABSENT)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def refresh(self) -> None:
        """Read it if it changed; an unreadable one has no entries."""
        try:
            stamp = regular_file_stamp(self._path)
            if stamp is not None and stamp == self._stamp:
                return
            manifest = parse_manifest(read_file(self._path))
        except UnreadableFile:
            stamp, manifest = None, Manifest(ManifestForm.BROKEN)
        is_broken = manifest.form is ManifestForm.BROKEN
        self._keys = frozenset() if is_broken else frozenset(manifest.stored)
        self.frame = replace(manifest, data=b"", stored={})
        self._stamp = stamp


@dataclass(slots=True)
class _Destination:
    """Files that are written under one lock.

    Attributes:
        lock: The lock.
        records: Where records are appended.
        entries: Where entries are appended; the same file for what waits.
        blobs: The folder of external entries.
        temporary: A folder for temporary files on the same file system.
        place: The place in git's folder that it belongs to, if any.
        known: The entries that the file has.
    """

    lock: FileLock
    records: Path
    entries: Path
    blobs: Path
    temporary: Path
    place: WaitingPlace | None = None
    known: EntriesFile = field(default_factory=EntriesFile)

    def prepare(self) -> None:
        """Create its folders.

        Raises:
            RefusedWrite: They cannot be created.
        """
        if self.place is not None:
            make_private_folder(self.place, self.records.parent)
            for file in (self.records, self.lock.path):
                create_private_file(file)

    def refresh(self) -> None:
        """Read which entries it has; a file that is missing or unreadable has none."""
        try:
            self.known = read_waiting_entries(self.entries, self.known)
        except UnreadableFile:
            self.known = EntriesFile()


class AuditWriter:
    """Writes a trail; threads may share a writer, and many programs may write at once.

    It keeps no file open and creates none before the first write. A changed config is read again.

    Args:
        directory: The trail.
        waits: Whether records wait for their commit (R29) where a hook of ours writes it; otherwise
            they go into the log.
    """

    def __init__(self, directory: AuditDir, *, waits: bool = True) -> None:
        self._directory: Final = directory
        self._waits: Final = waits
        self._manifest: Final = _KnownManifest(directory.manifest)
        self._at_once: Final = _Destination(
            append_lock(directory),
            directory.log,
            entries_file(directory),
            directory.blobs,
            directory.journal,
        )
        self._waiting: Final[dict[Path, _Destination]] = {}
        self._written: Final[set[Path]] = set()
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
            with self._locked() as (destination, lock):
                self._prepare(config, destination, lock)
                new = {
                    entry.key: entry
                    for entry in packed
                    if not self._is_known(entry.key, destination)
                }
                if new:
                    durable = _is_durable(config)
                    self._append_entries(destination, list(new.values()), lock, durable=durable)
            return [entry.key for entry in packed]

    def append(
        self, records: Iterable[Members], *, known: Callable[[str], bool] | None = None
    ) -> list[str]:
        """Append records in one write, all or none, and return their ids (R3).

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
                with self._locked() as (destination, lock):
                    self._prepare(config, destination, lock)
                    begin = b"" if destination is self._at_once else self._head_line()
                    append_lines(
                        destination.records, begin + new, lock, durable=_is_durable(config)
                    )
        return ids

    def fold(self, *, wait: bool = True) -> int:
        """Fold the journal into the manifest; see `fold_journal`.

        Where records wait for a commit, the manifest waits too.
        """
        if self._waits and place_of_waiting(self._directory) is not None:
            return 0
        return fold_journal(self._directory, wait=wait)

    def fold_own(self, *, wait: bool = True) -> None:
        """Fold the journal if this writer has written to it."""
        if self._written:
            self.fold(wait=wait)

    def sync(self) -> None:
        """Flush all files of the trail to the disk.

        Raises:
            RefusedWrite: The disk is full or fails.
        """
        files = {self._at_once.entries, self._at_once.records, *self._written}
        folders = (self._directory.journal, self._directory.blobs, self._directory.path)
        for path in files:
            flush_file(path)
        for folder in folders:
            flush_folder(folder)

    def close(self, *, wait: bool = True) -> None:
        """Fold the journal and flush everything to the disk; see `fold`."""
        self.fold(wait=wait)
        self.sync()

    def _load_config(self) -> LoadedConfig:
        self._config = load_config(self._directory, self._config)
        return self._config

    @contextmanager
    def _locked(self) -> Iterator[tuple[_Destination, LockHandle]]:
        """Lock the first destination that can be written.

        Git's folder may be read-only, as in an agent's sandbox: then records wait in the journal's.
        """
        *preferred, last = self._destinations()
        for destination in preferred:
            with suppress(RefusedWrite):
                destination.prepare()
                lock = destination.lock.acquire()
                break
        else:
            destination, lock = last, last.lock.acquire()
        self._written.add(destination.records)
        with lock:
            yield destination, lock

    def _destinations(self) -> list[_Destination]:
        place = place_of_waiting(self._directory) if self._waits else None
        if place is None:
            return [self._at_once]
        if place.records not in self._waiting:
            within = records_in_journal(self._directory)
            self._waiting.clear()
            self._waiting[place.records] = _Destination(
                FileLock(place.lock),
                place.records,
                place.records,
                place.blobs,
                place.blobs,
                place,
            )
            self._waiting[within] = _Destination(
                self._at_once.lock,
                within,
                within,
                within.with_name("blobs"),
                within.parent,
            )
        return list(self._waiting.values())

    def _prepare(self, config: LoadedConfig, destination: _Destination, lock: LockHandle) -> None:
        """Read what changed, reject unsupported versions and repair a partial line."""
        self._manifest.refresh()
        destination.refresh()
        refuse_unsupported(config, self._manifest.frame)
        repair_partial_line((destination.records, destination.entries), lock)

    def _append_entries(
        self,
        destination: _Destination,
        new: Sequence[PackedEntry],
        lock: LockHandle,
        *,
        durable: bool,
    ) -> None:
        for entry in new:
            if entry.blob is not None:
                self._write_blob(destination, *entry.blob, durable=durable)
        lines = {entry.key: canonical_json(entry.entry) for entry in new}
        if destination.place is None:
            make_ignored_folder(destination.entries.parent)
        append_entries(destination.entries, lines, lock, durable=durable)

    def _is_known(self, key: str, destination: _Destination) -> bool:
        """Whether an entry need not be written.

        One that only the manifest has waits once more: the commit may be made on another branch.
        """
        return key in destination.known.entries or (
            destination is self._at_once and key in self._manifest
        )

    def _head_line(self) -> bytes:
        """Return the line that says on which commit the records after it were made."""
        place = waiting_place(self._directory)
        head = None if place is None else read_head(place.root)
        return canonical_json({HEAD: head}) + b"\n"

    def _write_blob(
        self, destination: _Destination, name: str, content: bytes, *, durable: bool
    ) -> None:
        """Write a blob unless it exists; its name is the hash of its content (R8)."""
        path = destination.blobs / name
        if path.is_file():
            return
        if destination.place is None:
            make_ignored_folder(self._directory.journal)
            make_folder(destination.blobs)
        else:
            make_private_folder(destination.place, destination.blobs)
        replace_file(write_temporary(destination.temporary, content, durable=durable), path)
        if durable:
            flush_folder(path.parent)


def _is_durable(config: LoadedConfig) -> bool:
    """Whether to flush every acknowledged batch to the disk (R9)."""
    return config.config.durability == "full"
