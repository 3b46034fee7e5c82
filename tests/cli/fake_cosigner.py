"""A provider's signing endpoint as the guide describes it, and one that answers anything."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final, TypeAlias

from typing_extensions import override

from vibes_lsp.attestation.cosigning import COSIGN_PATH, KEY_DOCUMENT_PATH
from vibes_lsp.attestation.keys import PrivateKey, generate_private_key
from vibes_lsp.attestation.signing_time import time_message

SIGNED_AT: Final = "2026-11-22T12:00:00.000Z"
Answer: TypeAlias = tuple[int, dict[str, Any]]


@dataclass(frozen=True)
class FakeCosigner:
    """A running endpoint.

    Attributes:
        url: Its address, without a path.
        key_id: The key that it signs with.
        token: The token that it accepts.
    """

    url: str
    key_id: str
    token: str

    @property
    def cosign_url(self) -> str:
        """Where it signs."""
        return self.url + COSIGN_PATH

    @property
    def document_url(self) -> str:
        """Where it publishes its keys."""
        return self.url + KEY_DOCUMENT_PATH


@contextmanager
def fake_cosigner(token: str = "a-token") -> Iterator[FakeCosigner]:
    """Run an endpoint that signs each digest with one key."""
    key = generate_private_key()

    def answer(path: str, bearer: str, body: bytes) -> Answer:
        if path == KEY_DOCUMENT_PATH and not body:
            return 200, _document(key)
        if path != COSIGN_PATH:
            return 404, {}
        if bearer != f"Bearer {token}":
            return 401, {}
        return 200, _cosignature(key, base64.b64decode(json.loads(body)["pae_hash"]))

    with _serving(answer) as url:
        yield FakeCosigner(url, key.key_id, token)


@contextmanager
def answering(members: dict[str, Any]) -> Iterator[str]:
    """Run an endpoint that gives one answer; yield its URL."""
    with _serving(lambda _path, _bearer, _body: (200, members)) as url:
        yield f"{url}/"


def _document(key: PrivateKey) -> dict[str, Any]:
    published = {
        "keyid": key.key_id,
        "algorithm": "Ed25519",
        "public_key_pem": key.public.pem,
        "valid_from": "2026-01-01T00:00:00Z",
        "status": "active",
    }
    return {"provider": "Example", "tool_name": "example-agent", "keys": [published]}


def _cosignature(key: PrivateKey, digest: bytes) -> dict[str, Any]:
    signatures = {"sig": key.sign(digest), "time_sig": key.sign(time_message(digest, SIGNED_AT))}
    encoded = {name: base64.b64encode(value).decode() for name, value in signatures.items()}
    return {"keyid": key.key_id, "provider_name": "Example", "signed_at": SIGNED_AT, **encoded}


@contextmanager
def _serving(answer: Callable[[str, str, bytes], Answer]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["Content-Length"])))

        def _answer(self, body: bytes) -> None:
            status, members = answer(self.path, self.headers.get("Authorization", ""), body)
            content = json.dumps(members).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        @override
        def log_message(self, format: str, *args: object) -> None:
            """Write nothing."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.server_port}"
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
