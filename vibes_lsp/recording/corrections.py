"""Correct the place of an annotation: other lines, or lost (RFC 7.3.1, R4, R7).

A correction adds a record to the annotation's lineage with the same time, rank and anchors: what
the AI wrote does not change (R14).
"""

from __future__ import annotations

from vibes_lsp.errors import UnknownId
from vibes_lsp.model.hashing import ANCHOR_MEMBERS
from vibes_lsp.model.members import Members
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, EdgeType, NodeType, RecordType, SupersedesReason
from vibes_lsp.recording.arguments import WrongArgument
from vibes_lsp.recording.context import Draft, Node, RecordingContext, present
from vibes_lsp.recording.paths import requested_text, required_path
from vibes_lsp.recording.requests import MarkLost, Reanchor
from vibes_lsp.recording.results import Corrected
from vibes_lsp.trail.lineage import Lineage


def reanchor(context: RecordingContext, request: Reanchor) -> tuple[Draft, Corrected]:
    """Return a remapped record with other lines; nothing when the current one has them already.

    Raises:
        UnknownId: No annotation has the id.
        WrongArgument: It is no line annotation, or the file has no such lines.
        UnreadableFile: No text was given and the file cannot be read.
    """
    lineage = _lineage(context, request.annotation_id)
    path = required_path(context.project, request.required_path)
    text = requested_text(context.project, path, request.text)
    start, end = request.required_lines
    if not 1 <= start <= end <= len(text.lines):
        raise WrongArgument(
            "line_start", f"lines {start} to {end} are not in {path}, which has {len(text.lines)}"
        )
    current = lineage.current.members
    changes: Members = present(
        {
            "line_start": start,
            "line_end": end,
            "file_content_hash": context.anchors(path, text, start, end).file_hash,
        }
    )
    if normal_path(lineage.current.text("file_path") or "") != path:
        changes["file_path"] = path
    if not lineage.is_orphaned and {name: current.get(name) for name in changes} == changes:
        return Draft(context.timestamp), Corrected(lineage.current.id)
    return _correction(
        context,
        lineage,
        {**changes, "action": Action.REBASE_REMAP.value},
        SupersedesReason.REWRITE,
        is_hidden=context.hides(path, text),
    )


def mark_lost(context: RecordingContext, request: MarkLost) -> tuple[Draft, Corrected]:
    """Return an orphan record, after which only a certain match places the annotation.

    There is nothing to record when the lineage is an orphan already.

    Raises:
        UnknownId: No annotation has the id.
        WrongArgument: It is no line annotation.
    """
    lineage = _lineage(context, request.annotation_id)
    if lineage.is_orphaned:
        return Draft(context.timestamp), Corrected(lineage.members[-1].id)
    path = normal_path(lineage.current.text("file_path") or "")
    return _correction(
        context,
        lineage,
        {"action": Action.REBASE_ORPHAN.value},
        SupersedesReason.ORPHAN,
        is_hidden=context.hides_saved(path),
    )


def _lineage(context: RecordingContext, annotation_id: str) -> Lineage:
    lineage = context.trail.lineage_of(annotation_id)
    if lineage is None:
        raise UnknownId(
            f"annotation_id: no annotation has the id {annotation_id}", hint="give a whole id"
        )
    if lineage.current.type != RecordType.LINE or lineage.action == Action.DELETE:
        raise WrongArgument(
            "annotation_id", "is that of a function or a deletion, which has no line numbers"
        )
    return lineage


def _correction(
    context: RecordingContext,
    lineage: Lineage,
    changes: Members,
    reason: SupersedesReason,
    *,
    is_hidden: bool,
) -> tuple[Draft, Corrected]:
    draft = Draft(context.timestamp)
    left_out = {"annotation_id", *(ANCHOR_MEMBERS if is_hidden else ())}
    unchanged = {
        name: value for name, value in lineage.current.members.items() if name not in left_out
    }
    identifier = draft.add({**unchanged, **changes})
    former = Node(lineage.current.id, NodeType.ANNOTATION)
    draft.edge(
        EdgeType.SUPERSEDES, Node(identifier, NodeType.ANNOTATION), former, {"reason": reason.value}
    )
    return draft, Corrected(identifier, tuple(draft.edges), dict(draft.records[0]))
