"""Which entries of a manifest in git differ from those on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vibes_lsp.git.repository import Repository
from vibes_lsp.model.canonical_json import object_or_none
from vibes_lsp.model.members import Members
from vibes_lsp.store.manifest import Manifest, ManifestForm, parse_manifest


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


def split_lines(content: bytes | None) -> list[bytes]:
    """Return the lines of a file without line ends, which a checkout may have converted."""
    return [line.rstrip(b"\r") for line in (content or b"").split(b"\n")]
