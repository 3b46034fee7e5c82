"""The edges that an annotation brings with it (RFC 7.6, 9.2): the source is the effect, the target the cause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from vibes_lsp.anchors.location import Method, State
from vibes_lsp.errors import UnknownId
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import text
from vibes_lsp.model.vocabulary import Action, ContextType, EdgeType, NodeType, SupersedesReason
from vibes_lsp.recording.context import Draft, Node, RecordingContext
from vibes_lsp.recording.entries import Entries

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_NO_OWNERS: Final = frozenset({Action.DELETE, Action.REVIEW})
_CERTAIN: Final = frozenset({State.EXACT, State.MOVED, State.EDITED})


def add_causes(draft: Draft, annotation: Node, causes: Iterable[Node | None]) -> None:
    """Add what triggered an annotation: the first of the causes that is known."""
    cause = next((each for each in causes if each is not None), None)
    if cause is not None:
        draft.edge(EdgeType.CAUSED_BY, annotation, cause)


def add_informants(draft: Draft, annotation: Node, informants: Iterable[Node]) -> None:
    """Add what the AI had looked at."""
    for informant in informants:
        draft.edge(EdgeType.INFORMED_BY, annotation, informant)


def informants(situation: RecordingContext, entries: Entries, named: Sequence[str]) -> list[Node]:
    """Return what hashes, ids and files name; each file as the command that read it.

    Raises:
        UnknownId: A hash or an id names nothing.
    """
    return [
        node
        for each in named
        if (node := node_of(situation, each) or _read_file(entries, each)) is not None
    ]


def node_of(situation: RecordingContext, reference: str) -> Node | None:
    """Return the context entry, record or session that a whole id names; None for what does not look like an id.

    Raises:
        UnknownId: It looks like one and names nothing.
    """
    if reference in situation.trail.manifest:
        return Node(reference, NodeType.CONTEXT)
    if reference in situation.trail.log.columns.sessions:
        return Node(reference, NodeType.SESSION)
    if not _DIGEST.fullmatch(reference):
        return None
    record = situation.trail.log.by_id(reference)
    if record is None:
        raise UnknownId(
            f"no record, context entry or session has the id {reference}", hint="give whole ids"
        )
    return Node(reference, NodeType.ANNOTATION)


def unused_reads(trail: Trail, session: str) -> list[Node]:
    """Return what a session has read since it was last linked to one of the session's annotations."""
    read: dict[str, int] = {}
    for edge in trail.log.edges(source=session):
        if edge.type == EdgeType.INFORMED_BY and edge.target_type == NodeType.CONTEXT:
            read[edge.target] = edge.record.line
    return [
        Node(target, NodeType.CONTEXT)
        for target, line in read.items()
        if line > _last_use(trail, session, target)
    ]


def latest_prompt(trail: Trail, session: str) -> str | None:
    """Return the hash of the prompt that a session was given last; None when none was recorded by itself."""
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
    """Add what a new annotation lies on: it supersedes an older one that it covers whole, and depends on one that it only overlaps (R7).

    Lines are compared with lines and functions with functions: a function owns no line, so the record of one ends none of another kind.
    Where it is not certain that the older one stands where it was placed, no more is claimed than that the new one depends on it.

    Args:
        draft: Gets the edges.
        annotation: The new annotation.
        placements: The older ones in the same text, as they are before this one is recorded.
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
    """Return the lines that an annotation speaks of now: those it owns; of a function, which owns none, all."""
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
    kept = entries.files([path])
    return Node(entries.read(kept), NodeType.CONTEXT) if kept else None
