"""Code lenses: one above each annotated range.

The text is computed on `codeLens/resolve`, or at once for clients that would flicker.
"""

from __future__ import annotations

from typing import Final

from lsprotocol import types

from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.extensions import own_capability
from vibes_lsp.lsp.projects import StillReading
from vibes_lsp.lsp.rendering import READING, label
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.snapshots import DocumentSnapshot

_MAX_LENSES: Final = 1000
_FIRST_LINE: Final = types.Range(types.Position(0, 0), types.Position(0, 0))


def register(server: Server) -> None:
    """Answer `textDocument/codeLens` and `codeLens/resolve`."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    def lenses(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
        if not ls.settings.code_lens:
            return []
        try:
            snapshot = ls.projects.snapshot(params.text_document.uri)
        except StillReading:
            return [types.CodeLens(_FIRST_LINE, types.Command(READING, ""))]
        if snapshot is None:
            return []
        placements = [
            each for each in snapshot.placements if each.located.start is not None and each.is_claim
        ][:_MAX_LENSES]
        is_resolved = own_capability(ls.client_capabilities, "resolvedLenses") is True
        return [_lens(snapshot, each, is_resolved=is_resolved) for each in placements]

    @server.feature(types.CODE_LENS_RESOLVE)
    def resolve(ls: Server, lens: types.CodeLens) -> types.CodeLens:
        data = lens.data if isinstance(lens.data, dict) else {}
        if lens.command is None:
            lens.command = types.Command(_title(ls, data.get("uri"), data.get("id")), "")
        return lens


def _lens(snapshot: DocumentSnapshot, placement: Placement, *, is_resolved: bool) -> types.CodeLens:
    start = types.Position((placement.located.start or 1) - 1, 0)
    place = types.Range(start, start)
    if is_resolved:
        return types.CodeLens(place, types.Command(_label(snapshot, placement), ""))
    return types.CodeLens(place, data={"uri": snapshot.uri, "id": placement.current.id})


def _title(ls: Server, uri: object, identifier: object) -> str:
    try:
        snapshot = ls.projects.snapshot(uri) if isinstance(uri, str) else None
    except StillReading:
        return READING
    placements = () if snapshot is None else snapshot.placements
    placement = next((each for each in placements if each.current.id == identifier), None)
    if snapshot is None or placement is None:  # the trail or the text has changed since
        return "AI"
    return _label(snapshot, placement)


def _label(snapshot: DocumentSnapshot, placement: Placement) -> str:
    return label(snapshot, placement, snapshot.report.placement(placement))
