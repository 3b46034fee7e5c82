"""How messages are framed: what another client would write as well is read, what nobody can mean is refused, and neither takes memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.server.wire import Wire, still_answers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.trails import CompleteTrail


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    with Wire(tmp_path / "server.log") as wire:
        yield wire


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, trail: CompleteTrail) -> Iterator[Wire]:
    """One server that survives all of it."""
    with Wire(tmp_path_factory.mktemp("log") / "server.log") as wire:
        wire.initialize(trail.root)
        yield wire
        assert wire.request("shutdown", None)["result"] is None
        assert "Traceback" not in wire.logged()


PING = json.dumps(
    {"jsonrpc": "2.0", "id": "ping", "method": "shutdown/never", "params": {}}
).encode()


@pytest.mark.parametrize(
    "head",
    [
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH: %d\r\n\r\n",
        b"Content-Length:%d\r\n\r\n",
        b"Content-Length:   %d  \r\n\r\n",
        b"Content-Length: %d\n\n",
        b"content-type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: %d\r\n\r\n",
        b"Content-Length: %d\r\nX-Other: " + b"x" * 100_000 + b"\r\n\r\n",
        b"Content-Length: 000%d\r\n\r\n",
        b"\r\n\r\nContent-Length: %d\r\n\r\n",
    ],
    ids=lambda head: repr(head[:40]),
)
def test_headers_are_read_as_other_servers_read_them(shared: Wire, head: bytes) -> None:
    shared.write(head % len(PING) + PING)
    assert shared.answer("ping")["error"]["code"] == -32601


@pytest.mark.parametrize("length", [b"100000000000000", b"9" * 40, b"17179869185", b"9" * 5000])
def test_a_length_that_nobody_means_is_refused_at_once(
    wire: Wire, trail: CompleteTrail, length: bytes
) -> None:
    wire.initialize(trail.root)
    wire.write(b"Content-Length: " + length + b'\r\n\r\n{"jsonrpc":')
    answer = wire.answer(None)
    assert answer["error"] == {
        "code": -32600,
        "message": "a message of more than 17,179,869,184 bytes is not read",
    }
    wire.drain()
    assert wire.process.wait() == 1
    assert wire.logged().count("the session ends") == 1
    assert "Traceback" not in wire.logged()


def test_a_message_that_is_too_long_is_skipped(shared: Wire, trail: CompleteTrail) -> None:
    head = b'{"jsonrpc":"2.0","id":5,"method":"workspace/executeCommand","params":{"x":"'
    length = (128 << 20) + 1
    shared.write(b"Content-Length: %d\r\n\r\n" % length + head + b" " * (length - len(head)))
    assert shared.answer(None)["error"] == {
        "code": -32600,
        "message": "a message of more than 134,217,728 bytes is not read",
    }
    assert still_answers(shared, trail)


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: many\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: 1e3\r\n\r\n",
        b"Content-Length: \xd9\xa5\r\n\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"Content-Type: x\r\n\r\n",
        b"\xff\xfe\r\n\r\n",
        b"x" * 1_000_000 + b"\r\n\r\n",
    ],
    ids=lambda head: repr(head[:40]),
)
def test_headers_without_one_length_are_answered_and_skipped(
    shared: Wire, trail: CompleteTrail, head: bytes
) -> None:
    shared.write(head)
    assert shared.answer(None)["error"] == {
        "code": -32700,
        "message": "the headers do not give one Content-Length",
    }
    assert still_answers(shared, trail)


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (b"", -32700, "a message cannot be read: expecting value"),
        (b"{", -32700, "a message cannot be read: "),
        (b'{"jsonrpc":"2.0","method":"\xff"}', -32700, "a message cannot be read: not UTF-8"),
        (
            b'{"jsonrpc":"2.0","params":' + b"[" * 1200 + b"]" * 1200 + b"}",
            -32700,
            "a message cannot be read: nested deeper",
        ),
        (
            b'{"jsonrpc":"2.0","params":' + b"7" * 5000 + b"}",
            -32700,
            "a message cannot be read: number with more than",
        ),
        (b'{"jsonrpc":"2.0","params":NaN}', -32700, "a message cannot be read: NaN is not JSON"),
        (b"[]", -32600, "a message is one JSON object"),
        (b"7", -32600, "a message is one JSON object"),
        (b"{}", -32600, "member jsonrpc is not '2.0'"),
        (b'{"jsonrpc":2.0}', -32600, "member jsonrpc is not '2.0'"),
        (b'{"jsonrpc":[],"id":{}}', -32600, "member jsonrpc is not '2.0'"),
    ],
    ids=lambda part: repr(part)[:40],
)
def test_a_body_that_is_no_message_is_answered(
    shared: Wire, trail: CompleteTrail, body: bytes, code: int, message: str
) -> None:
    shared.write_body(body)
    error = shared.answer(None)["error"]
    assert error["code"] == code
    assert error["message"].startswith(message)
    assert still_answers(shared, trail)


def test_a_request_of_another_version_is_answered_under_its_number(shared: Wire) -> None:
    shared.write_body(b'{"jsonrpc":"1.0","id":"old","method":"shutdown"}')
    assert shared.answer("old")["error"]["code"] == -32600


def test_what_looks_like_a_message_within_one_is_a_value(shared: Wire) -> None:
    inner = {"jsonrpc": "2.0", "id": "inner", "method": "shutdown"}
    shared.send(
        id="outer",
        method="workspace/executeCommand",
        params={"command": "vibes.show", "arguments": [inner]},
    )
    error = shared.answer("outer")["error"]
    assert "'inner'" in error["message"]
