"""Which entries of a manifest in git differ from those on disk, without keeping that manifest.

A manifest in the format of this program (R10) is compared line by line. Any other is parsed whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vibes_lsp.git.repository import Repository
from vibes_lsp.model.canonical_json import object_or_none
from vibes_lsp.model.members import Members
from vibes_lsp.store.manifest import Manifest, ManifestForm, parse_manifest

_ENTRY: Final = re.compile(rb'(,?)"([0-9a-f]{64})":\s*(\{.*\})\s*')
_CLOSING: Final = b"}}"
_PROBE: Final = "0" * 64
"""A key that shows whether what follows the first line are entries."""


@dataclass(frozen=True, slots=True)
class ChangedEntries:
    """What differs between a manifest in git and the one on disk.

    Attributes:
        entries: The entries of the one in git that the other lacks or has in other bytes, by key.
        is_broken: Whether the one in git cannot be read, and is not the same text.
    """

    entries: Mapping[str, bytes]
    is_broken: bool = False

    def entry(self, key: str) -> Members | None:
        """Return an entry; None if it is not a valid object."""
        return object_or_none(self.entries[key])


def changed_entries(
    repository: Repository, commit: str, folder: Path, name: str, on_disk: Manifest
) -> ChangedEntries:
    """Compare a manifest in git with the one on disk.

    Args:
        repository: The repository.
        commit: The commit.
        folder: A folder of the repository.
        name: The manifest's path below it.
        on_disk: The manifest on disk.

    Raises:
        HistoryUnavailable: Git cannot be run.
    """
    entries = compare_lines(repository.read_lines_below(commit, folder, name), on_disk)
    if entries is not None:
        return ChangedEntries(entries)
    content = repository.read_file_below(commit, folder, name)
    manifest = parse_manifest(content)
    entries = {}
    for key in manifest:
        raw = manifest.raw(key)
        if key not in on_disk or on_disk.raw(key) != raw:
            entries[key] = raw
    is_broken = manifest.form == ManifestForm.BROKEN and split_lines(content) != split_lines(
        on_disk.data
    )
    return ChangedEntries(entries, is_broken)


def compare_lines(lines: Iterable[bytes], on_disk: Manifest) -> dict[str, bytes] | None:
    """Return the entries that differ from those on disk; None if the lines have another format."""
    pending = iter(lines)
    head = next(pending, b"")
    frame = parse_manifest(b'%b"%b":{}%b' % (head.rstrip(), _PROBE.encode(), _CLOSING))
    is_open = head.rstrip().endswith(b"{") and list(frame.stored) == [_PROBE]
    if frame.form != ManifestForm.OBJECT or not is_open:
        return None
    changed: dict[str, bytes] = {}
    comma = b""
    for line in pending:
        match = _ENTRY.fullmatch(line)
        if match is None:
            is_last = line.strip() == _CLOSING and not any(map(bytes.strip, pending))
            return changed if is_last else None
        if match[1] != comma:
            return None
        comma = b","
        key, raw = match[2].decode(), match[3]
        if key in on_disk and on_disk.raw(key) == raw:
            changed.pop(key, None)  # of several entries with one key, the last one counts
        elif object_or_none(raw) is not None:
            changed[key] = raw
        else:
            return None
    return None  # it does not end


def split_lines(content: bytes | None) -> list[bytes]:
    """Return the lines of a file without line ends, which a checkout may have converted."""
    return [line.rstrip(b"\r") for line in (content or b"").split(b"\n")]
