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

_REGISTRATIONS: Final = {
    "knowledge": types.CompletionRegistrationOptions(
        document_selector=[
            types.TextDocumentFilterPattern(pattern="**/.vouch/**"),
            types.TextDocumentFilterPattern(pattern="**/*.{md,markdown}"),
        ],
        trigger_characters=["["],
    ),
    "config": types.CompletionRegistrationOptions(
        document_selector=[types.TextDocumentFilterPattern(pattern="**/.ai-audit/config.json")],
        trigger_characters=['"'],
    ),
}
"""Each has its own trigger characters: in a page, a quotation mark begins nothing."""
_TRIGGERS: Final = ["[", '"']


def declare(ls: Server) -> None:
    """Answer the request for all files, with clients that cannot limit it to some."""
    if not ls.can_register("completion"):
        _register(ls)


async def offer(ls: Server) -> None:
    """Register completion in some files with a client that can limit it."""
    if not ls.can_register("completion"):
        return
    _register(ls)
    for name, options in _REGISTRATIONS.items():
        method = types.TEXT_DOCUMENT_COMPLETION
        await ls.offer(method, options, f"{method}-{name}")


def _register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(_TRIGGERS))
    async def complete(ls: Server, params: types.CompletionParams) -> types.CompletionList | None:
        uri, position = params.text_document.uri, params.position
        completions = complete_config(ls, uri, position)
        return await complete_ids(ls, uri, position) if completions is None else completions
