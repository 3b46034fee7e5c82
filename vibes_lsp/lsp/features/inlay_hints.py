"""Inlay hints: at the end of the first line that an edit owns, who wrote it.

They say what our own clients draw at the line's end, in short; see `Server.shows_inlay_hints`. A
client that is not to show them is not told of them: it would ask after each key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

from lsprotocol import types

from vibes_lsp.lsp.documents.description import Description
from vibes_lsp.lsp.documents.rendering import Markup, hint_text
from vibes_lsp.lsp.protocol.conversion import to_column
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot
from vibes_lsp.patience import INLAY_HINTS


def declare(ls: Server) -> None:
    """Answer the requests, if there are hints, or the client cannot be told of them later."""
    if ls.shows_inlay_hints or not ls.can_register("inlay_hint"):
        register(ls)


async def offer(ls: Server) -> None:
    """Tell the client of hints that its settings now ask for."""
    if types.TEXT_DOCUMENT_INLAY_HINT in ls.protocol.fm.features or not ls.shows_inlay_hints:
        return
    register(ls)
    options = types.InlayHintRegistrationOptions(resolve_provider=True)
    await ls.offer(types.TEXT_DOCUMENT_INLAY_HINT, options)


def register(server: Server) -> None:
    """Answer `textDocument/inlayHint` and `inlayHint/resolve`."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions(resolve_provider=True))
    async def hints(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint]:
        if not ls.shows_inlay_hints:
            return []
        snapshot = await _lasting_snapshot(ls, params.text_document.uri)
        if snapshot is None:
            return []
        lines = range(params.range.start.line, params.range.end.line + 1)
        visible_hints = _hints(ls, snapshot, lines)
        return sorted(visible_hints, key=lambda hint: hint.position.line)

    @server.feature(types.INLAY_HINT_RESOLVE)
    def resolve(ls: Server, hint: types.InlayHint) -> types.InlayHint:
        members = hint.data if isinstance(hint.data, dict) else {}
        uri, identifier = members.get("uri"), members.get("id")
        snapshot = ls.projects.snapshot(uri) if isinstance(uri, str) else None
        placement = None if snapshot is None else snapshot.placement_with(identifier)
        if snapshot is not None and placement is not None:
            markup = Markup(types.MarkupKind.Markdown)
            description = Description(snapshot, markup, datetime.now(UTC), ls.settings.show_prompts)
            value = description.summarise(placement, hint.position.line + 1)
            hint.tooltip = types.MarkupContent(markup.kind, value)
        return hint


async def _lasting_snapshot(ls: Server, uri: str) -> DocumentSnapshot | None:
    """Return a snapshot: of a client that cannot be told to ask again, one with git's history."""
    snapshot = ls.projects.snapshot(uri)
    if ls.declared("workspace", "inlay_hint", "refresh_support") or ls.documents.get(uri) is None:
        return snapshot  # the history of a file that is not open is not looked up
    with suppress(TimeoutError):
        async with asyncio.timeout(INLAY_HINTS.limit):
            while snapshot is not None and snapshot.is_provisional:
                await ls.projects.project(snapshot.trail.trail.directory).coverage.until_next()
                snapshot = ls.projects.snapshot(uri)
    return snapshot


def _hints(ls: Server, snapshot: DocumentSnapshot, lines: range) -> Iterator[types.InlayHint]:
    """Yield the hints of some lines, 0-based."""
    texts, encoding = snapshot.text.lines, ls.documents.encoding
    for placement in snapshot.placements:
        if not placement.owned_ranges or not placement.is_claim:
            continue
        line = placement.owned_ranges[0][0] - 1
        if line not in lines:
            continue
        text = texts[line] if line < len(texts) else ""
        yield types.InlayHint(
            types.Position(line, to_column(text, len(text), encoding)),
            hint_text(placement, snapshot.report.model(placement)),
            padding_left=True,
            data={"uri": snapshot.uri, "id": placement.current.id},
        )
