"""Record inline completions: one annotation each, however many parts are accepted. Decisions only.

Each part makes the annotation that would be written if it were the last. It is stored as pending,
and so visible at once, until `accepted_completions` records it (`docs/recording.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.known_text import locate_from
from vibes_lsp.anchors.location import AnchoredRange
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import VibesError
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.record_schema import CONTEXT_MEMBERS
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import (
    Action,
    EdgeType,
    NodeType,
    RecordType,
    SupersedesReason,
    is_custom_signal,
)
from vibes_lsp.recording.annotations import (
    Contexts,
    LineSpan,
    add_annotation,
    draft_annotation,
    unmeasured_members,
    write_contexts,
)
from vibes_lsp.recording.arguments import WrongArgument
from vibes_lsp.recording.context import Draft, Node, RecordingContext
from vibes_lsp.recording.paths import source_text
from vibes_lsp.recording.requests import RecordInlineCompletion
from vibes_lsp.recording.results import Recorded
from vibes_lsp.recording.text_edits import (
    AppliedEdit,
    LineColumn,
    apply_edit,
    find_applied_edit,
)

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


@dataclass(frozen=True, slots=True)
class InlineCompletion:
    """An inline completion: the parts that were accepted so far, and what they came to.

    Attributes:
        path: The file.
        parts: The numbers of the parts.
        contexts: What the annotation refers to.
        timestamp: When the last part was accepted.
        action: The annotation's action.
        lines: The annotation's lines; None while everything accepted is white space, and for a
            completion that was undone.
        replaced: The lines that the parts replaced, without leading and trailing blanks.
        records: The annotation and its edges. While it is pending: to be written unless more is
            accepted.
        final: Whether no more parts can follow.
        result: The result of its request, once it is recorded.
    """

    path: str
    parts: tuple[int, ...]
    contexts: Contexts
    timestamp: str
    action: str
    lines: tuple[int, int] | None = None
    replaced: tuple[str, ...] = ()
    records: tuple[dict[str, Any], ...] = ()
    final: bool = False
    result: Recorded = Recorded(None)  # noqa: RUF009  # it is frozen


@dataclass(frozen=True, slots=True)
class AcceptedPart:
    """An inline completion after one more part was accepted.

    Attributes:
        completion: All parts so far.
        text: The text with them.
        is_separate: Whether the earlier parts are an annotation of their own, to be recorded first.
    """

    completion: InlineCompletion
    text: Text
    is_separate: bool


def accept_part(
    context: RecordingContext,
    path: str,
    request: RecordInlineCompletion,
    earlier: InlineCompletion | None,
    earlier_text: Text | None,
) -> AcceptedPart:
    """Return a completion after a part, or all of it, was accepted.

    Args:
        context: The trail.
        path: The file, relative to the project.
        request: The part.
        earlier: The parts before it.
        earlier_text: The text with those; None where another program accepted them.

    Raises:
        WrongArgument: The text before cannot have had the range, or an argument does not fit.
        UnknownId: A session or an informant is not in the trail.
        UnreadableFile: No text was given and the file cannot be read.
    """
    applied, before = _apply(context, request, path)
    carried = _carried(earlier, earlier_text, applied, before)
    is_separate = (
        carried is not None
        and applied.lines is not None
        and _are_apart(applied.text, carried, applied.lines)
    )
    if is_separate:
        carried = None
    contexts = write_contexts(context, request)
    ranges = [span for span in (carried, applied.lines) if span is not None]
    lines = (min(start for start, _ in ranges), max(end for _, end in ranges)) if ranges else None
    parts: tuple[int, ...] = (request.part,)
    action, replaced = applied.action, applied.replaced
    if earlier is not None:
        parts = tuple(sorted({*earlier.parts, request.part}))
        contexts = earlier.contexts.merged(contexts)
        if carried is not None:
            action = Action.MODIFY.value if Action.MODIFY in (earlier.action, action) else action
            replaced = (*earlier.replaced, *replaced)
    now = Text(applied.text)
    records: Sequence[Members] = ()
    if lines is not None:
        records = draft_annotation(context, action, contexts, LineSpan(path, now, *lines)).records
    if context.hides(path, now):
        replaced = ()
    completion = InlineCompletion(
        path, parts, contexts, context.timestamp, action, lines, replaced, tuple(records)
    )
    return AcceptedPart(completion, now, is_separate)


def redraft(
    context: RecordingContext,
    pending: InlineCompletion,
    current: Text,
    accepted_text: Text | None,
) -> tuple[Sequence[Members], tuple[int, int] | None]:
    """Return the records of a completion for the current text, and its lines; none if undone.

    Where a person has changed it, the records are those of the moment of acceptance: they say what
    the AI wrote.

    Args:
        context: The trail.
        pending: The completion; it has lines.
        current: The text now.
        accepted_text: The text in which its last part was accepted; None where that was in another
            program.
    """
    [location] = locate_from(accepted_text, [_anchored_range(pending)], current)
    if location.start is None or location.end is None:
        return [], None
    if location.sure:
        accepted = replace(context, now=parse_timestamp(pending.timestamp) or context.now)
        span = LineSpan(pending.path, current, location.start, location.end)
        draft = draft_annotation(accepted, pending.action, pending.contexts, span)
        return draft.records, (location.start, location.end)
    lines = current.lines[location.start - 1 : location.end]
    is_undone = all(not line.strip() or line.strip() in pending.replaced for line in lines)
    return ([], None) if is_undone else (pending.records, pending.lines)


def could_be_recorded(completion: InlineCompletion) -> bool:
    """Return whether the records of a completion are those that its other values give.

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


def _apply(
    context: RecordingContext, request: RecordInlineCompletion, path: str
) -> tuple[AppliedEdit, str | None]:
    """Return the text with the part, and the text before; None where that is unknown."""
    before = request.text
    if before is None:
        before = source_text(context.project, path).content
        applied = find_applied_edit(before, *_ends(request), request.new_text)
        if applied is not None:
            return applied, None
    _refuse_outside(request, before, path)
    return apply_edit(before, *_ends(request), request.new_text), before


def _refuse_outside(request: RecordInlineCompletion, before: str, path: str) -> None:
    """Refuse a range outside the text; a column beyond its line is the line's end, as in LSP."""
    lines = 1 + before.count("\n")  # an editor shows an empty line after the last line end
    start, end = _ends(request)
    for name, (line, _) in (("start", start), ("end", end)):
        if line > lines:
            raise WrongArgument(
                f"range.{name}",
                f"line {line} (from 0) is not in {path}, which has {lines}; "
                "give the text before as text",
            )
    if end < start:
        raise WrongArgument("range.end", "is before the start")


def _ends(request: RecordInlineCompletion) -> tuple[LineColumn, LineColumn]:
    start, end = request.range.start, request.range.end
    return (start.line, start.character), (end.line, end.character)


def _carried(
    earlier: InlineCompletion | None,
    earlier_text: Text | None,
    applied: AppliedEdit,
    before: str | None,
) -> tuple[int, int] | None:
    """Return the lines of the earlier parts in the text with one more; None when not found."""
    if earlier is None or earlier.lines is None:
        return None
    current = Text(applied.text if before is None else before)
    [location] = locate_from(earlier_text, [_anchored_range(earlier)], current)
    if location.start is None or location.end is None:
        return None
    lines = location.start, location.end
    return lines if before is None else applied.follow(*lines)


def _are_apart(content: str, lines: tuple[int, int], other_lines: tuple[int, int]) -> bool:
    """Return whether lines with other text are between two ranges."""
    first, second = sorted((lines, other_lines))
    return any(line.strip() for line in Text(content).lines[first[1] : second[0] - 1])


def _anchored_range(pending: InlineCompletion) -> AnchoredRange:
    record = pending.records[0]
    start, end = pending.lines or (1, 1)
    return AnchoredRange(
        start,
        end,
        Anchors(
            text(record, "anchor_context"),
            text(record, "anchor_hash"),
            text(record, "file_content_hash"),
        ),
    )
