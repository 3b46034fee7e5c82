"""References: on an AI's line, all ranges of the project that were made with the same prompt.

Where no prompt is recorded, those of the same session. In an audit file it is the prompt, decision
or session under the cursor, or those of the record there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from lsprotocol import types

from vibes_lsp.lsp.documents.audit_files import RecordPlaces, audit_position, location_now
from vibes_lsp.lsp.documents.knowledge_navigation import knowledge_references
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.model.paths import normal_path
from vibes_lsp.trail.records import LogRecord
from vibes_lsp.trail.trail import Trail

_MAX_ANNOTATIONS: Final = 1_000
_MAX_LOCATIONS: Final = 1_000
_MEMBERS: Final = ("prompt_hash", "session_id")
"""What ranges have in common; the first that the annotations of a line have."""
_NAMED: Final = {"prompt": "prompt_hash", "decision": "decision_hash", "session": "session_id"}
"""The member that names a node, by the node's type."""


def register(server: Server) -> None:
    """Answer `textDocument/references`."""

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
        await ls.projects.until_indexed([params.text_document.uri])
        claims = await knowledge_references(ls, params.text_document.uri, params.position)
        return claims + await _of_line(ls, params.text_document.uri, params.position)


async def _of_line(ls: Server, uri: str, position: types.Position) -> list[types.Location]:
    """Return what has the prompt or session in common with a line, or is named in an audit file."""
    snapshot = ls.projects.snapshot(uri)
    if snapshot is None:
        audit_place = audit_position(ls, uri, position)
        node = None if audit_place is None else audit_place.node
        if audit_place is None or node is None:
            return []
        project, paths = audit_place.project, list[str]()
        record = audit_place.trail.log.by_id(node.id) if node.kind == "annotation" else None
        if record is not None:
            member, wanted = _in_common([record])
        else:
            member, wanted = _NAMED.get(node.type, ""), frozenset((node.id,))
    else:
        owner = ls.projects.owner(uri)
        if owner is None:
            return []
        project, paths = owner[0], [snapshot.path]
        placements = snapshot.owners_at(position.line + 1)
        member, wanted = _in_common([placement.current for placement in placements])
    if not member:
        return []
    paths += _files_with(project.snapshot.trail, member, wanted)
    return await _locations(RecordPlaces(ls, project), paths, member, wanted)


def _in_common(records: Sequence[LogRecord]) -> tuple[str, frozenset[str]]:
    """Return the member that records are found by and its values: prompts, else sessions."""
    for member in _MEMBERS:
        identifiers = frozenset(filter(None, (record.text(member) for record in records)))
        if identifiers:
            return member, identifiers
    return "", frozenset()


def _files_with(trail: Trail, member: str, wanted: Iterable[str]) -> list[str]:
    """Return the files with current annotations of some prompts or sessions."""
    if member == "session_id":
        return sorted(path for identifier in wanted for path in trail.files_of_session(identifier))
    return [
        normal_path(lineage.current.text("file_path") or "")
        for identifier in wanted
        for lineage in trail.lineages_naming(identifier, _MAX_ANNOTATIONS)
        if not lineage.superseded_by and not lineage.is_review
    ]


async def _locations(
    places: RecordPlaces, paths: Iterable[str], member: str, wanted: frozenset[str]
) -> list[types.Location]:
    locations: list[types.Location] = []
    for path in dict.fromkeys(map(places.path_now, paths)):
        snapshot = await places.snapshot(path)
        if snapshot is None:
            continue
        for placement in snapshot.placements:
            if placement.is_claim and placement.current.text(member) in wanted:
                location = location_now(snapshot, placement, places.encoding)
                locations += [] if location is None else [location]
        if len(locations) >= _MAX_LOCATIONS:
            break
    return locations[:_MAX_LOCATIONS]
