"""Which files of `.ai-audit/spool/` are to be believed: git ignores that folder, and yet a commit can bring files into it.

What stands in such a file goes to the log as this user's. So nothing is taken from it but what the use case itself would have written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from vibes_lsp.errors import VibesError
from vibes_lsp.history.repository import is_tracked
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.validation import record_problems
from vibes_lsp.model.vocabulary import (
    Action,
    EdgeType,
    NodeType,
    RecordType,
    SupersedesReason,
    is_custom_signal,
)
from vibes_lsp.recording.annotations import Contexts, add_annotation, unmeasured_members
from vibes_lsp.recording.context import Draft, Node
from vibes_lsp.recording.results import Result

_NAMED: Final = frozenset(
    {"environment_hash", "command_hash", "prompt_hash", "reasoning_hash", "decision_hash"}
)
_MEASURED: Final = (
    "assurance_level",
    "anchor_context",
    "anchor_hash",
    "file_content_hash",
    "risk_score",
    "risk_factors",
)
"""The members of an annotation that follow from the text, which is not in the file."""


class TrackedSpoolFiles:
    """Knows which files git has brought; it asks once for each."""

    def __init__(self) -> None:
        self._known: dict[Path, bool] = {}

    def __contains__(self, path: Path) -> bool:
        if path not in self._known:
            self._known[path] = is_tracked(path)
        return self._known[path]

    def not_this(self, path: Path) -> None:
        """Take in that this program has written a file."""
        self._known[path] = False


def are_written_by(kind: type[Result], records: Sequence[Members]) -> bool:
    """Whether a use case may have written some records.

    Args:
        kind: Of its result.
        records: Whole, as they go to the log.
    """
    return all(_type(each) in kind.record_types and _is_sound(each) for each in records)


def is_completion(
    path: str,
    action: str,
    timestamp: str,
    contexts: Contexts,
    records: Sequence[Members],
    *,
    lines: tuple[int, int] | None = None,
) -> bool:
    """Whether records are those that `annotations.draft_annotation` makes of a completion: they are made again, and have to be the same.

    What follows from the text is taken as it is, and so are the older annotations that the new one lies on.

    Args:
        path: The file, relative to the project.
        action: What the annotation says was done.
        timestamp: Of all records.
        contexts: What the annotation names.
        records: The annotation, and then its edges.
        lines: The lines that it has to be about; None for any.
    """
    if action not in (Action.CREATE, Action.MODIFY) or not contexts.hashes.keys() <= _NAMED:
        return False
    if not records or not all(
        is_custom_signal(each.signal) and 0 <= each.value <= 1 for each in contexts.signals
    ):
        return False
    first = records[0]
    if lines not in (None, (first.get("line_start"), first.get("line_end"))):
        return False
    place = {
        "type": RecordType.LINE.value,
        "file_path": path,
        "line_start": first.get("line_start"),
        "line_end": first.get("line_end"),
    }
    measured: Members = {name: first[name] for name in _MEASURED if name in first}
    draft = Draft(timestamp, contexts.session_id)
    try:
        annotation = add_annotation(
            draft, {**unmeasured_members(place, action, contexts, timestamp), **measured}, contexts
        )
        for edge in records[len(draft.records) :]:
            _add_replaced(draft, annotation, edge)
    except VibesError:  # one is not what the RFC asks for
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


def _is_sound(record: Members) -> bool:
    try:
        return not record_problems(record) and annotation_id(record) == record.get("annotation_id")
    except VibesError:
        return False
