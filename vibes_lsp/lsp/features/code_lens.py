"""Code lenses: one above each line at which annotations begin that need attention.

That is where a review waits or rejects, or where a risk has at least the band of the settings. The
text is computed on `codeLens/resolve`, or at once for clients that would flicker.

In the log, one above each annotation: where its lines are now.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from lsprotocol import types

from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.audit_files import (
    audit_file,
    found_by_id,
    outline_log,
    owned_audit_file,
    record_id,
)
from vibes_lsp.lsp.encoded_answers import EncodedItems, EncodedResult, encode_items
from vibes_lsp.lsp.extensions import (
    CLIENT_KB_SHOW,
    CLIENT_SHOW_ANNOTATIONS,
    CommandName,
    has_client_command,
    own_capability,
)
from vibes_lsp.lsp.knowledge_texts import lens_title
from vibes_lsp.lsp.placed_evidence import DocumentKnowledge, PlacedCitation
from vibes_lsp.lsp.projects import StillReading
from vibes_lsp.lsp.record_places import RecordPlaces
from vibes_lsp.lsp.rendering import READING, lens_text
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.shown_documents import shows_documents
from vibes_lsp.lsp.snapshots import DocumentSnapshot
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.members import Members, mapping, text
from vibes_lsp.model.vocabulary import Band, RecordType
from vibes_lsp.reports.found_annotations import is_reviewable
from vibes_lsp.reports.placement_texts import first_line
from vibes_lsp.reports.placements import is_settled
from vibes_lsp.reports.provenance_graph import GraphReader

_MAX_LENSES: Final = 1000
_MAX_PATH: Final = 200
_MAX_RESOLVED: Final = 100
"""Lenses of a log that have text at once, for clients that would flicker."""
_ANNOTATIONS: Final = frozenset({RecordType.LINE, RecordType.FUNCTION})
_FIRST_LINE: Final = types.Range(types.Position(0, 0), types.Position(0, 0))


def register(server: Server) -> None:
    """Answer `textDocument/codeLens` and `codeLens/resolve`."""
    server.protocol.direct_answers[types.TEXT_DOCUMENT_CODE_LENS] = partial(_direct_lenses, server)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    async def lenses(
        ls: Server, params: types.CodeLensParams
    ) -> list[types.CodeLens] | EncodedResult:
        if not ls.settings.code_lens:
            return []
        knowledge = await ls.knowledge.about(params.text_document.uri)
        claims = [] if knowledge is None else _knowledge_lenses(ls, knowledge)
        try:
            snapshot = ls.projects.snapshot(params.text_document.uri)
        except StillReading:
            return [types.CodeLens(_FIRST_LINE, types.Command(READING, "")), *claims]
        if snapshot is None:
            others = [*_attestation_lens(ls, params.text_document.uri), *claims]
            found = await _log_lenses(ls, params.text_document.uri)
            return found.followed_by(map(_as_json, others))
        found = _lenses(ls, snapshot)
        return found.followed_by(map(_as_json, claims)) if claims else found.all

    @server.feature(types.CODE_LENS_RESOLVE)
    async def resolve(ls: Server, lens: types.CodeLens) -> types.CodeLens:
        data = lens.data if isinstance(lens.data, dict) else {}
        if lens.command is None and isinstance(data.get("log"), str):
            line, identifier = lens.range.start.line, data.get("id")
            lens.command = await _log_command(ls, data["log"], line, identifier)
        elif lens.command is None:
            lens.command = _resolved(ls, data.get("uri"), data.get("ids"))
        return lens


async def _log_lenses(ls: Server, uri: str) -> EncodedItems:
    """Return the lenses of a log, one at each annotation; the first with text where clients ask."""
    found, document = owned_audit_file(ls, uri), ls.documents.get(uri)
    if found is None or document is None or found[1] != found[0].directory.log.name:
        return encode_items([])
    places = RecordPlaces(ls, found[0])
    is_resolved = own_capability(ls.client_capabilities, "resolvedLenses") is True
    items: list[tuple[int, dict[str, Any]]] = []
    for record in outline_log(document):
        if record.type in _ANNOTATIONS:
            start = {"line": record.line, "character": 0}
            lens: dict[str, Any] = {"range": {"start": start, "end": start}}
            if is_resolved and len(items) < _MAX_RESOLVED:
                command = await _log_command(ls, uri, record.line, record.id, places)
                lens["command"] = _command_as_json(command)
            else:
                lens["data"] = {"log": uri, "id": record.id}
            items.append((record.line, lens))
    return encode_items(items)


async def _log_command(
    ls: Server, uri: str, line: int, identifier: object, places: RecordPlaces | None = None
) -> types.Command:
    """Return where the lines of a record are now, with the command that goes there."""
    document = ls.documents.get(uri)
    try:
        found = audit_file(ls, uri)
    except StillReading:
        return types.Command(READING, "")
    if found is None or document is None:
        return types.Command("AI", "")
    identifier = identifier or record_id(document, line)
    trail = found[0].snapshot.trail
    subject = found_by_id(trail, identifier) if isinstance(identifier, str) else None
    if subject is None:
        return types.Command("not in the trail as saved", "")
    node = GraphReader(trail).root(subject)
    placed = await (places or RecordPlaces(ls, found[0])).edit(node)
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


def _direct_lenses(ls: Server, params: Members) -> EncodedResult | None:
    """Answer about an open document without knowledge base."""
    uri = text(mapping(params, "textDocument"), "uri")
    if uri is None or not ls.settings.code_lens or not ls.can_answer_directly(uri):
        return None
    snapshot = ls.projects.snapshot(uri)
    return None if snapshot is None else _lenses(ls, snapshot).all


def _attestation_lens(ls: Server, uri: str) -> list[types.CodeLens]:
    """Return the lens of an audit file: whose word it is, and what the attestation covers."""
    about = ls.attestation_about(uri)
    title = None if about is None else about[0].about(about[1], datetime.now(UTC))
    if title is None:
        return []
    command = types.Command(title, CommandName.VERIFY, arguments=[{"uri": uri, "show": True}])
    return [types.CodeLens(_FIRST_LINE, command)]


def _knowledge_lenses(ls: Server, knowledge: DocumentKnowledge) -> list[types.CodeLens]:
    """Return a lens at each line where evidence begins: how many claims cite it, and what waits."""
    begun: dict[int, list[PlacedCitation]] = {}
    for placed in knowledge.placed:
        if placed.located.start is not None:
            begun.setdefault(placed.located.start, []).append(placed)
    is_shown_by_client = has_client_command(ls.client_capabilities, CLIENT_KB_SHOW)
    command = CLIENT_KB_SHOW if is_shown_by_client else CommandName.KB_SHOW
    found = []
    for line, here in list(begun.items())[:_MAX_LENSES]:
        claims = list(dict.fromkeys(one for each in here for one in each.citation.claims))
        pending = list(dict.fromkeys(one for each in here for one in each.citation.proposals))
        arguments = {"uri": knowledge.uri, "claimIds": claims, "proposalIds": pending}
        title = lens_title(len(claims), len(pending))
        start = types.Position(line - 1, 0)
        shown = types.Command(title, str(command), arguments=[arguments])
        found.append(types.CodeLens(types.Range(start, start), shown))
    return found


def _as_json(lens: types.CodeLens) -> dict[str, Any]:
    """Return a lens at the beginning of a line, with its text."""
    start = {"line": lens.range.start.line, "character": 0}
    command = None if lens.command is None else _command_as_json(lens.command)
    return {"range": {"start": start, "end": start}, "command": command}


def _command_as_json(command: types.Command) -> dict[str, Any]:
    return {"title": command.title, "command": command.command, "arguments": command.arguments}


def _by_line(
    snapshot: DocumentSnapshot, lowest: Band | None
) -> list[tuple[int, Sequence[Placement]]]:
    """Return the annotations that have a lens, by the first line that is theirs, newest first."""
    found: dict[int, list[Placement]] = {}
    for placement in snapshot.placements:
        line = first_line(placement) if placement.is_claim else None
        if line is not None and _has_lens(snapshot, placement, lowest):
            found.setdefault(line, []).append(placement)
    return [
        (line, sorted(begun, key=lambda each: each.lineage.rank, reverse=True))
        for line, begun in sorted(found.items())
    ]


def _has_lens(snapshot: DocumentSnapshot, placement: Placement, lowest: Band | None) -> bool:
    """Return whether an annotation needs attention; always without a lowest band."""
    if lowest is None or placement.is_pending:
        return True
    review = snapshot.report.review(placement) if is_reviewable(placement) else None
    if is_reviewable(placement) and not is_settled(review):
        return True
    band = None if placement.is_guess else snapshot.report.band(placement)
    bands = list(Band)
    return band is not None and bands.index(Band(band)) >= bands.index(lowest)


def _minute() -> int:
    """Return the minute: ages in a text stay as they are until the next one."""
    return int(datetime.now(UTC).timestamp()) // 60


def _lenses(ls: Server, snapshot: DocumentSnapshot) -> EncodedItems:
    is_resolved = own_capability(ls.client_capabilities, "resolvedLenses") is True

    def build() -> EncodedItems:
        by_line = _by_line(snapshot, ls.settings.lens_band)[:_MAX_LENSES]
        return encode_items(
            [
                (line - 1, _lens(ls, snapshot, line - 1, begun, is_resolved=is_resolved))
                for line, begun in by_line
            ]
        )

    variant = ls.settings.lens_band, _minute() if is_resolved else None
    return ls.encoded.get("lenses", snapshot, variant, build)


def _lens(
    ls: Server,
    snapshot: DocumentSnapshot,
    line: int,
    begun: Sequence[Placement],
    *,
    is_resolved: bool,
) -> dict[str, Any]:
    start = {"line": line, "character": 0}
    lens: dict[str, Any] = {"range": {"start": start, "end": start}}
    if is_resolved:
        lens["command"] = _command_as_json(_command(ls, snapshot, begun))
    else:
        lens["data"] = {"uri": snapshot.uri, "ids": [each.current.id for each in begun]}
    return lens


def _resolved(ls: Server, uri: object, identifiers: object) -> types.Command:
    try:
        snapshot = ls.projects.snapshot(uri) if isinstance(uri, str) else None
    except StillReading:
        return types.Command(READING, "")
    names = identifiers if isinstance(identifiers, list) else []
    wanted = {each for each in names if isinstance(each, str)}
    placements = () if snapshot is None else snapshot.placements
    begun = [each for each in placements if not wanted.isdisjoint(each.lineage.ids)]
    if snapshot is None or not begun:  # the trail or the text has changed since
        return types.Command("AI", "")
    return _command(ls, snapshot, begun)


def _command(ls: Server, snapshot: DocumentSnapshot, begun: Sequence[Placement]) -> types.Command:
    """Return the text of a lens, with the command that shows its annotations."""
    edits = [(each, snapshot.report.placement(each)) for each in begun]
    arguments: dict[str, Any] = {
        "uri": snapshot.uri,
        "annotationIds": [each.current.id for each in begun],
    }
    is_shown_by_client = has_client_command(ls.client_capabilities, CLIENT_SHOW_ANNOTATIONS)
    command = CLIENT_SHOW_ANNOTATIONS if is_shown_by_client else CommandName.SHOW_HISTORY
    return types.Command(lens_text(edits, datetime.now(UTC)), str(command), arguments=[arguments])
