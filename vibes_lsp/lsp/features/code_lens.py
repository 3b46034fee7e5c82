"""Code lenses: one line above each annotated range; what it says is worked out when it is to be seen, or at once for clients that flicker."""

from __future__ import annotations

from lsprotocol import types

from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.description import READING, label
from vibes_lsp.lsp.messages import own_capability
from vibes_lsp.lsp.projects import StillReading
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.snapshots import DocumentSnapshot

_MAX_LENSES = 1000
_AT_THE_TOP = types.Range(types.Position(0, 0), types.Position(0, 0))


def register(server: Server) -> None:
    """Answer `textDocument/codeLens` and `codeLens/resolve`."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    def lenses(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
        try:
            snapshot = (
                ls.projects.snapshot(params.text_document.uri) if ls.settings.code_lens else None
            )
        except StillReading:
            return [types.CodeLens(_AT_THE_TOP, types.Command(READING, ""))]
        if snapshot is None:
            return []
        is_told_at_once = own_capability(ls.client_capabilities, "resolvedLenses") is True
        found: list[types.CodeLens] = []
        for placement in snapshot.placements:
            start = placement.located.start
            if start is None or not placement.is_claim:
                continue
            if len(found) == _MAX_LENSES:
                break
            place = types.Range(types.Position(start - 1, 0), types.Position(start - 1, 0))
            if is_told_at_once:
                found.append(types.CodeLens(place, types.Command(_label(snapshot, placement), "")))
            else:
                found.append(
                    types.CodeLens(place, data={"uri": snapshot.uri, "id": placement.current.id})
                )
        return found

    @server.feature(types.CODE_LENS_RESOLVE)
    def resolve(ls: Server, lens: types.CodeLens) -> types.CodeLens:
        data = lens.data if isinstance(lens.data, dict) else {}
        if lens.command is None:
            lens.command = types.Command(_title(ls, data.get("uri"), data.get("id")), "")
        return lens


def _title(ls: Server, uri: object, identifier: object) -> str:
    try:
        snapshot = ls.projects.snapshot(uri) if isinstance(uri, str) else None
    except StillReading:
        return READING
    placement = (
        next((each for each in snapshot.placements if each.current.id == identifier), None)
        if snapshot
        else None
    )
    if snapshot is None or placement is None:
        return "AI"
    return _label(snapshot, placement)


def _label(snapshot: DocumentSnapshot, placement: Placement) -> str:
    return label(snapshot, placement, snapshot.report.placement(placement))
