"""A server process at the level of bytes: every byte that it writes must be protocol."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, Any, Final, Self

from tests import forked

if TYPE_CHECKING:
    from pathlib import Path

    from tests.trails import CompleteTrail

_LENGTH: Final = re.compile(rb"Content-Length: (\d+)\r\n")
_TYPE: Final = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"


class Wire:
    """Speaks with a server of its own; what the server logs goes to a file.

    Args:
        log: Where to put what the server logs.
        arguments: What else to start the server with.
    """

    def __init__(self, log: Path, *, command: list[str] | None = None) -> None:
        self.log = log
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                command or [str(forked.program("vibes-lsp"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._number = 0
        self.notifications: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def initialize(
        self, folder: Path | None = None, capabilities: dict[str, Any] | None = None, **members: Any
    ) -> dict[str, Any]:
        """Begin a session and return what the server can do."""
        uri = folder.as_uri() if folder is not None else None
        given = {"processId": None, "rootUri": uri, "capabilities": capabilities or {}, **members}
        result: dict[str, Any] = self.request("initialize", given)["result"]["capabilities"]
        self.notify("initialized", {})
        return result

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def write_body(self, body: bytes) -> None:
        """Send anything as the body of a message."""
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send(self, **members: Any) -> None:
        """Send a message."""
        self.write_body(json.dumps({"jsonrpc": "2.0", **members}).encode())

    def send_together(self, *messages: dict[str, Any]) -> None:
        """Send messages in one write: the server reads the last before it has handled the first."""
        bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
        self.write(b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies))

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self.send(method=method, params=params)

    def ask(self, method: str, params: object) -> int:
        """Send a request without waiting for the answer; return its number."""
        self._number += 1
        self.send(id=self._number, method=method, params=params)
        return self._number

    def request(self, method: str, params: object) -> dict[str, Any]:
        """Send a request and return the answer, be it a result or an error."""
        return self.answer(self.ask(method, params))

    def answer(self, number: object) -> dict[str, Any]:
        """Return the answer to a request; what else comes before it is kept."""
        while True:
            message = self.receive()
            if "method" not in message and message.get("id") == number:
                return message
            self.notifications.append(message)

    def receive_answer(self) -> dict[str, Any]:
        """Return the next answer, to whichever request."""
        while "method" in (message := self.receive()):
            self.notifications.append(message)
        return message

    def receive(self) -> dict[str, Any]:
        """Return the next message, whose framing must be right to the byte."""
        assert self.process.stdout is not None
        head = self.process.stdout.readline()
        length = _LENGTH.fullmatch(head)
        assert length is not None, f"no header: {head[:200]!r}"
        assert self.process.stdout.readline() == _TYPE
        assert self.process.stdout.readline() == b"\r\n"
        message: dict[str, Any] = json.loads(
            self.process.stdout.read(int(length[1])), parse_constant=_not_json
        )
        assert message["jsonrpc"] == "2.0"
        return message

    def end(self) -> int:
        """Close the server's input; return how it ended. It must have written nothing but whole messages until then."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.drain()
        return self.process.wait()

    def drain(self) -> None:
        """Read whatever the server still writes until it ends."""
        assert self.process.stdout is not None
        while self.process.stdout.peek(1):  # type: ignore[attr-defined]  # a buffered reader, which the stubs do not know
            self.notifications.append(self.receive())

    def logged(self) -> str:
        """Return what the server has logged so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")


def _not_json(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def hover_at(uri: str, line: int) -> dict[str, Any]:
    """Return the parameters of a hover over a 1-based line."""
    return {"textDocument": {"uri": uri}, "position": {"line": line - 1, "character": 0}}


def still_answers(wire: Wire, trail: CompleteTrail) -> bool:
    """Whether a server answers as it should about the trail of these tests."""
    uri = (trail.root / "src/auth.py").as_uri()
    return (
        "Maestro"
        in wire.request("textDocument/hover", hover_at(uri, 3))["result"]["contents"]["value"]
    )
