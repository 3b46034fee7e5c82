"""Accepted inline completions that are not in the log yet: files in `spool/held/`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, RecordType
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import read_file
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
        self._records: list[LogRecord | None] = []

    def __bool__(self) -> bool:
        return bool(self._records)

    def refresh(self) -> bool:
        """Read them, and return whether any changed."""
        before, self._records = self._records, list(self._read())
        return self._records != before

    def _read(self) -> Iterator[LogRecord | None]:
        """Yield the annotation of each file in our format; None of one without."""
        for path in sorted(self._folder.glob("*.json")):
            try:
                content = parse_object(read_file(path, limit=_MAX_FILE) or b"{}")
            except (MalformedJson, UnreadableFile):
                continue
            if text(content, "path") and isinstance(content.get("records"), list):
                yield _annotation(content)

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
