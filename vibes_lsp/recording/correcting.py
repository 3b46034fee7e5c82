"""A person's word on where an annotation is: here, or nowhere (RFC 7.3.1, R4, R7).

Both add a record to the annotation's lineage, which keeps its time, its rank and its anchors: what the AI wrote does not change (R14).
"""

from __future__ import annotations

from dataclasses import dataclass

from vibes_lsp.anchors.create_anchors import create_anchors
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnknownId
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.model.members import Members
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, EdgeType, NodeType, RecordType, SupersedesReason
from vibes_lsp.recording.arguments import WrongArgument
from vibes_lsp.recording.checking import check_argument
from vibes_lsp.recording.context import Draft, Node, RecordingContext
from vibes_lsp.recording.paths import required_path, source_text
from vibes_lsp.recording.results import Corrected


@dataclass(frozen=True, slots=True)
class Reanchoring:
    """Where an annotation is.

    Attributes:
        annotation_id: Any record of its lineage.
        path: The file, absolute or relative to the project; one that was renamed by the name that it has now.
        lines: First and last line, 1-based and inclusive.
        text: The file's text, where it is not saved.
    """

    annotation_id: str
    path: str
    lines: tuple[int, int]
    text: str | None = None


def reanchor(situation: RecordingContext, wanted: Reanchoring) -> tuple[Draft, Corrected]:
    """Return a remapped record with other lines; nothing when the current one says the same.

    Raises:
        UnknownId: No annotation has the id.
        WrongArgument: It is not one of lines, or the file has no such lines.
        UnreadableFile: No text was given and the file cannot be read.
    """
    check_argument("reanchoring", wanted, Reanchoring, within=False)
    lineage = _lineage(situation, wanted.annotation_id)
    path = required_path(situation.project, wanted.path)
    text = Text(wanted.text) if wanted.text is not None else source_text(situation.project, path)
    start, end = wanted.lines
    if not 1 <= start <= end <= len(text.lines):
        raise WrongArgument(
            "line_start", f"lines {start} to {end} are not in {path}, which has {len(text.lines)}"
        )
    current = lineage.current.members
    changes: Members = {
        "line_start": start,
        "line_end": end,
        "file_content_hash": create_anchors(text, start, end).file_hash,
    }
    if normal_path(lineage.current.text("file_path") or "") != path:
        changes["file_path"] = path
    if not lineage.is_orphaned and {name: current.get(name) for name in changes} == changes:
        return Draft(situation.timestamp), Corrected(lineage.current.id)
    return _renewed(
        situation,
        lineage,
        {**changes, "action": Action.REBASE_REMAP.value},
        SupersedesReason.REWRITE,
    )


def mark_lost(situation: RecordingContext, annotation_id: str) -> tuple[Draft, Corrected]:
    """Return an orphan record: whatever is not certain of the annotation's place counts no more; nothing when that was said before.

    Raises:
        UnknownId: No annotation has the id.
        WrongArgument: It is not one of lines.
    """
    lineage = _lineage(situation, annotation_id)
    if lineage.is_orphaned:
        return Draft(situation.timestamp), Corrected(lineage.members[-1].id)
    return _renewed(
        situation, lineage, {"action": Action.REBASE_ORPHAN.value}, SupersedesReason.ORPHAN
    )


def _lineage(situation: RecordingContext, annotation_id: str) -> Lineage:
    lineage = situation.trail.lineage_of(annotation_id)
    if lineage is None:
        raise UnknownId(
            f"annotation_id: no annotation has the id {annotation_id}", hint="give a whole id"
        )
    if lineage.current.type != RecordType.LINE or lineage.action == Action.DELETE:
        raise WrongArgument(
            "annotation_id", "is that of a function or a deletion, which no line numbers place"
        )
    return lineage


def _renewed(
    situation: RecordingContext, lineage: Lineage, changes: Members, reason: SupersedesReason
) -> tuple[Draft, Corrected]:
    draft = Draft(situation.timestamp)
    kept = {
        name: value for name, value in lineage.current.members.items() if name != "annotation_id"
    }
    identifier = draft.add({**kept, **changes})
    former = Node(lineage.current.id, NodeType.ANNOTATION)
    draft.edge(
        EdgeType.SUPERSEDES, Node(identifier, NodeType.ANNOTATION), former, {"reason": reason.value}
    )
    return draft, Corrected(identifier, tuple(draft.edges), dict(draft.records[0]))
