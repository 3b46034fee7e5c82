"""Accepted inline completions that are not in the log yet: files in `spool/held/`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, RecordType
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.file_stamps import FileStamp
from vibes_lsp.store.files import read_file, regular_file_stamp
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import LogRecord

_AFTER_LOG: Final = 1 << 62
"""The line number of pending records: after all lines of the log."""
_MAX_FILE: Final = 16 << 20


class PendingCompletions:
    """The pending completions of one trail.

    Args:
        directory: The audit directory.
    """

    def __init__(self, directory: AuditDir) -> None:
        self._folder = directory.pending_completions
        self._stamps: dict[str, FileStamp] = {}
        self._records: list[LogRecord | None] = []

    def __bool__(self) -> bool:
        return bool(self._records)

    def refresh(self) -> bool:
        """Read what changed on disk, and return whether anything did."""
        stamps = dict(self._files())
        if stamps == self._stamps:
            return False
        contents = map(_read, map(self._folder.joinpath, stamps))
        self._records = [_annotation(content) for content in contents if content is not None]
        self._stamps = stamps
        return True

    def lineages_in(self, path: str) -> list[Lineage]:
        """Return the pending annotations of a file.

        Args:
            path: Relative to the project, forward slashes.
        """
        wanted = normal_path(path)
        records = [
            record
            for record in self._records
            if record and normal_path(record.text("file_path") or "") == wanted
        ]
        return [Lineage((record,), record, is_pending=True) for record in records]

    def _files(self) -> Iterator[tuple[str, FileStamp]]:
        try:
            names = [
                entry.name for entry in os.scandir(self._folder) if entry.name.endswith(".json")
            ]
        except OSError:  # there is no such folder
            return
        for name in names:
            try:
                stamp = regular_file_stamp(self._folder / name)
            except UnreadableFile:
                continue
            if stamp is not None:
                yield name, stamp


def _read(path: Path) -> Members | None:
    """Return the content of a file; None if it is not in our format."""
    try:
        encoded = read_file(path, limit=_MAX_FILE)
        content = {} if encoded is None else parse_object(encoded)
    except (MalformedJson, UnreadableFile):
        return None
    return content if text(content, "path") and isinstance(content.get("records"), list) else None


def _annotation(content: Members) -> LogRecord | None:
    """Return the pending annotation; None without one, or if no completion could make it."""
    records = content["records"]
    record = records[0] if isinstance(records, list) and records else None
    if not isinstance(record, dict) or (record.get("type"), record.get("file_path")) != (
        RecordType.LINE,
        content["path"],
    ):
        return None
    annotation = LogRecord(_AFTER_LOG, text(record, "annotation_id") or "", record)
    return (
        annotation
        if annotation.id and record.get("action") in (Action.CREATE, Action.MODIFY)
        else None
    )
