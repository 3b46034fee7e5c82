"""Which waiting records enter the log together (R29). Pure functions.

With an edit go its entries, the start of its session with that session's parents, and the edges
whose ends are then in the log. It never brings another annotation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.vocabulary import (
    EdgeType,
    NodeType,
    RecordType,
    SessionEvent,
    SupersedesReason,
)
from vibes_lsp.store.waiting_lines import WaitingMembers, WaitingRecord


def select(
    waiting: Collection[WaitingRecord],
    logged: Collection[str],
    written: Mapping[str, Sequence[str]],
    due: Mapping[str, Sequence[Members]],
) -> list[Members]:
    """Return the records that enter the log now, in the order of receipt.

    Args:
        waiting: All that waits, what the log has included.
        logged: The ids in the log.
        written: The ids of the records that the log has of the annotations that wait.
        due: The records that it gets of them.
    """
    selection = _Selection(waiting, logged, written, due)
    selection.complete()
    return [
        record
        for waiting_record in waiting
        for record in selection.chosen.get(waiting_record.id, ())
    ]


def corrections(waiting: Iterable[WaitingRecord]) -> dict[str, str]:
    """Return what the records that correct others are about, by their ids."""
    return {
        record.members.source_ref: record.members.target_ref
        for record in waiting
        if _corrects(record.members) and record.members.source_ref and record.members.target_ref
    }


class _Selection:
    """What enters the log.

    Args:
        waiting: All that waits.
        logged: The ids in the log.
        written: As for `select`.
        due: As for `select`.

    Attributes:
        chosen: The records that enter, by the id of what waits.
    """

    def __init__(
        self,
        waiting: Iterable[WaitingRecord],
        logged: Collection[str],
        written: Mapping[str, Sequence[str]],
        due: Mapping[str, Sequence[Members]],
    ) -> None:
        self._logged = set(logged)
        self._written = {edit: list(ids) for edit, ids in written.items()}
        self._starts: dict[str, WaitingRecord] = {}
        self._parents: dict[str, list[str]] = {}
        self._sessions: set[str] = set()
        self._others: list[WaitingRecord] = []
        self._corrections: list[WaitingRecord] = []
        self.chosen: dict[str, list[Members]] = {}
        records = list(waiting)
        self._corrected = corrections(records)
        for record in records:
            self._sort(record)
        for record in records:
            new = [
                due_record
                for due_record in due.get(record.id, ())
                if _id(due_record) not in self._logged
            ]
            if new:
                self._add(record, new)

    def _sort(self, record: WaitingRecord) -> None:
        """Note a record that may enter; an edge may again, for later hunks of its ends."""
        members, is_logged = record.members, record.id in self._logged
        if _is_start(members) and members.session_id:
            self._starts[members.session_id] = record
            if is_logged:
                self._sessions.add(members.session_id)
        if members.type == RecordType.EDGE:
            self._others.append(record)
        elif members.is_annotation and record.id in self._corrected and not is_logged:
            self._corrections.append(record)
        elif not (is_logged or members.is_annotation):
            self._others.append(record)
            if members.type == RecordType.DELEGATION and members.child_session_id:
                parents = self._parents.setdefault(members.child_session_id, [])
                parents += [members.parent_session_id] if members.parent_session_id else []

    def complete(self) -> None:
        """Add corrections, edges and the records of sessions until nothing more is due."""
        before = -1
        while before != len(self._logged):
            before = len(self._logged)
            for record in self._corrections:
                target = self._corrected[record.id]
                if record.id not in self.chosen and self._is_written(target):
                    self._add(record, [parse_object(record.data)])
            for record in self._others:
                if record.members.type == RecordType.EDGE:
                    self._add_edge(record)
                elif record.id not in self.chosen and self._is_due(record.members):
                    self._add(record, [parse_object(record.data)])

    def _add(self, record: WaitingRecord, entering: Sequence[Members]) -> None:
        """Let records enter because of one that waits, with the sessions that it names."""
        self.chosen.setdefault(record.id, []).extend(entering)
        ids = [_id(due_record) for due_record in entering]
        self._logged.update(ids)
        members = record.members
        if members.is_annotation:
            self._written.setdefault(record.id, []).extend(ids)
        sessions = [members.session_id, members.parent_session_id]
        self._add_sessions([*sessions, *_ends(members, NodeType.SESSION)])

    def _is_written(self, annotation: str | None) -> bool:
        """Whether the log has an annotation, or a hunk of it."""
        return annotation in self._logged or annotation in self._written

    def _add_edge(self, record: WaitingRecord) -> None:
        """Let an edge enter, once for each record that the log has of its ends."""
        if not self._is_edge_due(record.members):
            return
        annotations = set(_ends(record.members, NodeType.ANNOTATION))
        if not annotations & self._written.keys():
            if record.id not in self._logged:
                self._add(record, [parse_object(record.data)])
            return
        edge = parse_object(record.data)
        new = []
        for source in self._records_of(text(edge, "source_ref") or "", annotations):
            for target in self._records_of(text(edge, "target_ref") or "", annotations):
                members: Members = {**edge, "source_ref": source, "target_ref": target}
                members["annotation_id"] = annotation_id(members)
                if members["annotation_id"] not in self._logged:
                    new.append(members)
        if new:
            self._add(record, new)

    def _records_of(self, end: str, annotations: Collection[str]) -> Sequence[str]:
        written = self._written.get(end) if end in annotations else None
        return tuple(written or (end,))

    def _is_edge_due(self, members: WaitingMembers) -> bool:
        ends = (members.source_ref, members.target_ref)
        if not any(self._is_written(end) or end in self._sessions for end in ends):
            return False
        annotations = _ends(members, NodeType.ANNOTATION)
        if annotations:
            return all(map(self._is_written, annotations))
        if members.edge_type == EdgeType.DELEGATED_TO:
            return members.target_ref in self._sessions
        return all(end in self._sessions for end in _ends(members, NodeType.SESSION))

    def _is_due(self, members: WaitingMembers) -> bool:
        if members.type == RecordType.DELEGATION:
            return members.child_session_id in self._sessions
        return members.session_id in self._sessions

    def _add_sessions(self, sessions: Iterable[str | None]) -> None:
        """Let the starts of sessions enter, and those of their parents."""
        pending = [session for session in sessions if session]
        while pending:
            name = pending.pop()
            start = self._starts.get(name)
            if name in self._sessions:
                continue
            self._sessions.add(name)
            pending += self._parents.get(name, ())
            if start is not None:
                self.chosen[start.id] = [parse_object(start.data)]
                self._logged.add(start.id)
                pending += [start.members.parent_session_id or name]


def _id(record: Members) -> str:
    return text(record, "annotation_id") or ""


def _is_start(members: WaitingMembers) -> bool:
    return members.type == RecordType.SESSION and members.event == SessionEvent.START


def _corrects(edge: WaitingMembers) -> bool:
    """Whether an edge comes from a record that corrects another, rather than from a later edit."""
    reason = None if edge.metadata is None else edge.metadata.reason
    return edge.edge_type == EdgeType.SUPERSEDES and reason not in {None, SupersedesReason.COVERS}


def _ends(edge: WaitingMembers, kind: NodeType) -> list[str]:
    """Return the ends of an edge that are of a kind; without a type it is an annotation (R5)."""
    if edge.type != RecordType.EDGE:
        return []
    sides = ((edge.source_ref, edge.source_type), (edge.target_ref, edge.target_type))
    return [ref for ref, name in sides if ref and (name or NodeType.ANNOTATION) == kind]
