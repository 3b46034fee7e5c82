"""Reading the manifest (RFC 6, R10): the whole file or its interim JSONL form, entries of the journal, decoded on use."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Any, Final

import msgspec

from vibes_lsp.errors import MalformedJson, UnreadableFile, VibesError
from vibes_lsp.model.canonical_json import (
    FastDecoder,
    canonical_json,
    json_type,
    parse_json,
    parse_json_prefix,
    parse_object,
    same_value,
)
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import (
    Clock,
    FileSignature,
    FileState,
    file_signature,
    is_settled,
    read_file,
)
from vibes_lsp.store.journal import Journal, journal_files, parse_entry_lines, read_journal


class ManifestForm(StrEnum):
    """How the manifest was found on disk."""

    OBJECT = "object"
    JSONL = "jsonl"
    BROKEN = "broken"
    ABSENT = "absent"


_KEY: Final = re.compile(rb'"([0-9a-f]{64})"\s*:')
_MAX_ENTRY: Final = 16 << 20
"""Bytes of an entry that are compared with another one of the same key."""


_QUICK: Final = 1 << 20
"""A manifest of more bytes is believed to be what its signature says until that is old enough to be sure, and then looked at once more."""


class _Frame(msgspec.Struct):
    entries: dict[str, msgspec.Raw]
    standard: Any = None
    version: Any = None


_DECODER: Final = FastDecoder(_Frame)


@dataclass(frozen=True)
class Manifest:
    """The context entries of a trail as they were at one moment.

    Attributes:
        form: How the file was found.
        standard: Its `standard` member, whatever it is.
        version: Its `version` member, whatever it is.
        problem: Why the file could not be read as the RFC writes it; the entries are then those that could be saved.
        journal: What waits to be folded into it.
        data: The file's bytes, to find places in.
        stored: Its entries' bytes by key.
        signatures: The files that this was read from, the manifest first; None when one of them could not be read.
        look: The last look at the manifest itself.
    """

    form: ManifestForm
    standard: JsonValue = None
    version: JsonValue = None
    problem: VibesError | None = None
    journal: Journal = field(default_factory=Journal, repr=False)
    data: bytes = field(default=b"", repr=False)
    stored: dict[str, msgspec.Raw] = field(default_factory=dict, repr=False)
    signatures: tuple[tuple[str, FileSignature | None], ...] | None = field(default=(), repr=False)
    file_state: FileState = field(default_factory=FileState, repr=False, compare=False)

    def __contains__(self, key: str) -> bool:
        return key in self.stored or key in self.journal.entries

    def __len__(self) -> int:
        return len(self.stored) + len(self.pending)

    def __iter__(self) -> Iterator[str]:
        """All keys in the order of the file, the journal's last."""
        return chain(self.stored, (key for key in self.journal.entries if key not in self.stored))

    @property
    def journal_problems(self) -> tuple[tuple[str, VibesError], ...]:
        """Files of the journal that could not be read, and why."""
        return self.journal.problems

    @property
    def pending(self) -> frozenset[str]:
        """Keys that only the journal holds."""
        return frozenset(key for key in self.journal.entries if key not in self.stored)

    def entry(self, key: str) -> Members | None:
        """Return the entry exactly as stored; None when there is none or it is not a JSON object."""
        if key not in self:
            return None
        try:
            return parse_object(self.raw(key))
        except MalformedJson:
            return None

    def type_of(self, key: str) -> str | None:
        """Return the entry's `type`; None when there is no such entry or it has none."""
        entry = self.entry(key)
        kind = entry.get("type") if entry else None
        return kind if isinstance(kind, str) else None

    def raw(self, key: str) -> bytes:
        """Return the entry's bytes as stored.

        Raises:
            KeyError: There is no such entry.
        """
        return bytes(self.stored[key] if key in self.stored else self.journal.entries[key])

    def line_of(self, key: str) -> int | None:
        """Return the 1-based line of the manifest on which the entry starts; None for one of the journal."""
        return self._lines.get(key)

    @cached_property
    def _lines(self) -> dict[str, int]:
        lines: dict[str, int] = {}
        line, counted = 1, 0
        for match in _KEY.finditer(self.data):
            line += self.data.count(b"\n", counted, match.start())
            counted = match.start()
            lines.setdefault(match[1].decode(), line)
        return lines


class ManifestCache:
    """The manifest as somebody in this program has read or written it last: several who follow one trail take it from here."""

    def __init__(self) -> None:
        self._manifest: Manifest | None = None

    def put(self, manifest: Manifest) -> None:
        """Take a manifest in; its signature was taken before its content was read, or is that of the file that was written."""
        self._manifest = manifest

    def get(self, found: FileSignature | None) -> Manifest | None:
        """Return the manifest that a file with this signature holds; None when another one was told of."""
        manifest = self._manifest
        if found is None or manifest is None or not manifest.signatures:
            return None
        return manifest if manifest.signatures[0][1] == found else None


def read_manifest(
    directory: AuditDir,
    previous: Manifest | None = None,
    *,
    manifest_cache: ManifestCache | None = None,
    now_ns: Clock = time.time_ns,
) -> Manifest:
    """Return the manifest with its journal; the previous one when nothing has changed on disk. Never raises.

    The journal is read first, because entries move from there into the manifest; while only it grows, the manifest that was
    read before stays as it is.

    Args:
        directory: The trail.
        previous: What was returned last.
        last: What others have read; told what is read here.
        now_ns: The clock that file times are compared with.
    """
    try:
        signatures = tuple(_signatures(directory))
        if (
            previous is not None
            and signatures == previous.signatures
            and previous.file_state.settled
        ):
            return previous
        journal = read_journal(directory, None if previous is None else previous.journal)
        read = _read_file(
            directory, previous, signatures[0], manifest_cache or ManifestCache(), now_ns
        )
    except UnreadableFile as error:
        if (
            previous is not None
            and isinstance(previous.problem, UnreadableFile)
            and previous.problem.message == error.message
        ):
            return previous
        return Manifest(ManifestForm.BROKEN, problem=error, signatures=None)
    if read is previous and signatures == read.signatures:
        return read
    return replace(read, journal=journal, signatures=signatures)


def _read_file(
    directory: AuditDir,
    previous: Manifest | None,
    signed: tuple[str, FileSignature | None],
    manifest_cache: ManifestCache,
    now_ns: Clock,
) -> Manifest:
    """Return the manifest without its journal, or the one that was read before when the file itself has not changed."""
    times = [found for found in signed[1:] if found is not None]
    same = (
        previous
        if previous is not None
        and previous.signatures is not None
        and previous.signatures[:1] == (signed,)
        else None
    )
    same = same or manifest_cache.get(signed[1])
    if same is not None and (
        same.file_state.settled or (len(same.data) > _QUICK and not is_settled(times, now_ns))
    ):
        return same
    data = read_file(directory.manifest)
    if same is not None and same.file_state.recheck(data, times, now_ns):
        return same
    read = replace(
        parse_manifest(data), file_state=FileState.of(data, times, now_ns), signatures=(signed,)
    )
    manifest_cache.put(read)
    return read


def _signatures(directory: AuditDir) -> Iterator[tuple[str, FileSignature | None]]:
    """Give the signature of the manifest, None when it is not there, and then those of the journal's files."""
    yield directory.manifest.name, file_signature(directory.manifest)
    for path in journal_files(directory):
        found = file_signature(path)
        if found is not None:
            yield path.name, found


def parse_manifest(data: bytes | None) -> Manifest:
    """Return the manifest that these bytes are, from wherever they come; None is an absent file. Never raises."""
    if data is None:
        return Manifest(ManifestForm.ABSENT)
    data = data.removeprefix(b"\xef\xbb\xbf")
    frame = _DECODER.decode(data)
    if frame is None:
        return _read_otherwise(data)
    return Manifest(
        ManifestForm.OBJECT, frame.standard, frame.version, data=data, stored=frame.entries
    )


def _read_otherwise(data: bytes) -> Manifest:
    """Read what is not the RFC's object: its JSONL form, else whatever entries stand on lines of their own."""
    entries, strays = parse_entry_lines(data)
    if entries and not strays:
        return Manifest(ManifestForm.JSONL, "VIBES", "1.0", data=data, stored=entries)
    try:
        value = parse_json(data)
    except MalformedJson as error:
        return Manifest(ManifestForm.BROKEN, problem=error, data=data, stored=entries)
    if not isinstance(value, dict):
        reason = f"expected an object, found a JSON {json_type(value)}"
        return Manifest(ManifestForm.BROKEN, problem=MalformedJson(reason), data=data)
    standard, version, members = value.get("standard"), value.get("version"), value.get("entries")
    if isinstance(members, dict):  # only a lone surrogate makes it unusual
        stored = {key: msgspec.Raw(canonical_json(entry)) for key, entry in members.items()}
        return Manifest(ManifestForm.OBJECT, standard, version, data=data, stored=stored)
    reason = (
        "member 'entries' is missing"
        if "entries" not in value
        else "member 'entries' is not an object"
    )
    return Manifest(ManifestForm.BROKEN, standard, version, MalformedJson(reason), data=data)


def conflicting_keys(data: bytes) -> list[tuple[str, int]]:
    """Return the keys that stand more than once with different entries, each with the line where it stands again."""
    first: dict[bytes, re.Match[bytes]] = {}
    again: list[tuple[str, int]] = []
    for match in _KEY.finditer(data):
        before = first.setdefault(match[1], match)
        if before is not match and not _same_entry(data, before.end(), match.end()):
            again.append((match[1].decode(), data.count(b"\n", 0, match.start()) + 1))
    return again


def _same_entry(data: bytes, one: int, other: int) -> bool:
    """Whether two entries are one but for the time at which they were recorded, which no hash covers (RFC 5.2)."""
    try:
        return equal_except_time(
            *(parse_json_prefix(_text_at(data, start)) for start in (one, other))
        )
    except MalformedJson:
        return False


def _text_at(data: bytes, start: int) -> str:
    return data[start : start + _MAX_ENTRY].decode("utf-8", "replace")


def equal_except_time(one: JsonValue, other: JsonValue) -> bool:
    """Whether two entries differ in nothing but `created_at`, which no hash covers (RFC 5.2)."""
    return same_value(_without_time(one), _without_time(other))


def _without_time(value: JsonValue) -> JsonValue:
    return (
        {name: each for name, each in value.items() if name != "created_at"}
        if isinstance(value, dict)
        else value
    )
