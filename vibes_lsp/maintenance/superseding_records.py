"""New records of annotations for the commits that have their lines (R4, R4b)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from vibes_lsp.model.canonical_json import with_portable_numbers
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.model.validation import record_problems
from vibes_lsp.model.vocabulary import EdgeType, NodeType, RecordType, SupersedesReason


@dataclass(slots=True)
class SupersedingRecords:
    """New records with the `supersedes` edges to the records that they replace.

    Attributes:
        reason: The edges' reason.
        ids: The ids of the new records.
        superseded: The ids of the records that they replace.
        edges: The ids of the edges.
        records: Records and edges in the order of the log.
    """

    reason: SupersedesReason
    ids: list[str] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    edges: list[str] = field(default_factory=list)
    records: list[Members] = field(default_factory=list)

    def add(
        self,
        identifier: str,
        record: Members,
        changes: Mapping[str, JsonValue],
        commit: str,
        moment: datetime,
    ) -> bool:
        """Add a record's successor for a commit; return whether it is valid.

        Every clone makes the same: its only times are those of the edit and of the commit.

        Args:
            identifier: The record's id.
            record: The record.
            changes: What is different for the commit.
            commit: The commit.
            moment: Its time.
        """
        kept = {name: value for name, value in record.items() if name != "annotation_id"}
        members = with_portable_numbers({**kept, **changes, "commit_hash": commit})
        if record_problems(members):  # another tool's record violates the RFC: we write none
            return False
        edge: Members = {
            "type": RecordType.EDGE.value,
            "edge_type": EdgeType.SUPERSEDES.value,
            "source_ref": annotation_id(members),
            "source_type": NodeType.ANNOTATION.value,
            "target_ref": identifier,
            "target_type": NodeType.ANNOTATION.value,
            "timestamp": format_timestamp(moment),
            "metadata": {"reason": self.reason.value},
        }
        self.superseded.append(identifier)
        self.ids.append(self._append(members))
        self.edges.append(self._append(edge))
        return True

    def without_edges(self) -> tuple[dict[str, Any], ...]:
        """Return the new records without the edges."""
        new = set(self.ids)
        return tuple(dict(record) for record in self.records if record["annotation_id"] in new)

    def _append(self, record: Members) -> str:
        identifier = annotation_id(record)
        self.records.append(dict(sorted({**record, "annotation_id": identifier}.items())))
        return identifier
