"""Reads an audit trail from its files, without the code that wrote it.

What waits for its commit is part of it, as for every reader (R29).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class RecordedTrail:
    """The trail of a project.

    Attributes:
        project: Its folder.
    """

    project: Path

    @cached_property
    def records(self) -> list[Record]:
        """All records: those of the log, then those that wait and are not in it."""
        log = (self.project / ".ai-audit/annotations.jsonl").read_text(encoding="utf-8")
        records = [json.loads(line) for line in log.splitlines()]
        written = {record.get("edit", record["annotation_id"]) for record in records}
        waiting = [line for line in self._waiting if "annotation_id" in line]
        return records + [line for line in waiting if line["annotation_id"] not in written]

    @cached_property
    def entries(self) -> dict[str, Record]:
        """All entries, by their hashes."""
        manifest = (self.project / ".ai-audit/manifest.json").read_text(encoding="utf-8")
        entries: dict[str, Record] = json.loads(manifest)["entries"]
        for line in self._waiting:
            if "annotation_id" not in line and "head" not in line:
                entries |= line
        return entries

    @cached_property
    def _waiting(self) -> list[Record]:
        """What waits: records, entries by their hashes, and the commits that HEAD was."""
        files = [
            *sorted((self.project / ".git/ai-audit/waiting").glob("*/*.jsonl")),
            self.project / ".ai-audit/wal/waiting",
        ]
        texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
        return [json.loads(line) for text in texts for line in text.splitlines()]

    @property
    def lines(self) -> list[Record]:
        """The annotations of lines."""
        return [record for record in self.records if record["type"] == "line"]

    def commands(self, kind: str) -> dict[str, Record]:
        """Return the commands of a type by their texts."""
        return {
            entry["command_text"]: entry
            for entry in self.entries.values()
            if entry["type"] == "command" and entry["command_type"] == kind
        }

    def edges(self, kind: str) -> set[tuple[str, str]]:
        """Return source and target of the edges of a type."""
        return {
            (record["source_ref"], record["target_ref"])
            for record in self.records
            if record.get("edge_type") == kind
        }

    def sessions(self, event: str) -> list[str]:
        """Return the ids of sessions with a start or an end."""
        return [
            record["session_id"]
            for record in self.records
            if record["type"] == "session" and record["event"] == event
        ]
