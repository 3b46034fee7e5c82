"""Definition and document links: from an AI's line to its record, from an id to what it names.

In code there is an answer only where the cursor is on no name: the definition of a name is what
other servers answer, and a second result would make every editor ask which one.
"""

from __future__ import annotations

import os
from typing import Final

from lsprotocol import types

from vibes_lsp.lsp.documents.audit_files import (
    AuditPosition,
    RecordPlaces,
    audit_position,
    found_by_id,
    references_in,
)
from vibes_lsp.lsp.documents.knowledge_navigation import knowledge_definition
from vibes_lsp.lsp.protocol.conversion import range_in_line, to_characters, uri_in
from vibes_lsp.lsp.state.projects import Project
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.reports.provenance_graph import GraphReader
from vibes_lsp.store.files import is_inside

_MAX_LOCATIONS: Final = 200
_MAX_LINKS: Final = 2_000
_PATH: Final = "file_path"


def register(server: Server) -> None:
    """Answer `textDocument/definition`, `textDocument/documentLink` and `documentLink/resolve`."""

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(ls: Server, params: types.DefinitionParams) -> list[types.Location]:
        uri, position = params.text_document.uri, params.position
        named = await knowledge_definition(ls, uri, position)
        if named:
            return named
        await ls.projects.until_indexed([uri])
        snapshot = ls.projects.snapshot(uri)
        if snapshot is not None:
            return _records(ls, snapshot, position)
        audit_place = audit_position(ls, uri, position)
        return [] if audit_place is None else await _from_audit_file(ls, audit_place)

    @server.feature(
        types.TEXT_DOCUMENT_DOCUMENT_LINK, types.DocumentLinkOptions(resolve_provider=True)
    )
    async def links(ls: Server, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
        uri = params.text_document.uri
        await ls.projects.until_indexed([uri])
        audit_file = ls.projects.audit_file(uri)
        return [] if audit_file is None else _links(ls, uri, audit_file[0])

    @server.feature(types.DOCUMENT_LINK_RESOLVE)
    async def resolve(ls: Server, link: types.DocumentLink) -> types.DocumentLink:
        members = link.data if isinstance(link.data, dict) else {}
        uri, value = members.get("uri"), members.get("id")
        if link.target is not None or not isinstance(uri, str) or not isinstance(value, str):
            return link
        await ls.projects.until_indexed([uri])
        audit_file = ls.projects.audit_file(uri)
        if audit_file is not None:
            link.target = await _target(ls, audit_file[0], value)
        return link


def _records(
    ls: Server, snapshot: DocumentSnapshot, position: types.Position
) -> list[types.Location]:
    """Return the current records of a line's owner, else of all annotations there."""
    line = position.line + 1
    text = snapshot.text.lines[position.line] if line <= len(snapshot.text.lines) else ""
    column = to_characters(text, position.character, ls.documents.encoding)
    if any(
        character.isalnum() or character == "_"
        for character in text[max(0, column - 1) : column + 1]
    ):
        return []
    log = snapshot.trail.trail.directory.log.absolute().as_uri()
    places = (
        types.Position(placement.current.line - 1, 0)
        for placement in snapshot.owners_at(line)
        if not placement.is_pending and not placement.current.is_waiting
    )
    return [types.Location(log, types.Range(place, place)) for place in places]


async def _from_audit_file(ls: Server, audit_place: AuditPosition) -> list[types.Location]:
    """Return the lines now of a record or entry, or the place of what a hash or id names."""
    places = RecordPlaces(ls, audit_place.project)
    named, node = audit_place.named, audit_place.node
    if node is None:
        return []
    if named is not None and audit_place.token != audit_place.own:
        place = await places.named(named)
        return [] if place is None else [place]
    is_edit = node.kind == "annotation"
    edits = [node] if is_edit else GraphReader(audit_place.trail).edits_of(node)
    locations: list[types.Location] = []
    for node in edits[:_MAX_LOCATIONS]:
        location = await places.lines_now(node)
        if location is not None and location not in locations:  # as of an edit and what it replaced
            locations.append(location)
    return locations


def _links(ls: Server, uri: str, project: Project) -> list[types.DocumentLink]:
    trail, document = project.snapshot.trail, ls.documents.get(uri)
    places = RecordPlaces(ls, project)
    document_links: list[types.DocumentLink] = []
    for number, line, match in () if document is None else references_in(document):
        member, value = match["member"], match["value"]
        target, members = None, None
        if member == _PATH:
            target = _file_uri(project, places, value)
        elif not member.endswith("_hash") or value in trail.manifest:
            members = {"uri": uri, "id": value}
        if target or members:
            place = range_in_line(line, number, match.span("value"), ls.documents.encoding)
            document_links.append(types.DocumentLink(place, target, data=members))
        if len(document_links) == _MAX_LINKS:
            break
    return document_links


async def _target(ls: Server, project: Project, identifier: str) -> str | None:
    subject = found_by_id(project.snapshot.trail, identifier)
    place = None if subject is None else await RecordPlaces(ls, project).named(subject)
    return None if place is None else f"{place.uri}#L{place.range.start.line + 1}"


def _file_uri(project: Project, places: RecordPlaces, recorded: str) -> str | None:
    """Return the URI of a recorded file, if it is there and no link leads out of the project."""
    path, root = normal_path(recorded), project.directory.project
    if not can_be_in_project(path):
        return None
    path = places.path_now(path)
    file = root / path
    is_there = is_inside(file, root) and os.path.isfile(file)  # noqa: PTH113  # any name
    return uri_in(root, path) if is_there else None
