"""Invariants of a trail after a crash, checked without the product where possible."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tests.trails import context_hash
from tests.unit.store.empty_trail import leftover_files, read_strictly

if TYPE_CHECKING:
    from vibes_lsp.store.audit_dir import AuditDir

FILES = {
    "annotations.jsonl",
    "manifest.json",
    "config.json",
    ".gitignore",
    ".gitattributes",
    "wal",
    "blobs",
    "spool",
}
CONTEXTS = (
    "environment_hash",
    "prompt_hash",
    "reasoning_hash",
    "command_hash",
    "decision_hash",
    "other_hash",
)


def check_trail_invariants(
    directory: AuditDir, entries: Iterable[str], records: Iterable[str]
) -> None:
    """Assert that the files are valid and consistent, and contain these entries and records once."""
    found = read_strictly(directory)
    missing = set(entries) - set(found.entries)
    assert not missing, f"{len(missing)} acknowledged entries are lost"
    times = Counter(
        json.loads(line)["annotation_id"] for line in directory.log.read_bytes().splitlines()
    )
    wrong = {record: times[record] for record in records if times[record] != 1}
    assert not wrong, f"acknowledged records that are not there once: {wrong}"
    named = {
        str(record[name])
        for record in found.records.values()
        for name in CONTEXTS
        if record.get(name)
    }
    assert named <= set(found.entries), "a record names an entry that is not there"
    for entry in found.entries.values():
        if "blob_path" in entry:
            inline = json.loads(
                gzip.decompress((directory.path / str(entry["blob_path"])).read_bytes())
            )
            assert entry["blob_path"] == f"blobs/{context_hash(inline)}.json.gz"
    assert leftover_files(directory) == []
    assert {path.name for path in directory.path.iterdir()} <= FILES
    assert all(path.name.endswith(".json.gz") for path in directory.blobs.glob("*"))
