"""Code lenses: one above each line at which annotations begin that need attention.

That is where a review waits or rejects, or where a risk has at least the band of the settings. The
text is computed on `codeLens/resolve`, or at once for clients that would flicker.

In the log, one above each annotation: where its lines are now.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from lsprotocol import types

from vibes_lsp.lsp.documents.audit_files import (
    RecordPlaces,
    found_by_id,
    outline_log,
    record_id,
)
from vibes_lsp.lsp.documents.knowledge_texts import lens_title
from vibes_lsp.lsp.documents.rendering import INDEXING, lens_text
from vibes_lsp.lsp.protocol.conversion import FIRST_LINE
from vibes_lsp.lsp.protocol.extensions import (
    CLIENT_KB_SHOW,
    CLIENT_SHOW_ANNOTATIONS,
    CommandName,
    has_client_command,
    own_capability,
)
from vibes_lsp.lsp.state.knowledge_bases import DocumentKnowledge, PlacedCitation
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.shown_documents import shows_documents
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Band, RecordType
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.found_annotations import is_reviewable
from vibes_lsp.reports.placements import is_reviewed
from vibes_lsp.reports.provenance_graph import GraphReader
from vibes_lsp.reports.review_queue import is_rejected

_MAX_LENSES: Final = 1000
_MAX_PATH: Final = 200
_MAX_RESOLVED: Final = 100
"""Lenses of a document that have text at once, for clients that would flicker."""
_ANNOTATIONS: Final = frozenset({RecordType.LINE, RecordType.FUNCTION})


def register(server: Server) -> None:
    """Answer `textDocument/codeLens` and `codeLens/resolve`."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    async def lenses(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
        if not ls.settings.code_lens:
            return []
        uri = params.text_document.uri
        knowledge = await ls.knowledge.about(uri)
        claims = [] if knowledge is None else _knowledge_lenses(ls, knowledge)
        snapshot = ls.projects.snapshot(uri)
        audit_file = None if snapshot is not None else ls.projects.audit_file(uri)
        if snapshot is not None:
            own_lenses = _lenses(snapshot, ls.settings.lens_band)
        else:
            own_lenses = [*_log_lenses(ls, uri), *_attestation_lens(ls, uri)]
        if own_capability(ls.client_capabilities, "resolvedLenses") is True:
            places = None if audit_file is None else RecordPlaces(ls, audit_file[0])
            for lens in own_lenses[:_MAX_RESOLVED]:
                await _resolve(ls, lens, places)
        return [*own_lenses, *claims]

    @server.feature(types.CODE_LENS_RESOLVE)
    async def resolve(ls: Server, lens: types.CodeLens) -> types.CodeLens:
        await _resolve(ls, lens)
        return lens


async def _resolve(ls: Server, lens: types.CodeLens, places: RecordPlaces | None = None) -> None:
    members = lens.data if isinstance(lens.data, dict) else {}
    if lens.command is not None:
        return
    if isinstance(members.get("log"), str):
        line, identifier = lens.range.start.line, members.get("id")
        lens.command = await _log_command(ls, members["log"], line, identifier, places)
    else:
        lens.command = _command(ls, members.get("uri"), members.get("ids"))


def _log_lenses(ls: Server, uri: str) -> list[types.CodeLens]:
    """Return the lenses of a log, one at each annotation."""
    audit_file, document = ls.projects.audit_file(uri), ls.documents.get(uri)
    if audit_file is None or document is None or audit_file[1] != audit_file[0].directory.log.name:
        return []
    return [
        types.CodeLens(_start_of(record.line), data={"log": uri, "id": record.id})
        for record in outline_log(document)
        if record.type in _ANNOTATIONS
    ]


def _start_of(line: int) -> types.Range:
    start = types.Position(line, 0)
    return types.Range(start, start)


async def _log_command(
    ls: Server, uri: str, line: int, identifier: object, places: RecordPlaces | None
) -> types.Command:
    """Return where the lines of a record are now, with the command that goes there."""
    document = ls.documents.get(uri)
    audit_file = ls.projects.audit_file(uri)
    if audit_file is None or document is None:
        return types.Command("AI", "")
    if audit_file[0].is_indexing:
        return types.Command(INDEXING, "")
    identifier = identifier or record_id(document, line)
    trail = audit_file[0].snapshot.trail
    subject = found_by_id(trail, identifier) if isinstance(identifier, str) else None
    if subject is None:
        return types.Command("not in the trail as saved", "")
    node = GraphReader(trail).root(subject)
    placed = await (places or RecordPlaces(ls, audit_file[0])).edit(node)
    path = single_line(node.path or "?", _MAX_PATH)
    if placed is None:
        return types.Command(f"{path} cannot be read", "")
    snapshot, placement = placed
    located = placement.located
    if located.start is None:
        return types.Command(f"not found in {single_line(snapshot.path, _MAX_PATH)}", "")
    place = f"{single_line(snapshot.path, _MAX_PATH)}:{located.start}-{located.end}"
    state = f"{located.state}{', may be elsewhere' if located.ambiguous else ''}"
    is_older = subject.record is not None and subject.record.id != placement.current.id
    replaced = "replaced, " if placement.is_history else "superseded, " if is_older else ""
    command = CommandName.OPEN_LINES if shows_documents(ls) else ""
    arguments = [{"uri": snapshot.uri, "annotationId": placement.current.id}]
    return types.Command(f"{replaced}now at {place}, {state}", str(command), arguments=arguments)


def _attestation_lens(ls: Server, uri: str) -> list[types.CodeLens]:
    """Return the lens of an audit file: whose word it is, and what the attestation covers."""
    about = ls.attestation_about(uri)
    title = None if about is None else about[0].about(about[1], datetime.now(UTC))
    if title is None:
        return []
    command = types.Command(title, CommandName.VERIFY, arguments=[{"uri": uri, "show": True}])
    return [types.CodeLens(FIRST_LINE, command)]


def _knowledge_lenses(ls: Server, knowledge: DocumentKnowledge) -> list[types.CodeLens]:
    """Return a lens at each line where evidence begins: how many claims cite it, and what waits."""
    begun: dict[int, list[PlacedCitation]] = {}
    for placed in knowledge.placed:
        if placed.located.start is not None:
            begun.setdefault(placed.located.start, []).append(placed)
    is_shown_by_client = has_client_command(ls.client_capabilities, CLIENT_KB_SHOW)
    command = CLIENT_KB_SHOW if is_shown_by_client else CommandName.KB_SHOW
    lenses = []
    for line, here in list(begun.items())[:_MAX_LENSES]:
        claims = list(dict.fromkeys(claim for placed in here for claim in placed.citation.claims))
        pending = list(
            dict.fromkeys(proposal for placed in here for proposal in placed.citation.proposals)
        )
        arguments = {"uri": knowledge.uri, "claimIds": claims, "proposalIds": pending}
        title = lens_title(len(claims), len(pending))
        shown = types.Command(title, str(command), arguments=[arguments])
        lenses.append(types.CodeLens(_start_of(line - 1), shown))
    return lenses


def _has_lens(snapshot: DocumentSnapshot, placement: Placement, lowest: Band | None) -> bool:
    """Return whether an annotation needs attention; always without a lowest band."""
    if lowest is None or placement.is_pending:
        return True
    if is_reviewable(placement):
        review: Members = {"review": snapshot.report.review(placement)}
        if not is_reviewed(review) or is_rejected(review):
            return True
    band = None if placement.is_guess else snapshot.report.band(placement)
    return band is not None and Band(band).reaches(lowest)


def _lenses(snapshot: DocumentSnapshot, lowest: Band | None) -> list[types.CodeLens]:
    """Return a lens at the first line of annotations that need attention."""
    if snapshot.trail.is_indexing:
        return [types.CodeLens(FIRST_LINE, types.Command(INDEXING, ""))]
    by_line: dict[int, list[str]] = {}
    for placement in snapshot.placements:
        line = placement.located.start if placement.is_claim else None
        if line is not None and _has_lens(snapshot, placement, lowest):
            by_line.setdefault(line, []).append(placement.current.id)
    return [
        types.CodeLens(_start_of(line - 1), data={"uri": snapshot.uri, "ids": identifiers})
        for line, identifiers in sorted(by_line.items())[:_MAX_LENSES]
    ]


def _command(ls: Server, uri: object, identifiers: object) -> types.Command:
    """Return the text of a lens, with the command that shows its annotations, newest first."""
    snapshot = ls.projects.snapshot(uri) if isinstance(uri, str) else None
    if snapshot is not None and snapshot.trail.is_indexing:
        return types.Command(INDEXING, "")
    names = identifiers if isinstance(identifiers, list) else []
    wanted = {name for name in names if isinstance(name, str)}
    placements = () if snapshot is None else snapshot.placements
    begun = [placement for placement in placements if not wanted.isdisjoint(placement.lineage.ids)]
    if snapshot is None or not begun:  # the trail or the text has changed since
        return types.Command("AI", "")
    begun.sort(key=lambda placement: placement.lineage.rank, reverse=True)
    edits = [(placement, snapshot.report.placement(placement)) for placement in begun]
    ids = [placement.current.id for placement in begun]
    is_shown_by_client = has_client_command(ls.client_capabilities, CLIENT_SHOW_ANNOTATIONS)
    command = CLIENT_SHOW_ANNOTATIONS if is_shown_by_client else CommandName.SHOW_HISTORY
    arguments = [{"uri": snapshot.uri, "annotationIds": ids}]
    return types.Command(lens_text(edits, datetime.now(UTC)), str(command), arguments=arguments)
