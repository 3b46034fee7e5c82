"""The journal (RFC 9.3, R10): entries in `wal/` that are not in the manifest yet, one per line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from vibes_lsp.errors import MalformedJson, UnreadableFile, VibesError
from vibes_lsp.model.canonical_json import (
    parse_json,
    parse_object,
    parse_raw_members,
)
from vibes_lsp.model.hashing import context_hash
from vibes_lsp.store.appending import append_lines
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import (
    MAX_FILE,
    open_file,
    read_file,
    regular_file_stamp,
)
from vibes_lsp.store.locks import LockHandle
from vibes_lsp.store.waiting import waiting_files

ENTRIES_NAME: Final = "entries.jsonl"
"""The journal file that all writers of this program share; missing when the journal is empty."""
_TAIL_BYTES: Final = 4 << 10
"""Bytes at the end of the known content that must be unchanged; otherwise the file was replaced."""


@dataclass(frozen=True, slots=True)
class Journal:
    """The content of the journal.

    Attributes:
        entries: The entries as stored, by key.
        problems: Files that could not be read completely, and why.
        files: The shared file of this program, and those of what waits for a commit.
        waiting: The keys of the entries that wait.
    """

    entries: Mapping[str, msgspec.Raw] = field(default_factory=dict)
    problems: tuple[tuple[str, VibesError], ...] = ()
    files: Mapping[Path, EntriesFile] = field(default_factory=dict)
    waiting: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class EntriesFile:
    """The shared journal file as of the last read.

    Attributes:
        size: Its size in bytes.
        whole: Bytes of complete lines.
        tail: The last of those bytes.
        entries: The entries of the complete lines.
        invalid: Number of lines that are not entries.
    """

    size: int = 0
    whole: int = 0
    tail: bytes = b""
    entries: Mapping[str, msgspec.Raw] = field(default_factory=dict)
    invalid: int = 0


def entries_file(directory: AuditDir) -> Path:
    """Return the path of the shared journal file."""
    return directory.journal / ENTRIES_NAME


def journal_files(directory: AuditDir) -> list[Path]:
    """Return all journal files, those of other tools included, in reading order."""
    try:
        with os.scandir(directory.journal) as entries:
            return sorted(
                Path(entry)
                for entry in entries
                if entry.name.endswith(".jsonl") and entry.is_file()
            )
    except OSError:
        return []


def read_journal(
    directory: AuditDir, previous: Journal | None = None, *, waiting: bool = False
) -> Journal:
    """Return the journal; only the new part of a file of ours is read. Never raises.

    A partial last line is left for a later read.

    Args:
        directory: The trail.
        previous: The journal as it was read before.
        waiting: Whether to add the entries that wait for a commit (R29).
    """
    known = {} if previous is None else previous.files
    files: dict[Path, EntriesFile] = {}
    entries: dict[str, msgspec.Raw] = {}
    problems: list[tuple[str, VibesError]] = []
    own = entries_file(directory)
    for path in journal_files(directory):
        try:
            if path == own:
                files[path] = _read_entries_file(path, known.get(path))
                parsed, invalid = files[path].entries, files[path].invalid
            else:
                parsed, invalid = parse_entry_lines((read_file(path) or b"").rpartition(b"\n")[0])
        except UnreadableFile as error:
            problems.append((path.name, error))
            continue
        entries |= parsed
        if invalid:
            reason = (
                f"{invalid} line is not a context entry"
                if invalid == 1
                else f"{invalid} lines are not context entries"
            )
            problems.append((path.name, MalformedJson(reason)))
    waiting_entries: dict[str, msgspec.Raw] = {}
    for path in waiting_files(directory) if waiting else ():
        with suppress(UnreadableFile):
            if regular_file_stamp(path) is not None:
                files[path] = read_waiting_entries(path, known.get(path))
                waiting_entries |= files[path].entries
    return Journal(entries | waiting_entries, tuple(problems), files, frozenset(waiting_entries))


def append_entries(
    path: Path, entries: Mapping[str, bytes], lock: LockHandle, *, durable: bool = False
) -> None:
    """Append entries, each JSON on one line, to a file of entries.

    Raises:
        RefusedWrite: The file cannot be written or the disk is full; it is unchanged.
    """
    lines = b"".join(b'{"%s":%s}\n' % (key.encode(), entry) for key, entry in entries.items())
    append_lines(path, lines, lock, durable=durable)


_HASH: Final = re.compile(r"[0-9a-f]{64}\Z")


def parse_entry_lines(content: bytes) -> tuple[dict[str, msgspec.Raw], int]:
    """Return the entries that have a line each, and the number of other lines.

    A line is `{"<hash>": {…}}`, the same without outer braces (as in a manifest, R10), or a bare
    entry. Used for the journal and for manifests in JSONL form (RFC 9.3).
    """
    entries: dict[str, msgspec.Raw] = {}
    invalid = 0
    for line in content.split(b"\n"):  # a lone \r ends no entry
        text = line.strip().strip(b",")
        if not text:
            continue
        parsed = _entries_in(text if text.startswith(b"{") else b"{" + text + b"}")
        invalid += parsed is None
        entries.update(parsed or {})
    return entries, invalid


_IS_ENTRY: Final = re.compile(rb'\{"[0-9a-f]{64}":').match


def parse_waiting_entries(content: bytes) -> dict[str, msgspec.Raw]:
    """Return the entries among lines of waiting records and entries."""
    return parse_entry_lines(b"\n".join(filter(_IS_ENTRY, content.split(b"\n"))))[0]


def is_entry_line(line: bytes) -> bool:
    """Whether a line of waiting records and entries is an entry."""
    return _IS_ENTRY(line) is not None


def _entries_in(text: bytes) -> dict[str, msgspec.Raw] | None:
    members = parse_raw_members(text)
    if members is None:
        return None
    if members and all(map(_HASH.match, members)):
        return members if all(map(_is_valid, members.values())) else None
    if "entries" not in members and "type" in members:
        try:
            return {context_hash(parse_object(text)): msgspec.Raw(text)}
        except MalformedJson:
            return None
    return {} if set(members) == {"standard", "version"} else None


def _is_valid(raw: msgspec.Raw) -> bool:
    """Whether the value is valid (R1); msgspec does not check the values that it skips."""
    try:
        parse_json(bytes(raw))
    except MalformedJson:
        return False
    return True


def read_waiting_entries(path: Path, previous: EntriesFile | None) -> EntriesFile:
    """Read the entries of a file of waiting records and entries; raises as for other files."""
    return _read_entries_file(path, previous, lambda content: (parse_waiting_entries(content), 0))


def _read_entries_file(
    path: Path,
    previous: EntriesFile | None,
    parse: Callable[[bytes], tuple[dict[str, msgspec.Raw], int]] = parse_entry_lines,
) -> EntriesFile:
    """Read a file of entries, starting after the previous content if it only grew.

    Raises:
        UnreadableFile: It cannot be read or is too large.
    """
    stamp = regular_file_stamp(path)
    if stamp is not None and stamp.size > MAX_FILE:
        raise UnreadableFile(
            f"{path.name} is too large: {stamp.size:,} bytes, expected at most {MAX_FILE:,}"
        )
    known = previous or EntriesFile()
    try:
        with open_file(path) as file:
            file.seek(known.whole - len(known.tail))
            content = file.read()
            if known.whole and not content.startswith(known.tail):
                known = EntriesFile()
                file.seek(0)
                content = file.read()
    except OSError as error:
        raise UnreadableFile(f"{path.name} cannot be read: {error.strerror or error}") from error
    added = content[len(known.tail) :]
    whole = added[: added.rfind(b"\n") + 1]
    entries, invalid = parse(whole)
    return EntriesFile(
        known.whole + len(added),
        known.whole + len(whole),
        (known.tail + whole)[-_TAIL_BYTES:],
        {**known.entries, **entries},
        known.invalid + invalid,
    )
