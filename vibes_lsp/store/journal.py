"""The journal (RFC 9.3, R10): entries in `wal/` that wait to be folded into the manifest, one JSON object per line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec
from typing_extensions import override

from vibes_lsp.errors import MalformedJson, UnreadableFile, VibesError
from vibes_lsp.model.canonical_json import (
    parse_json,
    parse_object,
    parse_raw_members,
)
from vibes_lsp.model.hashing import context_hash
from vibes_lsp.store.appending import Extent, append_lines
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import (
    MAX_FILE,
    file_signature,
    make_ignored_folder,
    open_file,
    read_file,
)
from vibes_lsp.store.locks import LockHandle

_V = TypeVar("_V")


class LayeredMap(Mapping[str, _V], Generic[_V]):
    """Items in the order in which they were added; a layer is merged into the one below once it is half as large."""

    __slots__ = ("_layers",)

    def __init__(self, *layers: dict[str, _V]) -> None:
        self._layers = layers

    def plus(self, items: Mapping[str, _V]) -> LayeredMap[_V]:
        """Return this with more items; of those with a key that is here, the first stays."""
        new = {key: value for key, value in items.items() if key not in self}
        if not new:
            return self
        layers = [*self._layers, new]
        while len(layers) > 1 and 2 * len(layers[-1]) >= len(layers[-2]):
            top = layers.pop()
            layers[-1] = {**layers[-1], **top}
        return LayeredMap(*layers)

    @override
    def __getitem__(self, key: str) -> _V:
        for layer in self._layers:
            if key in layer:
                return layer[key]
        raise KeyError(key)

    @override
    def __contains__(self, key: object) -> bool:
        return any(key in layer for layer in self._layers)

    @override
    def __iter__(self) -> Iterator[str]:
        for layer in self._layers:
            yield from layer

    @override
    def __len__(self) -> int:
        return sum(map(len, self._layers))


ENTRIES_NAME: Final = "entries.jsonl"
"""The file that our writers share; it is gone when nothing waits."""
_TAIL: Final = 4 << 10
"""Bytes by which our file is known again: it ends with the entries that were read last, or another one is in its place."""


@dataclass(frozen=True, slots=True)
class Journal:
    """What waits.

    Attributes:
        entries: The entries' bytes by key.
        problems: Files that could not be read, or not all of them, and why.
        own: What our own file holds; None when it is not there.
    """

    entries: Mapping[str, msgspec.Raw] = field(default_factory=dict)
    problems: tuple[tuple[str, VibesError], ...] = ()
    entries_file: EntriesFile | None = None

    @property
    def entries_file_size(self) -> int | None:
        """Bytes of our own file; None when it is not there."""
        return None if self.entries_file is None else self.entries_file.size


@dataclass(frozen=True, slots=True)
class EntriesFile:
    """The file that our writers share, as it was read.

    Attributes:
        size: Its bytes.
        whole: How many of them are whole lines.
        tail: The last of those.
        entries: What is in them.
        strays: How many of them are no entry.
    """

    size: int = 0
    whole: int = 0
    tail: bytes = b""
    entries: LayeredMap[msgspec.Raw] = field(default_factory=LayeredMap)
    strays: int = 0


def entries_file(directory: AuditDir) -> Path:
    """Return the path of the file that our writers share."""
    return directory.journal / ENTRIES_NAME


def journal_files(directory: AuditDir) -> list[Path]:
    """Return the journal's files, ours and others', in the order in which they are read."""
    try:
        with os.scandir(directory.journal) as found:
            return sorted(
                Path(each) for each in found if each.name.endswith(".jsonl") and each.is_file()
            )
    except OSError:
        return []


def read_journal(directory: AuditDir, previous: Journal | None = None) -> Journal:
    """Return all that waits; an unfinished last line waits for its end. Of our own file, only what came since the previous one is read. Never raises."""
    others: dict[str, msgspec.Raw] = {}
    problems: list[tuple[str, VibesError]] = []
    own = None
    for path in journal_files(directory):
        try:
            if path.name == ENTRIES_NAME:
                own = _read_own(path, None if previous is None else previous.entries_file)
                strays = own.strays
            else:
                found, strays = parse_entry_lines((read_file(path) or b"").rpartition(b"\n")[0])
                others.update(found)
        except UnreadableFile as error:
            problems.append((path.name, error))
            continue
        if strays:
            reason = (
                f"{strays} line is no context entry"
                if strays == 1
                else f"{strays} lines are no context entries"
            )
            problems.append((path.name, MalformedJson(reason)))
    waiting = {} if own is None else own.entries
    return Journal({**waiting, **others} if others else waiting, tuple(problems), own)


def _read_own(path: Path, previous: EntriesFile | None) -> EntriesFile:
    """Take our file apart, from where the previous one ends if it only grew.

    Raises:
        UnreadableFile: It cannot be read, or is too large.
    """
    found = file_signature(path)
    if found is not None and found.size > MAX_FILE:
        raise UnreadableFile(
            f"{path.name} has {found.size:,} bytes, more than the {MAX_FILE:,} that are read"
        )
    begun = previous or EntriesFile()
    try:
        with open_file(path) as file:
            file.seek(begun.whole - len(begun.tail))
            data = file.read()
            if begun.whole and not data.startswith(begun.tail):
                begun = EntriesFile()
                file.seek(0)
                data = file.read()
    except OSError as error:
        raise UnreadableFile(f"{path.name} cannot be read: {error.strerror or error}") from error
    added = data[len(begun.tail) :]
    whole = added[: added.rfind(b"\n") + 1]
    entries, strays = parse_entry_lines(whole)
    return EntriesFile(
        begun.whole + len(added),
        begun.whole + len(whole),
        (begun.tail + whole)[-_TAIL:],
        begun.entries.plus(entries),
        begun.strays + strays,
    )


def append_entries(
    own: Path, entries: Mapping[str, bytes], held: LockHandle, *, durable: bool = False
) -> Extent:
    """Append entries, given as JSON on one line each, to our file, and return how far it reaches then.

    Raises:
        RefusedWrite: The folder does not allow it, or the disk is full; the journal is as it was.
    """
    make_ignored_folder(own.parent)
    lines = b"".join(b'{"%s":%s}\n' % (key.encode(), entry) for key, entry in entries.items())
    return append_lines(own, lines, held, durable=durable)


_HASH: Final = re.compile(r"[0-9a-f]{64}\Z")


def parse_entry_lines(data: bytes) -> tuple[dict[str, msgspec.Raw], int]:
    """Return the entries that stand on one line each, and how many other lines there are.

    A line may be `{"<hash>": {…}}`, the same without its braces (as a manifest is laid out, R10), or a bare entry.
    """
    entries: dict[str, msgspec.Raw] = {}
    strays = 0
    for line in data.splitlines():
        text = line.strip().strip(b",")
        if not text:
            continue
        found = _entries_in(text if text.startswith(b"{") else b"{" + text + b"}")
        strays += found is None
        entries.update(found or {})
    return entries, strays


def _entries_in(text: bytes) -> dict[str, msgspec.Raw] | None:
    members = parse_raw_members(text)
    if members is None:
        return None
    if members and all(map(_HASH.match, members)):
        return members if all(map(_is_strict, members.values())) else None
    if "entries" not in members and "type" in members:
        try:
            return {context_hash(parse_object(text)): msgspec.Raw(text)}
        except MalformedJson:
            return None
    return {} if set(members) == {"standard", "version"} else None


def _is_strict(raw: msgspec.Raw) -> bool:
    """Whether the value can be hashed (R1): msgspec does not look into what it skips."""
    try:
        parse_json(bytes(raw))
    except MalformedJson:
        return False
    return True
