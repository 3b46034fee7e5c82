"""Read the manifest and its journal (RFC 6, R10); entries are decoded on use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
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
    object_or_none,
    parse_json,
    parse_json_prefix,
    same_value,
)
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.file_stamps import FileStamp, FileState
from vibes_lsp.store.files import (
    read_file,
    regular_file_stamp,
)
from vibes_lsp.store.journal import (
    Journal,
    journal_files,
    parse_entry_lines,
    read_journal,
)
from vibes_lsp.store.waiting import waiting_files


class ManifestForm(StrEnum):
    """The form of the manifest on disk; `JSONL` is the interim form of RFC 9.3."""

    OBJECT = "object"
    JSONL = "jsonl"
    BROKEN = "broken"
    ABSENT = "absent"


_KEY: Final = re.compile(rb'"([0-9a-f]{64})"\s*:')
_MARK: Final = re.compile(rb'\\.|["{}\[\]]', re.DOTALL)
"""An escape, a quote or a bracket."""
_MAX_COMPARED: Final = 16 << 20
"""Bytes of an entry that are compared with a duplicate."""


class _Frame(msgspec.Struct):
    entries: dict[str, msgspec.Raw]
    standard: Any = None
    version: Any = None


_DECODER: Final = FastDecoder(_Frame)


@dataclass(frozen=True)
class Manifest:
    """The context entries of a trail as of the last read.

    Attributes:
        form: The form of the file.
        standard: Its `standard` member as stored.
        version: Its `version` member as stored.
        problem: Why the file is not a valid manifest; entries are those that could still be read.
        journal: Entries that are not folded yet.
        data: The file's bytes, to find lines in.
        stored: The entries of the file as stored, by key.
        stamps: The files that were read, the manifest first; None if one is unreadable.
        file_state: The last check of the manifest for changes.
    """

    form: ManifestForm
    standard: JsonValue = None
    version: JsonValue = None
    problem: VibesError | None = None
    journal: Journal = field(default_factory=Journal, repr=False)
    data: bytes = field(default=b"", repr=False)
    stored: Mapping[str, msgspec.Raw] = field(default_factory=dict, repr=False)
    stamps: tuple[tuple[str, FileStamp | None], ...] | None = field(default=(), repr=False)
    file_state: FileState = field(default_factory=FileState, repr=False, compare=False)

    def __contains__(self, key: str) -> bool:
        return key in self.stored or key in self.journal.entries

    def __len__(self) -> int:
        return len(self.stored) + len(self.pending)

    def __iter__(self) -> Iterator[str]:
        """Iterate over all keys in file order, those of the journal last."""
        return chain(self.stored, (key for key in self.journal.entries if key not in self.stored))

    @property
    def journal_problems(self) -> tuple[tuple[str, VibesError], ...]:
        """Journal files that could not be read, and why."""
        return self.journal.problems

    @property
    def pending(self) -> frozenset[str]:
        """Keys that only the journal has, or that wait for a commit."""
        return frozenset(key for key in self.journal.entries if key not in self.stored)

    @property
    def unfolded(self) -> frozenset[str]:
        """Keys that only the journal has, without those that wait for a commit (R29)."""
        return self.pending - self.journal.waiting

    def entry(self, key: str) -> Members | None:
        """Return the entry exactly as stored; None if there is none or it is not an object."""
        if key not in self:
            return None
        return object_or_none(self.raw(key))

    def type_of(self, key: str) -> str | None:
        """Return the entry's `type`; None if the entry or its type is missing."""
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
        """Return the 1-based line of an entry in the manifest; None if it is in the journal."""
        return self._lines.get(key)

    def with_prefix(self, prefix: str) -> list[str]:
        """Return the keys that start with a prefix, in file order, those of the journal last."""
        return [key for key in self if key.startswith(prefix)]

    @cached_property
    def _lines(self) -> dict[str, int]:
        lines: dict[str, int] = {}
        line, counted = 1, 0
        for match in _KEY.finditer(self.data):
            line += self.data.count(b"\n", counted, match.start())
            counted = match.start()
            lines.setdefault(match[1].decode(), line)
        return lines


def read_manifest(
    directory: AuditDir, previous: Manifest | None = None, *, waiting: bool = True
) -> Manifest:
    """Return the manifest with its journal, or the previous one if nothing changed. Never raises.

    The journal is read first, because entries move from there into the manifest. While only the
    journal grows, the manifest is not read again.

    Args:
        directory: The trail.
        previous: The last result.
        waiting: Whether to add the entries that wait for a commit (R29).
    """
    try:
        stamps = tuple(_stamps(directory, waiting=waiting))
        if previous is not None and stamps == previous.stamps and previous.file_state.settled:
            return previous
        known = None if previous is None else previous.journal
        journal = read_journal(directory, known, waiting=waiting)
        read = _read_file(directory, previous, stamps[0])
    except UnreadableFile as error:
        if previous is not None and error.is_same_as(previous.problem):
            return previous
        return Manifest(ManifestForm.BROKEN, problem=error, stamps=None)
    if read is previous and stamps == read.stamps:
        return read
    return replace(read, journal=journal, stamps=stamps)


def _read_file(
    directory: AuditDir,
    previous: Manifest | None,
    named_stamp: tuple[str, FileStamp | None],
) -> Manifest:
    """Return the manifest without its journal; the previous one if it is unchanged."""
    times = [stamp for stamp in named_stamp[1:] if stamp is not None]
    same = (
        previous
        if previous is not None
        and previous.stamps is not None
        and previous.stamps[:1] == (named_stamp,)
        else None
    )
    if same is not None and same.file_state.settled:
        return same
    content = read_file(directory.manifest)
    if same is not None and same.file_state.recheck(content, times):
        return same
    return replace(
        parse_manifest(content), file_state=FileState.of(content, times), stamps=(named_stamp,)
    )


def _stamps(directory: AuditDir, *, waiting: bool) -> Iterator[tuple[str, FileStamp | None]]:
    """Yield name and stamp of the manifest, None if missing, then of the journal files."""
    yield directory.manifest.name, regular_file_stamp(directory.manifest)
    for path in journal_files(directory):
        stamp = regular_file_stamp(path)
        if stamp is not None:
            yield path.name, stamp
    for path in waiting_files(directory) if waiting else ():
        with suppress(UnreadableFile):  # it hides nothing else
            yield path.name, regular_file_stamp(path)


def parse_manifest(content: bytes | None) -> Manifest:
    """Return the manifest in these bytes; None means a missing file. Never raises."""
    if content is None:
        return Manifest(ManifestForm.ABSENT)
    content = content.removeprefix(b"\xef\xbb\xbf")
    frame = _DECODER.decode(content)
    if frame is None:
        return _parse_unusual(content)
    return Manifest(
        ManifestForm.OBJECT, frame.standard, frame.version, data=content, stored=frame.entries
    )


def _parse_unusual(content: bytes) -> Manifest:
    """Parse other forms: JSONL, or the entries on separate lines of an invalid file."""
    entries, invalid = parse_entry_lines(content)
    if entries and not invalid:
        return Manifest(ManifestForm.JSONL, "VIBES", "1.0", data=content, stored=entries)
    try:
        value = parse_json(content)
    except MalformedJson as error:
        return Manifest(ManifestForm.BROKEN, problem=error, data=content, stored=entries)
    if not isinstance(value, dict):
        reason = f"expected an object, found a JSON {json_type(value)}"
        return Manifest(ManifestForm.BROKEN, problem=MalformedJson(reason), data=content)
    standard, version, members = value.get("standard"), value.get("version"), value.get("entries")
    if isinstance(members, dict):  # unusual only because of a lone surrogate
        stored = {key: msgspec.Raw(canonical_json(entry)) for key, entry in members.items()}
        return Manifest(ManifestForm.OBJECT, standard, version, data=content, stored=stored)
    reason = (
        "member 'entries' is missing"
        if "entries" not in value
        else "member 'entries' is not an object"
    )
    return Manifest(ManifestForm.BROKEN, standard, version, MalformedJson(reason), data=content)


def conflicting_keys(content: bytes) -> list[tuple[str, int]]:
    """Return the keys that occur twice with different entries, and the line of the second one."""
    if not _conflicts(content, _KEY.finditer(content)):  # nearly always, and faster to find out
        return []
    starts = _member_starts(content)
    keys = (match for match in _KEY.finditer(content) if starts is None or match.start() in starts)
    return [
        (match[1].decode(), content.count(b"\n", 0, match.start()) + 1)
        for match in _conflicts(content, keys)
    ]


def _conflicts(content: bytes, keys: Iterable[re.Match[bytes]]) -> list[re.Match[bytes]]:
    """Return the keys that occurred before with a different value."""
    first: dict[bytes, int] = {}
    conflicts: list[re.Match[bytes]] = []
    for match in keys:
        before = first.setdefault(match[1], match.end())
        if before != match.end() and not _same_entry(content, before, match.end()):
            conflicts.append(match)
    return conflicts


def _member_starts(content: bytes) -> set[int] | None:
    """Return where the strings are that may be keys of entries; None if brackets do not match.

    Those are in the `entries` of a whole manifest, else (JSONL) not inside an entry.
    """
    in_entries: set[int] = set()
    outside: set[int] = set()
    depth = values = 0
    member = b""
    for start, token in _tokens(content):
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
            values += not depth
            if depth < 0:
                return None
        elif depth < 2:
            outside.add(start)
            member = token
        elif depth == 2 and member == b'"entries"':
            in_entries.add(start)
    if depth:
        return None
    return in_entries if values == 1 and in_entries else outside


def _tokens(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield start and text of each string, and of each bracket outside strings."""
    start = -1  # of the string whose end was not found yet
    for match in _MARK.finditer(content):
        mark = match[0]
        if mark != b'"':
            if start < 0:
                yield match.start(), mark
        elif start < 0:
            start = match.start()
        else:
            yield start, content[start : match.end()]
            start = -1


def _same_entry(content: bytes, first: int, second: int) -> bool:
    """Whether two entries are equal except for `created_at`."""
    try:
        return equal_except_time(
            *(parse_json_prefix(_text_at(content, start)) for start in (first, second))
        )
    except MalformedJson:
        return False


def _text_at(content: bytes, start: int) -> str:
    return content[start : start + _MAX_COMPARED].decode("utf-8", "replace")


def equal_except_time(first: JsonValue, second: JsonValue) -> bool:
    """Whether two entries are equal except for `created_at`, which is not hashed (RFC 5.2)."""
    return same_value(_without_created_at(first), _without_created_at(second))


def _without_created_at(value: JsonValue) -> JsonValue:
    return (
        {name: member for name, member in value.items() if name != "created_at"}
        if isinstance(value, dict)
        else value
    )
