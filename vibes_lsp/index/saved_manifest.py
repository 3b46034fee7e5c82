"""Where the entries of a large manifest are, saved in the user's cache folder.

A manifest of 154 MB takes 0.2 s and 200 MB of memory to parse; with this, one entry is read in
20 microseconds. The offsets are those of what the whole parser read, for a file with the same
inode, size and times; the key is compared at every reading. Manifests of unusual form have none.
"""

from __future__ import annotations

import os
import re
import weakref
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from typing_extensions import override

from vibes_lsp.errors import OutdatedIndex, UnreadableFile
from vibes_lsp.index.columns import Column, Links, Parts, group_count, saved_links
from vibes_lsp.index.id_keys import append_id_keys, id_key, key_ranges
from vibes_lsp.index.saved_columns import SavedFile, open_columns, save_columns, saved_name
from vibes_lsp.store.file_stamps import FileStamp, FileState, are_settled
from vibes_lsp.store.files import open_file
from vibes_lsp.store.manifest import EntriesOnDisk, Manifest, ManifestForm
from vibes_lsp.store.user_cache import can_write_large

MIN_MANIFEST: Final = 4 << 20
"""Bytes of a manifest from which on its offsets are saved; a smaller one is parsed in 5 ms."""
_FORMAT: Final = 3
_DIGEST: Final = 32
_is_key: Final = re.compile(r"[0-9a-f]{64}\Z").match
_COLON: Final = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*")
_MAX_GAP: Final = 4096
"""Most bytes from the start of a key to its value."""


class _Facts(msgspec.Struct, array_like=True):
    """What is saved beside the offsets.

    Attributes:
        status: Device, inode, size, time of modification and of change of the manifest.
        standard: Its `standard` member.
        version: Its `version` member.
    """

    status: tuple[int, int, int, int, int]
    standard: str
    version: str


class SavedEntries(EntriesOnDisk):
    """The entries of an open manifest.

    Args:
        file: The manifest; what is read stays that of this file when another one replaces it.
        saved: The saved offsets.
    """

    def __init__(self, file: BinaryIO, saved: SavedFile) -> None:
        self._saved = saved
        self._was_rewritten = False
        self._file = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._file)
        self._status = _status(self._file)
        self._digests = saved.column("digests")
        self._starts, self._gaps, self._lengths = map(saved.column, ("starts", "gaps", "lengths"))
        self._keys = Column("Q", saved.column("keys"))
        self._links = Links(self._keys, saved_links(saved, "keys"))

    @property
    @override
    def is_outdated(self) -> bool:
        return self._saved.is_damaged or self._was_rewritten

    @override
    def __len__(self) -> int:
        return len(self._starts)

    @override
    def __iter__(self) -> Iterator[str]:
        return map(self._key, range(len(self)))

    @override
    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._find(key) is not None

    @override
    def __getitem__(self, key: str) -> msgspec.Raw:
        index = self._find(key)
        if index is None:
            raise KeyError(key)
        gap = self._gaps[index]
        data = os.pread(self._file, gap + self._lengths[index], self._starts[index])
        if (
            not data.startswith(b'"%s"' % key.encode())
            or _status(self._file)[2:4] != (self._status[2:4])
        ):
            self._was_rewritten = True
            raise OutdatedIndex("manifest.json was rewritten", hint="run this again")
        return msgspec.Raw(data[gap:])

    @override
    def line_of(self, key: str) -> int | None:
        index = self._find(key)
        if index is None:
            return None
        return os.pread(self._file, self._starts[index], 0).count(b"\n") + 1

    @override
    def with_prefix(self, prefix: str) -> list[str]:
        indexes = self._keys.in_ranges(key_ranges(prefix))
        return [key for key in map(self._key, indexes) if key.startswith(prefix)]

    def _find(self, key: str) -> int | None:
        if not _is_key(key):
            return None
        return next(
            (each for each in self._links.items(id_key(key)) if self._key(each) == key), None
        )

    def _key(self, index: int) -> str:
        return bytes(self._digests.part(index * _DIGEST, (index + 1) * _DIGEST)).hex()


def open_saved(path: Path) -> Manifest | None:
    """Return a manifest whose entries are read where they are; None if nothing is saved for it."""
    if not hasattr(os, "pread"):  # Windows
        return None
    try:
        with open_file(path) as file:
            status = _status(file.fileno())
            saved = open_columns(*_saved_name(path)) if status[2] >= MIN_MANIFEST else None
            if saved is None:
                return None
            facts = msgspec.msgpack.decode(saved.facts, type=_Facts)
            if facts.status != status:
                return None
            entries = SavedEntries(file, saved)
    except (OSError, ValueError, KeyError, msgspec.DecodeError, UnreadableFile, OutdatedIndex):
        return None
    return Manifest(
        ManifestForm.OBJECT,
        facts.standard,
        facts.version,
        stored=entries,
        file_state=FileState(settled=True),
    )


def save(path: Path, manifest: Manifest) -> bool:
    """Save where the entries of a manifest are, if it is large and as it was read.

    Returns:
        Whether they were saved.
    """
    standard, version = manifest.standard, manifest.version
    if (
        len(manifest.data) < MIN_MANIFEST
        or manifest.form != ManifestForm.OBJECT
        or not (isinstance(standard, str) and isinstance(version, str))
        or not can_write_large()
    ):
        return False
    read = manifest.stamps[0][1] if manifest.stamps else None
    try:
        with open_file(path) as file:
            status = _status(file.fileno())
            found = FileStamp(*status[:4])
        if read is None or found != read or not are_settled([found]):
            return False
        columns = _columns(manifest, found.size - len(manifest.data))
        name, source = _saved_name(path)
    except (OSError, UnreadableFile):
        return False
    if columns is None:
        return False
    facts = msgspec.msgpack.encode(_Facts(status, standard, version))
    return save_columns(name, source, facts, columns)


def _columns(manifest: Manifest, shift: int) -> Parts | None:
    """Return where each entry is; None if a key is no hash, or an entry is not where expected.

    An entry is where its key and then the bytes of its value are found, after the one before.

    Args:
        manifest: The manifest.
        shift: Bytes of the file before its data: those of a byte order mark.
    """
    data = manifest.data
    starts, gaps, lengths = array("Q"), array("H"), array("I")
    at = 0
    for key, raw in manifest.stored.items():
        value = bytes(raw)
        name = b'"%s"' % key.encode("utf-8", "surrogatepass")
        found = _find_value(data, name, value, at) if _is_key(key) else None
        if found is None:
            return None
        start, begin = found
        starts.append(start + shift)
        gaps.append(begin - start)
        lengths.append(len(value))
        at = begin + len(value)
    keys = array("Q")
    append_id_keys(keys, list(manifest.stored))
    column = Column("Q")
    column.added = keys
    return {
        "digests": (array("B", bytes.fromhex("".join(manifest.stored))),),
        "starts": (starts,),
        "gaps": (gaps,),
        "lengths": (lengths,),
        "keys": (keys,),
        **Links(column).to_save("keys", group_count(len(keys))),
    }


def _find_value(data: bytes, name: bytes, value: bytes, at: int) -> tuple[int, int] | None:
    """Return where a name followed by a value starts, and where the value does."""
    start = data.find(name, at)
    while start >= 0:
        colon = _COLON.match(data, start + len(name))
        if colon is not None and data.startswith(value, colon.end()):
            return (start, colon.end()) if colon.end() - start < _MAX_GAP else None
        start = data.find(name, start + 1)
    return None


def _status(file: int) -> tuple[int, int, int, int, int]:
    status = os.fstat(file)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _saved_name(path: Path) -> tuple[str, str]:
    return saved_name("manifest", path, _FORMAT)
