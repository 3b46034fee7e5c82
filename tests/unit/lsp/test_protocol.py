"""What pygls would send wrongly, or not at all, if its protocol were used as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.lsp.test_memory import Sink, drained, settled, started
from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.lsp.state.server import Server


def sent(sink: Sink) -> list[dict[str, Any]]:
    return [json.loads(message.partition(b"\r\n\r\n")[2]) for message in sink.messages]


async def idle() -> tuple[Server, Sink]:
    """Return a server that has begun, and nothing that it has sent."""
    server, sink = started()
    await drained()
    sink.messages.clear()
    return server, sink


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), {1}], ids=str)
async def test_an_answer_that_is_not_json_is_an_error(value: object) -> None:
    server, sink = await idle()

    @server.command("tests.answer")
    def answer(_ls: Server, _arguments: Any) -> list[object]:
        return [value]

    params = {"command": "tests.answer", "arguments": [{}]}
    message = {"jsonrpc": "2.0", "id": 2, "method": "workspace/executeCommand", "params": params}
    server.protocol.handle_message(server.protocol.structure_message(message))
    (answered,) = sent(sink)
    assert (answered["id"], answered["error"]["code"]) == (2, -32603)
    assert answered["error"]["data"] == {"code": "internal-error"}
    await settled(server)


@pytest.mark.parametrize("failures", [1, 2])
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_request_begins_again_once_if_the_index_is_outdated(
    failures: int,
    is_async: bool,
) -> None:
    server, sink = await idle()
    attempts: list[object] = []

    def answer(_ls: Server, arguments: Any) -> int:
        attempts.append(arguments)
        if len(attempts) <= failures:
            raise OutdatedIndex("damaged", hint="ask again")
        return len(attempts)

    async def answer_later(ls: Server, arguments: Any) -> int:
        return answer(ls, arguments)

    server.command("tests.answer")(answer_later if is_async else answer)
    params = {"command": "tests.answer", "arguments": [{}]}
    message = {"jsonrpc": "2.0", "id": 2, "method": "workspace/executeCommand", "params": params}
    server.protocol.handle_message(server.protocol.structure_message(message))
    await drained()
    (answered,) = sent(sink)
    assert len(attempts) == 2
    if failures == 1:
        assert answered["result"] == 2
    else:
        assert answered["error"] == {
            "code": -32001,
            "message": "damaged; ask again",
            "data": {"code": "outdated-index"},
        }
    await settled(server)


async def test_what_is_not_json_and_no_answer_is_not_sent() -> None:
    server, sink = await idle()
    server.protocol.notify("tests/notification", [float("nan")])
    server.protocol.send_request("tests/request", [float("nan")])
    assert sent(sink) == [], "an error is an answer, and the client has asked nothing"
    await settled(server)
