"""A new, empty trail to write to, and its content as an independent reader sees it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.trails import TrailWriter, annotation_id, context_hash
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.model.members import Members


@dataclass(frozen=True)
class TrailContent:
    """The content of the files; every line and key was checked while reading."""

    entries: dict[str, dict[str, object]]
    records: dict[str, dict[str, object]]
    lines: int


def new_trail(root: Path, **config: object) -> AuditDir:
    """Create a trail with a config, a log and a manifest with one environment."""
    writer = TrailWriter(root)
    writer.config(**config)
    writer.housekeeping()
    writer.environment()
    writer.files.append_log(b"")
    return AuditDir(writer.files.audit)


def prompt(words: str, **members: object) -> Members:
    """Return a context entry."""
    entry: Members = {
        "type": "prompt",
        "prompt_text": words,
        "prompt_type": "other",
        "created_at": "2026-02-03T10:00:00.000Z",
    }
    return {**entry, **members}  # type: ignore[dict-item]


def session(number: int, **members: object) -> Members:
    """Return a session record without its id."""
    record: Members = {
        "type": "session",
        "event": "start",
        "session_id": f"s{number}",
        "timestamp": "2026-02-03T10:00:00.000Z",
    }
    return {**record, **members}  # type: ignore[dict-item]


def read_strictly(directory: AuditDir) -> TrailContent:
    """Read manifest and log strictly, with the standard library and the RFC's text alone."""
    content = json.loads(directory.manifest.read_bytes())
    entries: dict[str, dict[str, object]] = content["entries"]
    for key, entry in entries.items():
        assert context_hash(entry) == key
    log = directory.log.read_bytes()
    assert log == b"" or log.endswith(b"\n")
    records = [json.loads(line) for line in log.split(b"\n")[:-1]]
    for record in records:
        assert annotation_id(record) == record["annotation_id"]
    return TrailContent(
        entries, {str(record["annotation_id"]): record for record in records}, len(records)
    )


STAYING = {".gitignore", "append.lock", "fold.lock"}


def leftover_files(directory: AuditDir) -> list[str]:
    """Return the files in the journal's folder, except the locks and the `.gitignore`."""
    return sorted(path.name for path in directory.journal.glob("*") if path.name not in STAYING)
