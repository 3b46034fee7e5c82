"""Call hierarchy as the provenance graph: incoming what caused an edit, outgoing what came of it.

VS Code asks one provider for each document, and would take the hierarchy of the code away. A client
that can limit a provider to some files gets it for audit files only; others merge the answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, Final

from lsprotocol import types

from vibes_lsp.lsp.documents.audit_files import RecordPlaces, audit_position, found_by_id
from vibes_lsp.lsp.state.projects import Project
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.reports.provenance_graph import (
    Direction,
    GraphLink,
    GraphNode,
    GraphReader,
)

_MAX_NAME: Final = 80
_MAX_AUTHOR: Final = 40
_KINDS: Final = {
    "prompt": types.SymbolKind.String,
    "command": types.SymbolKind.Event,
    "decision": types.SymbolKind.Enum,
    "reasoning": types.SymbolKind.Object,
    "environment": types.SymbolKind.Module,
    "session": types.SymbolKind.Namespace,
}
METHOD: Final = types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY
REGISTRATIONS: Final = (
    types.CallHierarchyRegistrationOptions(
        [types.TextDocumentFilterPattern(pattern="**/.ai-audit/**")]
    ),
)


def register(server: Server) -> None:
    """Answer the three requests; before `initialize` was answered, that also declares them."""

    @server.feature(METHOD)
    async def prepare(
        ls: Server, params: types.CallHierarchyPrepareParams
    ) -> list[types.CallHierarchyItem] | None:
        await ls.projects.until_indexed([params.text_document.uri])
        origin = _nodes_at(ls, params.text_document.uri, params.position)
        if origin is None:
            return None
        project, nodes = origin
        return await _items(ls, project, [(node, None) for node in nodes]) or None

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(
        ls: Server, params: types.CallHierarchyIncomingCallsParams
    ) -> list[types.CallHierarchyIncomingCall]:
        items = await _neighbours(ls, params.item, "causes")
        return [
            types.CallHierarchyIncomingCall(neighbour, [neighbour.selection_range])
            for neighbour in items
        ]

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(
        ls: Server, params: types.CallHierarchyOutgoingCallsParams
    ) -> list[types.CallHierarchyOutgoingCall]:
        items = await _neighbours(ls, params.item, "effects")
        here = params.item.selection_range
        return [types.CallHierarchyOutgoingCall(neighbour, [here]) for neighbour in items]


def _nodes_at(
    ls: Server, uri: str, position: types.Position
) -> tuple[Project, list[GraphNode]] | None:
    snapshot = ls.projects.snapshot(uri)
    if snapshot is None:
        audit_place = audit_position(ls, uri, position)
        node = None if audit_place is None else audit_place.node
        return None if audit_place is None or node is None else (audit_place.project, [node])
    reader, placements = GraphReader(snapshot.trail.trail), snapshot.owners_at(position.line + 1)
    nodes = [
        reader.node(placement.current.id) for placement in placements if not placement.is_pending
    ]
    owner = ls.projects.owner(uri)
    return None if owner is None or not nodes else (owner[0], nodes)


async def _neighbours(
    ls: Server, item: types.CallHierarchyItem, direction: Direction
) -> list[types.CallHierarchyItem]:
    """Return the neighbours of an item that the client got before."""
    members = item.data if isinstance(item.data, dict) else {}
    identifier, uri = members.get("id"), members.get("uri")
    if not isinstance(identifier, str) or not isinstance(uri, str):
        return []
    project = await ls.indexed_project(uri)
    trail = project.snapshot.trail
    subject = found_by_id(trail, identifier)
    if subject is None:  # the trail has changed since
        return []
    reader = GraphReader(trail)
    around = reader.neighbours(reader.root(subject), direction)
    return await _items(ls, project, zip(around.nodes, around.links, strict=True))


async def _items(
    ls: Server, project: Project, nodes: Iterable[tuple[GraphNode, GraphLink | None]]
) -> list[types.CallHierarchyItem]:
    """Return the nodes that the trail has, with the places to open."""
    places = RecordPlaces(ls, project)
    items = [await _item(places, project, node, link) for node, link in nodes]
    return [item for item in items if item is not None]


async def _item(
    places: RecordPlaces, project: Project, node: GraphNode, link: GraphLink | None
) -> types.CallHierarchyItem | None:
    """Return a node with the place to open; None if the trail does not have it."""
    now = await places.lines_now(node)
    place = now or await places.place(node)
    if place is None:
        return None
    start = place.range.start
    members: dict[str, Any] = {"id": node.id, "uri": project.directory.project.as_uri()}
    return types.CallHierarchyItem(
        _name(node, now),
        _KINDS.get(node.type, types.SymbolKind.Function),
        place.uri,
        place.range,
        types.Range(start, start),
        detail=_detail(node, link, is_lost=node.kind == "annotation" and now is None),
        data=members,
    )


def _name(node: GraphNode, now: types.Location | None) -> str:
    """Return what a node is about; of an edit its lines now."""
    if now is not None and node.path is not None:
        span = f"{now.range.start.line + 1}-{now.range.end.line + 1}"
        action = node.text.partition(" ")[0]
        return single_line(f"{action} {PurePosixPath(node.path).name}:{span}", _MAX_NAME)
    kind = "" if node.kind == "annotation" else f"{node.type or node.kind}: "
    return kind + single_line(node.text.strip() or node.id[:8], _MAX_NAME)


def _detail(node: GraphNode, link: GraphLink | None, *, is_lost: bool) -> str:
    moment = parse_timestamp(node.timestamp or "")
    parts = [
        (link.words or single_line(link.type, _MAX_AUTHOR)) if link is not None else "",
        single_line(node.author, _MAX_AUTHOR) if node.author else "",
        describe_age(moment, datetime.now(UTC)) if moment is not None else "",
        "not found now" if is_lost else "",
    ]
    return " · ".join(filter(None, parts))
