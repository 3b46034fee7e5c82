"""The server releases what it has handled."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from vibes_lsp.errors import VibesError
from vibes_lsp.lsp.lifecycle import create_server
from vibes_lsp.lsp.state.server import Server


class Sink:
    """Takes what the server writes."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.more = asyncio.Event()

    def write(self, data: bytes) -> None:
        self.messages.append(data)
        self.more.set()

    def close(self) -> None:
        """There is nothing to close."""


def tell(server: Server, method: str, params: object, **members: Any) -> None:
    kind = server.protocol.get_message_type(method)
    assert kind is not None
    server.protocol.handle_message(kind(params=params, **members))


async def drained() -> None:
    """Wait until every task of a server has ended; only errors for the client are allowed."""
    while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [
            each
            for each in ended
            if isinstance(each, BaseException)
            and not isinstance(each, JsonRpcException | VibesError)
        ] == []


async def settled(server: Server) -> None:
    """Wait as `drained` does, and end the server."""
    await drained()
    server.shutdown()  # type: ignore[no-untyped-call]  # of pygls


def close_indexes(server: Server) -> None:
    """Close the files of a server that has ended; a timer may refer to it for a while."""
    for project in server.projects.all():
        project.close()


def started() -> tuple[Server, Sink]:
    server, sink = create_server(), Sink()
    server.protocol.set_writer(sink)
    params = types.InitializeParams(capabilities=types.ClientCapabilities())
    tell(server, types.INITIALIZE, params, id=1)
    tell(server, types.INITIALIZED, types.InitializedParams())
    return server, sink


async def test_two_hundred_changes_leave_nothing_behind() -> None:
    server, sink = started()
    item = types.TextDocumentItem("untitled:x", "plaintext", 0, "")
    tell(server, types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))
    for version in range(1, 201):
        document = types.VersionedTextDocumentIdentifier(version, "untitled:x")
        change = types.TextDocumentContentChangePartial(
            types.Range(types.Position(0, 0), types.Position(0, 0)), "a"
        )
        tell(
            server,
            types.TEXT_DOCUMENT_DID_CHANGE,
            types.DidChangeTextDocumentParams(document, [change]),
        )
    await settled(server)
    assert sink.messages
    assert server.protocol._request_futures == {}
    assert server.protocol._result_types == {}
    document_now = server.documents.get("untitled:x")
    assert document_now is not None
    assert (document_now.version, document_now.content) == (200, "a" * 200)


async def test_requests_and_their_failures_leave_nothing_behind() -> None:
    server, sink = started()
    for number in range(2, 52):
        place = types.HoverParams(types.TextDocumentIdentifier("untitled:x"), types.Position(0, 0))
        tell(server, types.TEXT_DOCUMENT_HOVER, place, id=number)
        tell(
            server,
            types.WORKSPACE_EXECUTE_COMMAND,
            types.ExecuteCommandParams("vibes.show", arguments=[{"id": "ffff"}]),
            id=f"x{number}",
        )
    await settled(server)
    assert len(sink.messages) == 101
    assert server.protocol._request_futures == {}


async def test_closed_documents_leave_nothing_behind() -> None:
    server, _ = started()
    for number in range(50):
        item = types.TextDocumentItem(f"untitled:{number}", "plaintext", 0, "text")
        tell(server, types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))
        tell(
            server,
            types.TEXT_DOCUMENT_DID_CLOSE,
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(item.uri)),
        )
    await settled(server)
    assert server.documents.uris() == []
    assert server.protocol._request_futures == {}


async def test_shutdown_ends_what_still_runs() -> None:
    server, sink = started()

    @server.command("tests.wait")
    async def wait(_ls: Server, _arguments: Any) -> None:
        await asyncio.Event().wait()

    for number in (2, 3):
        params = types.ExecuteCommandParams("tests.wait", arguments=[{}])
        tell(server, types.WORKSPACE_EXECUTE_COMMAND, params, id=number)
    tell(server, types.SHUTDOWN, None, id=4)
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
    server.shutdown()  # type: ignore[no-untyped-call]  # of pygls
    answers = [json.loads(message.partition(b"\r\n\r\n")[2]) for message in sink.messages]
    by_id = {answer["id"]: answer for answer in answers if "method" not in answer}
    assert by_id[4]["result"] is None
    assert [by_id[number]["error"]["code"] for number in (2, 3)] == [-32800, -32800]
    assert server.protocol._request_futures == {}
