"""Completion: ids and words of vocabularies in pages and files of a knowledge base.

A client that can limit a provider to some files asks for those only: in code, each key would cost
it a request that is always answered with nothing.
"""

from __future__ import annotations

from typing import Final

from lsprotocol import types

from vibes_lsp.lsp.knowledge_navigation import complete_ids
from vibes_lsp.lsp.server import Server

_TRIGGERS: Final = ["["]
_SELECTOR: Final = [
    types.TextDocumentFilterPattern(pattern="**/.vouch/**"),
    types.TextDocumentFilterPattern(pattern="**/*.{md,markdown}"),
]


def declare(ls: Server) -> None:
    """Answer the request for all files, with clients that cannot limit it to some."""
    if not _can_be_limited(ls):
        _register(ls)


async def offer(ls: Server) -> None:
    """Register completion in some files with a client that can limit it."""
    if not _can_be_limited(ls):
        return
    _register(ls)
    options = types.CompletionRegistrationOptions(
        document_selector=_SELECTOR, trigger_characters=_TRIGGERS
    )
    await ls.offer(types.TEXT_DOCUMENT_COMPLETION, options)


def _can_be_limited(ls: Server) -> bool:
    document = ls.client_capabilities.text_document
    found = document.completion if document is not None else None
    return found is not None and bool(found.dynamic_registration)


def _register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(_TRIGGERS))
    async def complete(ls: Server, params: types.CompletionParams) -> types.CompletionList | None:
        return await complete_ids(ls, params.text_document.uri, params.position)
