"""A stand-in for a language model on 127.0.0.1: a script says what it answers to each prompt.

The server keeps no state of a conversation. A request has the whole conversation, so the newest
message of the user that contains a prompt of the script chooses the turns, and the answers since
then are the number of the turn. Retries, resumed sessions and subagents need nothing else.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, groupby
from typing import Any, Final, Self, TypeAlias
from urllib.parse import urlsplit

from typing_extensions import override

from tests.agents.wire_formats import (
    CHAT,
    Answer,
    Json,
    Message,
    WireFormat,
    format_of,
    offers_tools,
)

Turn: TypeAlias = Answer | Callable[[str], Answer]
"""An answer, or a function that makes it from the newest result of a tool."""
Script: TypeAlias = Mapping[str, Sequence[Turn]]
"""The turns that follow each prompt."""

_TITLE: Final = Answer("A session")
_END: Final = Answer("Done.")


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request that the model got.

    Attributes:
        body: The request.
        prompt: The prompt of the script it belongs to; None for a title, a summary or a check.
        turn: Number of the turn since that prompt, from 0.
    """

    body: Json
    prompt: str | None
    turn: int


class ScriptedModel:
    """The server; a context manager.

    Attributes:
        script: What it answers.
        requests: What it was asked so far.
    """

    def __init__(self) -> None:
        self.script: Script = {}
        self.requests: list[ModelRequest] = []
        self._server = _Server(self)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, wire: WireFormat, body: Json) -> Answer:
        """Return the answer to a request."""
        prompt, turn, result = _position(list(wire.messages(body)), self.script)
        if not offers_tools(body):
            prompt = None
        self.requests.append(ModelRequest(body, prompt, turn))
        if prompt is None:
            return _TITLE
        turns = self.script[prompt]
        if turn >= len(turns):
            return _END
        chosen = turns[turn]
        return chosen if isinstance(chosen, Answer) else chosen(result)


def _position(messages: Sequence[Message], script: Script) -> tuple[str | None, int, str]:
    """Return the prompt that counts, the number of the turn, and the newest result of a tool."""
    prompt, start = None, 0
    for number, message in enumerate(messages):
        if message.role == "user":
            found = max((message.text.rfind(each), each) for each in script)
            if found[0] >= 0:
                prompt, start = found[1], number + 1
    later = messages[start:]
    roles = [role for role, _ in groupby(message.role for message in later)]
    results = [message.text for message in later if message.role == "tool"]
    return prompt, roles.count("model"), results[-1] if results else ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model
        self.numbers = count(1)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    @override
    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def do_HEAD(self) -> None:
        self._send(200, b"{}")

    def do_GET(self) -> None:
        is_list = urlsplit(self.path).path.rstrip("/").endswith("/models")
        self._send_json({"object": "list", "data": [], "models": []} if is_list else {}, is_list)

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        raw = self._read_body()
        if path.endswith(("/count_tokens", ":countTokens")):
            self._send_json({"input_tokens": 100, "totalTokens": 100}, found=True)
            return
        wire = format_of(path)
        if wire is None:
            self._send_json({}, found=False)
            return
        body = json.loads(raw)
        model = body.get("model") or path.rpartition("/")[2].partition(":")[0]
        answer = self.server.model.answer(wire, body)
        unique = f"{next(self.server.numbers):06d}"
        if body.get("stream") or "stream" in path:
            self._stream(wire, answer, model, unique)
        else:
            self._send_json(wire.whole(answer, model, unique), found=True)

    def _read_body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b""
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw

    def _send_json(self, value: Json, found: bool) -> None:
        self._send(200 if found else 404, json.dumps(value).encode())

    def _send(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, wire: WireFormat, answer: Answer, model: str, unique: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for number, (name, data) in enumerate(wire.events(answer, model, unique)):
            head = "" if name is None else f"event: {name}\n"
            numbered = data if name is None else {"sequence_number": number, **data}
            self.wfile.write(f"{head}data: {json.dumps(numbered)}\n\n".encode())
            self.wfile.flush()
        if wire is CHAT:
            self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True
