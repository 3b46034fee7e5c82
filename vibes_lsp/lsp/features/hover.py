"""Hover: everything about the annotations of a line, the owner first, then its history."""

from __future__ import annotations

from lsprotocol import types

from vibes_lsp.lsp.description import READING, Description, Markup
from vibes_lsp.lsp.projects import StillReading
from vibes_lsp.lsp.server import Server

_MAX_SHOWN = 5


def register(server: Server) -> None:
    """Answer `textDocument/hover`."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        if not ls.settings.hover:
            return None
        try:
            snapshot = ls.projects.snapshot(params.text_document.uri)
        except StillReading:
            return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, READING))
        if snapshot is None:
            return None
        return _hover(
            Description(snapshot, Markup(_kind(ls)), ls.settings.show_prompts),
            params.position.line + 1,
        )


def _kind(ls: Server) -> types.MarkupKind:
    """Return how the client wants hovers; one that does not say gets what all of them can show."""
    document = ls.client_capabilities.text_document
    formats = (
        document.hover.content_format
        if document is not None and document.hover is not None
        else None
    )
    return (
        types.MarkupKind.Markdown
        if formats and types.MarkupKind.Markdown in formats
        else types.MarkupKind.PlainText
    )


def _hover(description: Description, line: int) -> types.Hover | None:
    snapshot = description.snapshot
    here = [
        each
        for each in snapshot.placements
        if each.located.start is not None and each.located.start <= line <= (each.located.end or 0)
    ]
    if not here:
        return None
    owners = [
        each for each in here if any(start <= line <= end for start, end in each.owned_ranges)
    ]
    rest = sorted(
        (each for each in here if each not in owners),
        key=lambda each: each.lineage.rank,
        reverse=True,
    )
    ordered = owners + rest
    parts = [description.of(each, owns=each in owners) for each in ordered[:_MAX_SHOWN]]
    if len(ordered) > _MAX_SHOWN:
        parts.append(f"… and {len(ordered) - _MAX_SHOWN} earlier")
    first = ordered[0].located
    shown_range = types.Range(
        types.Position((first.start or line) - 1, 0), types.Position(first.end or line, 0)
    )
    content = types.MarkupContent(description.markup.kind, description.markup.rule.join(parts))
    return types.Hover(content, shown_range)
