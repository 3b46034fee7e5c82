"""Completion: ids and words of vocabularies in pages and files of a knowledge base."""

from __future__ import annotations

from lsprotocol import types

from vibes_lsp.lsp.knowledge_navigation import complete_ids
from vibes_lsp.lsp.server import Server


def register(server: Server) -> None:
    """Answer `textDocument/completion`."""

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(["["]))
    async def complete(ls: Server, params: types.CompletionParams) -> types.CompletionList | None:
        return await complete_ids(ls, params.text_document.uri, params.position)
