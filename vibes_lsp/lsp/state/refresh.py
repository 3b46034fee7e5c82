"""Tell the client that answers are outdated, and publish diagnostics unless it pulls them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types

from vibes_lsp.lsp.protocol.conversion import path_of
from vibes_lsp.lsp.protocol.extensions import KNOWLEDGE_CHANGED, PROVENANCE_CHANGED
from vibes_lsp.lsp.state.server import Server


async def refresh_knowledge(ls: Server, project: str) -> None:
    """Tell the client that the answers about a knowledge base are outdated.

    Args:
        ls: The server.
        project: The folder of its project.
    """
    ls.protocol.notify(KNOWLEDGE_CHANGED, {"uri": Path(project).as_uri()})
    opened = [
        uri
        for uri in ls.documents.uris()
        if (path := path_of(uri)) is not None and path.is_relative_to(project)
    ]
    await _refresh_answers(ls, opened)


async def refresh_documents(ls: Server, uris: Sequence[str]) -> None:
    """Tell the client in every way it supports that answers about documents are outdated."""
    if not uris:
        return
    for uri in uris:
        ls.protocol.notify(PROVENANCE_CHANGED, {"uri": uri})
    await _refresh_answers(ls, uris)


async def _refresh_answers(ls: Server, uris: Sequence[str]) -> None:
    """Publish diagnostics, and have the client ask again for what it can be told to."""
    for uri in uris:
        await push_diagnostics(ls, uri)
        await asyncio.sleep(0)  # requests are answered in between
    if ls.declared("workspace", "code_lens", "refresh_support"):
        ls.workspace_code_lens_refresh(None)
    if ls.shows_inlay_hints and ls.declared("workspace", "inlay_hint", "refresh_support"):
        ls.workspace_inlay_hint_refresh(None)
    if pulls_diagnostics(ls):
        ls.workspace_diagnostic_refresh(None)


def pulls_diagnostics(ls: Server) -> bool:
    """Whether the client pulls diagnostics: it can, and can be told to pull again."""
    can_refresh = bool(ls.declared("workspace", "diagnostics", "refresh_support"))
    return can_refresh and ls.declared("text_document", "diagnostic") is not None


def clear_diagnostics(ls: Server, uri: str) -> None:
    """Remove the published diagnostics of a document that was closed."""
    if not pulls_diagnostics(ls):
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


async def push_diagnostics(ls: Server, uri: str) -> None:
    """Publish the diagnostics of an open document to a client that does not pull.

    If another call began later, nothing is published: this one may be about an older text, other
    settings or another trail. While the user types nothing is published; the next pause does it.
    """
    if pulls_diagnostics(ls):
        return
    document = ls.documents.get(uri)
    if document is None or document.is_typing:
        return
    is_last = ls.begin_diagnostics(uri)
    diagnostics = await ls.diagnostics_of(uri, is_last)
    if is_last():
        ls.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, diagnostics, document.version)
        )
