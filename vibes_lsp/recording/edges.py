"""The edges that follow from an annotation, and edges between any two things (RFC 7.6, 9.2).

The source of an edge is the effect, its target the cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from vibes_lsp.anchors.location import Method, State
from vibes_lsp.errors import UnknownId
from vibes_lsp.model.members import text
from vibes_lsp.model.vocabulary import Action, ContextType, EdgeType, NodeType, SupersedesReason
from vibes_lsp.placing.placements import Placement
from vibes_lsp.recording.context import Draft, Node, RecordingContext
from vibes_lsp.recording.entries import Entries
from vibes_lsp.recording.requests import RecordEdge
from vibes_lsp.recording.results import Informed, RecordedEdge
from vibes_lsp.trail.trail import Trail

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_FILE: Final = "file"
"""In the metadata of an edge: the file about which a session was told of an annotation."""
_MAX_TOLD: Final = 20
"""Annotations of a file that inform an edit: the last that its session was told of."""
_NO_OWNERS: Final = frozenset({Action.DELETE, Action.REVIEW})
_CERTAIN: Final = frozenset({State.EXACT, State.MOVED, State.EDITED})


def informants(context: RecordingContext, entries: Entries, named: Sequence[str]) -> list[Node]:
    """Return the nodes of hashes, ids and files; a file as the command that read it.

    Raises:
        UnknownId: A hash or an id is not in the trail.
    """
    return [
        node
        for name in named
        if (node := node_of(context, name) or _read_file(entries, name)) is not None
    ]


def node_of(context: RecordingContext, reference: str) -> Node | None:
    """Return the node of a whole id; None for text that does not look like an id.

    Raises:
        UnknownId: It looks like an id and is not in the trail.
    """
    if reference in context.trail.manifest:
        return Node(reference, NodeType.CONTEXT)
    if context.trail.log.session(reference) is not None:
        return Node(reference, NodeType.SESSION)
    if not _DIGEST.fullmatch(reference):
        return None
    record = context.trail.log.by_id(reference)
    if record is None:
        raise UnknownId(
            f"no record, context entry or session has the id {reference}", hint="give whole ids"
        )
    return Node(reference, NodeType.ANNOTATION)


def unused_reads(trail: Trail, session: str) -> list[Node]:
    """Return what a session has read and no annotation of it refers to since."""
    read: dict[str, int] = {}
    for edge in trail.log.edges(source=session):
        if edge.type == EdgeType.INFORMED_BY and edge.target_type == NodeType.CONTEXT:
            read[edge.target] = edge.record.line
    return [
        Node(target, NodeType.CONTEXT)
        for target, line in read.items()
        if line > _last_use(trail, session, target)
    ]


def inform_session(
    context: RecordingContext, session: str, annotations: Iterable[tuple[str, str]]
) -> tuple[Draft, Informed]:
    """Return the edges to the annotations that a session was told of, each once.

    Args:
        context: The trail.
        session: The session, which was started.
        annotations: Ids of annotations, with the file that each is in; unknown ids are left out.
    """
    draft, log = Draft(context.timestamp, session), context.trail.log
    known = {(edge.target, text(edge.metadata, _FILE)) for edge in log.edges(source=session)}
    for identifier, path in annotations:
        record = log.by_id(identifier)
        if record is not None and record.is_annotation and (identifier, path) not in known:
            annotation = Node(identifier, NodeType.ANNOTATION)
            source = Node(session, NodeType.SESSION)
            draft.edge(EdgeType.INFORMED_BY, source, annotation, {_FILE: path})
    return draft, Informed(tuple(draft.edges))


def answers_about(trail: Trail, session: str, path: str) -> list[Node]:
    """Return the annotations of a file that a session was told of; they inform all its edits."""
    targets = {
        edge.target: None
        for edge in trail.log.edges(source=session, edge_type=EdgeType.INFORMED_BY)
        if edge.source == session
        and edge.target_type == NodeType.ANNOTATION
        and text(edge.metadata, _FILE) == path
    }
    return [Node(identifier, NodeType.ANNOTATION) for identifier in [*targets][-_MAX_TOLD:]]


def latest_prompt(trail: Trail, session: str) -> str | None:
    """Return the hash of a session's last prompt that was recorded by itself, if any."""
    edges = trail.log.edges(source=session, edge_type=EdgeType.CAUSED_BY)
    prompts = (
        edge.target
        for edge in reversed(edges)
        if edge.source == session and edge.target_type == NodeType.CONTEXT
    )
    return next(
        (
            key
            for key in prompts
            if key in trail.manifest
            and text(trail.manifest.entry(key) or {}, "type") == ContextType.PROMPT
        ),
        None,
    )


def add_replaced(
    draft: Draft,
    annotation: Node,
    placements: Iterable[Placement],
    *,
    kind: str,
    start: int,
    end: int,
) -> None:
    """Add the edges to older annotations on the same lines (R7).

    The new annotation supersedes an older one that it covers whole, and depends on one that it only
    overlaps. Line annotations are compared with line annotations, functions with functions: a
    function owns no line, so it supersedes no line annotation. Where the older annotation's place
    is not certain, the new one only depends on it.

    Args:
        draft: The edges are added to it.
        annotation: The new annotation.
        placements: The older ones in the same text, before the new one is recorded.
        kind: The new record's type.
        start: First line of the new one, 1-based.
        end: Last line, inclusive.
    """
    for placement in placements:
        located = placement.located
        if (
            located.start is None
            or located.end is None
            or located.start > end
            or located.end < start
        ):
            continue
        if placement.is_history or located.is_contradicted or placement.current.type != kind:
            continue
        older = Node(placement.current.id, NodeType.ANNOTATION)
        covered = (
            start <= located.start
            and located.end <= end
            and placement.lineage.action not in _NO_OWNERS
        )
        certain = (
            located.state in _CERTAIN or located.method == Method.NAME
        ) and not located.ambiguous
        if covered and certain:
            draft.edge(
                EdgeType.SUPERSEDES, annotation, older, {"reason": SupersedesReason.COVERS.value}
            )
        elif covered or any(
            first <= end and start <= last
            for first, last in _lines_of(placement, located.start, located.end)
        ):
            draft.edge(EdgeType.DEPENDS_ON, annotation, older)


def _lines_of(placement: Placement, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """Return the lines that an annotation owns; of a function, which owns none, all its lines."""
    if placement.lineage.action in _NO_OWNERS:
        return ()
    return placement.owned_ranges if placement.may_own_lines else ((start, end),)


def _last_use(trail: Trail, session: str, target: str) -> int:
    uses = (
        edge.record.line
        for edge in trail.log.edges(target=target)
        if edge.type == EdgeType.INFORMED_BY
        and edge.source_type == NodeType.ANNOTATION
        and edge.record.text("session_id") == session
    )
    return max(uses, default=0)


def _read_file(entries: Entries, path: str) -> Node | None:
    files = entries.files([path])
    return Node(entries.read(files), NodeType.CONTEXT) if files else None


def record_edge(context: RecordingContext, request: RecordEdge) -> tuple[Draft, RecordedEdge]:
    """Return an edge between two things of the trail.

    Raises:
        UnknownId: An end, or the session, is not in the trail.
    """
    if request.session_id is not None:
        context.session(request.session_id)
    draft = Draft(context.timestamp, request.session_id)
    source = _end(context, "source", request.source_ref, request.source_type)
    target = _end(context, "target", request.target_ref, request.target_type)
    metadata = None if request.metadata is None else dict(request.metadata)
    return draft, RecordedEdge(draft.edge(request.edge_type, source, target, metadata))


def _end(context: RecordingContext, end: str, reference: str, kind: NodeType) -> Node:
    trail = context.trail
    is_there = {
        NodeType.ANNOTATION: lambda: trail.log.by_id(reference) is not None,
        NodeType.CONTEXT: lambda: reference in trail.manifest,
        NodeType.SESSION: lambda: trail.log.session(reference) is not None,
    }
    if not is_there[kind]():
        raise UnknownId(f"{end}_ref: no {kind} has the id {reference!r}", hint="give whole ids")
    return Node(reference, kind)
