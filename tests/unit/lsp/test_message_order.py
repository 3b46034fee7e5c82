"""Messages that arrive together take effect in their order, whatever handles them."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.unit.lsp.test_memory import Sink, settled
from vibes_lsp.lsp import transport
from vibes_lsp.lsp.lifecycle import create_server

URI: Final = "untitled:x"


def message(method: str, params: dict[str, Any], **members: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **members}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def change(version: int, text: str) -> bytes:
    document = {"uri": URI, "version": version}
    return message(
        "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]}
    )


async def test_a_save_between_two_changes_saves_the_first() -> None:
    server = create_server()
    server.protocol.set_writer(Sink())
    item = {"uri": URI, "languageId": "plaintext", "version": 1, "text": "opened"}
    together = b"".join(
        [
            message("initialize", {"capabilities": {}}, id=1),
            message("initialized", {}),
            message("textDocument/didOpen", {"textDocument": item}),
            change(2, "first"),
            message("textDocument/didSave", {"textDocument": {"uri": URI}}),
            change(3, "second"),
        ]
    )
    parts = iter([together, b""])

    async def read() -> bytes:
        return next(parts)

    await transport._serve(server, read)
    document = server.documents.get(URI)
    assert document is not None
    assert (document.saved.content, document.content) == ("first", "second")
    await settled(server)
