"""Inline completions that were accepted and are not in the log yet: they wait in `spool/held/`, whoever holds them, and show all the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.records import LogRecord
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, RecordType
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import FileSignature, file_signature, read_file

_AFTER_ALL: Final = 1 << 62
"""The line of what is in no log: it comes after all that is."""
_MAX_FILE: Final = 16 << 20


class PendingCompletions:
    """What waits in one trail.

    Args:
        directory: The trail.
    """

    def __init__(self, directory: AuditDir) -> None:
        self._folder = directory.pending_completions
        self._seen: dict[str, FileSignature] = {}
        self._held: dict[str, LogRecord | None] = {}

    def __bool__(self) -> bool:
        return bool(self._held)

    def refresh(self) -> bool:
        """Take in what changed on disk; say whether anything did."""
        found = dict(self._files())
        if found == self._seen:
            return False
        changed = {name for name, each in found.items() if self._seen.get(name) != each}
        self._held = {
            name: record
            for name, record in self._held.items()
            if name in found and name not in changed
        }
        for name in changed:
            held = _read(self._folder / name)
            if held is not None:
                self._held[name] = _annotation(held)
        self._seen = found
        return True

    def lineages_in(self, path: str) -> list[Lineage]:
        """Return what waits for a file.

        Args:
            path: Relative to the project, forward slashes.
        """
        wanted = normal_path(path)
        found = [
            record
            for record in self._held.values()
            if record and normal_path(record.text("file_path") or "") == wanted
        ]
        return [Lineage((record,), record, is_pending=True) for record in found]

    def _files(self) -> Iterator[tuple[str, FileSignature]]:
        try:
            names = [
                entry.name for entry in os.scandir(self._folder) if entry.name.endswith(".json")
            ]
        except OSError:  # nothing was ever held
            return
        for name in names:
            try:
                found = file_signature(self._folder / name)
            except UnreadableFile:
                continue
            if found is not None:
                yield name, found


def _read(path: Path) -> Members | None:
    """Return what a file holds; None when it is not ours."""
    try:
        data = read_file(path, limit=_MAX_FILE)
        held = {} if data is None else parse_object(data)
    except (MalformedJson, UnreadableFile):
        return None
    return held if text(held, "path") and isinstance(held.get("records"), list) else None


def _annotation(held: Members) -> LogRecord | None:
    """Return the annotation that is held; None when it is none yet, or not what a completion makes."""
    records = held["records"]
    record = records[0] if isinstance(records, list) and records else None
    if not isinstance(record, dict) or (record.get("type"), record.get("file_path")) != (
        RecordType.LINE,
        held["path"],
    ):
        return None
    found = LogRecord(_AFTER_ALL, text(record, "annotation_id") or "", record)
    return found if found.id and record.get("action") in (Action.CREATE, Action.MODIFY) else None
