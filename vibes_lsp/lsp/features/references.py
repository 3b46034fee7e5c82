"""References: on an AI's line, all ranges of the project that were made with the same prompt.

Where no prompt is recorded, those of the same session. In an audit file it is the prompt, decision
or session under the cursor, or those of the record there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lsprotocol import types

from vibes_lsp.lsp.documents.audit_files import RecordPlaces, audit_position, location_now
from vibes_lsp.lsp.documents.knowledge_navigation import knowledge_references
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot
from vibes_lsp.model.paths import normal_path
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.provenance_graph import GraphReader
from vibes_lsp.trail.trail import Trail

_MAX_ANNOTATIONS: Final = 1_000
_MAX_LOCATIONS: Final = 1_000
_MEMBERS: Final = ("prompt_hash", "session_id")
"""What ranges have in common; the first that the annotations of a line have."""


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
        return await _from_audit_file(ls, uri, position)
    member, wanted = _in_common(snapshot, position.line + 1)
    owner = ls.projects.owner(uri)
    if not wanted or owner is None:
        return []
    project = owner[0]
    paths = [snapshot.path, *_files_with(snapshot.trail.trail, member, wanted)]
    return await _locations(RecordPlaces(ls, project, snapshot), paths, member, wanted)


def _in_common(snapshot: DocumentSnapshot, line: int) -> tuple[str, frozenset[str]]:
    """Return prompts of a line's owner, else those of all annotations there; else sessions."""
    placements = snapshot.owners_at(line)
    for member in _MEMBERS:
        identifiers = {placement.current.text(member) for placement in placements} - {None}
        if identifiers:
            return member, frozenset(
                identifier for identifier in identifiers if identifier is not None
            )
    return _MEMBERS[0], frozenset()


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
    places: RecordPlaces,
    paths: Iterable[str],
    member: str,
    wanted: frozenset[str],
) -> list[types.Location]:
    locations: list[types.Location] = []
    for path in dict.fromkeys(map(places.path_now, paths)):
        snapshot = await places.snapshot(path)
        if snapshot is not None:
            chosen = (
                placement for placement in snapshot.placements if _has(placement, member, wanted)
            )
            located = (location_now(snapshot, placement, places.encoding) for placement in chosen)
            locations += filter(None, located)
        if len(locations) >= _MAX_LOCATIONS:
            break
    return locations[:_MAX_LOCATIONS]


def _has(placement: Placement, member: str, wanted: frozenset[str]) -> bool:
    return placement.is_claim and placement.current.text(member) in wanted


async def _from_audit_file(ls: Server, uri: str, position: types.Position) -> list[types.Location]:
    audit_place = audit_position(ls, uri, position)
    subject = None if audit_place is None else audit_place.subject
    if audit_place is None or subject is None:
        return []
    node = GraphReader(audit_place.trail).root(subject)
    names = {"prompt": "prompt_hash", "decision": "decision_hash", "session": "session_id"}
    member, identifier = names.get(node.type), node.id
    if node.kind == "annotation":
        record = subject.record
        named = {} if record is None else {name: record.text(name) for name in _MEMBERS}
        member, identifier = next(
            ((name, value) for name, value in named.items() if value), (None, "")
        )
    if member is None:
        return []
    wanted = frozenset((identifier,))
    paths = _files_with(audit_place.trail, member, wanted)
    return await _locations(RecordPlaces(ls, audit_place.project), paths, member, wanted)
