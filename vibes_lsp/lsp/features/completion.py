"""Completion: ids and words of a knowledge base in its files, members and values in `config.json`.

A client that can limit a provider to some files asks for those only: in code, each key would cost
it a request that is always answered with nothing.
"""

from __future__ import annotations

from typing import Final

from lsprotocol import types

from vibes_lsp.lsp.documents.config_file import complete_config
from vibes_lsp.lsp.documents.knowledge_navigation import complete_ids
from vibes_lsp.lsp.state.server import Server

METHOD: Final = types.TEXT_DOCUMENT_COMPLETION
REGISTRATIONS: Final = (
    types.CompletionRegistrationOptions(
        [
            types.TextDocumentFilterPattern(pattern="**/.vouch/**"),
            types.TextDocumentFilterPattern(pattern="**/*.{md,markdown}"),
        ],
        trigger_characters=["["],
    ),
    types.CompletionRegistrationOptions(
        [types.TextDocumentFilterPattern(pattern="**/.ai-audit/config.json")],
        trigger_characters=['"'],
    ),
)
"""Each has its own trigger characters: in a page, a quotation mark begins nothing."""


def register(server: Server) -> None:
    """Answer `textDocument/completion`."""

    @server.feature(METHOD, types.CompletionOptions(["[", '"']))
    async def complete(ls: Server, params: types.CompletionParams) -> types.CompletionList | None:
        uri, position = params.text_document.uri, params.position
        completions = complete_config(ls, uri, position)
        return await complete_ids(ls, uri, position) if completions is None else completions
