"""Which records in the spool are accepted. Pure.

Records in `.ai-audit/spool/` go to the log as this user's. Git ignores the folder, but a commit can
contain files there. So a file is accepted only if the use case itself could have written all of its
records; `spool` also rejects files that git tracks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from vibes_lsp.errors import VibesError
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.record_schema import CONTEXT_MEMBERS
from vibes_lsp.model.validation import record_problems
from vibes_lsp.model.vocabulary import (
    Action,
    EdgeType,
    NodeType,
    RecordType,
    SupersedesReason,
    is_custom_signal,
)
from vibes_lsp.recording.annotations import add_annotation, unmeasured_members
from vibes_lsp.recording.context import Draft, Node
from vibes_lsp.recording.inline_completions import InlineCompletion
from vibes_lsp.recording.results import Result

_MEASURED_MEMBERS: Final = (
    "assurance_level",
    "anchor_context",
    "anchor_hash",
    "file_content_hash",
    "line_hashes",
    "risk_score",
    "risk_factors",
)
"""The members of an annotation that follow from the text, which the spool does not have."""


def are_written_by(kind: type[Result], records: Sequence[Members]) -> bool:
    """Return whether the use case with this type of result may have written the records."""
    return all(_type(record) in kind.record_types and _is_valid(record) for record in records)


def is_inline_completion(completion: InlineCompletion) -> bool:
    """Return whether the records are what an inline completion with these values writes.

    They are drafted again and must be equal. What follows from the text is accepted as it is, and
    so are the older annotations to which the new one has edges.
    """
    records, contexts, lines = completion.records, completion.contexts, completion.lines
    if lines is None or not records:
        return lines is None and not records
    if (
        completion.action not in (Action.CREATE, Action.MODIFY)
        or not contexts.hashes.keys() <= CONTEXT_MEMBERS.keys()
        or not all(
            is_custom_signal(signal.signal) and 0 <= signal.value <= 1
            for signal in contexts.signals
        )
    ):
        return False
    place: Members = {
        "type": RecordType.LINE.value,
        "file_path": completion.path,
        "line_start": lines[0],
        "line_end": lines[1],
    }
    first: Members = records[0]
    measured: Members = {name: first[name] for name in _MEASURED_MEMBERS if name in first}
    timestamp = completion.timestamp
    unmeasured = unmeasured_members(place, completion.action, contexts, timestamp)
    draft = Draft(timestamp, contexts.session_id)
    try:
        annotation = add_annotation(draft, {**unmeasured, **measured}, contexts)
        for edge in records[len(draft.records) :]:
            _add_replaced(draft, annotation, edge)
    except VibesError:  # a record violates the RFC
        return False
    return draft.records == list(records)


def _add_replaced(draft: Draft, annotation: Node, edge: Members) -> None:
    older = Node(text(edge, "target_ref") or "", NodeType.ANNOTATION)
    if edge.get("edge_type") == EdgeType.SUPERSEDES:
        draft.edge(
            EdgeType.SUPERSEDES, annotation, older, {"reason": SupersedesReason.COVERS.value}
        )
    else:
        draft.edge(EdgeType.DEPENDS_ON, annotation, older)


def _type(record: Members) -> str | None:
    return text(record, "edge_type" if record.get("type") == RecordType.EDGE else "type")


def _is_valid(record: Members) -> bool:
    try:
        return not record_problems(record) and annotation_id(record) == record.get("annotation_id")
    except VibesError:
        return False
