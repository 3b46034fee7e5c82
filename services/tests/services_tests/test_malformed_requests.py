"""A thousand malformed requests: each is refused or cut off, none fails the server."""

from __future__ import annotations

import json
import random
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from services_tests.attestations import attestation
from services_tests.running_server import RunningServer, serving
from vibes_lsp.attestation.cosigning import COSIGN_PATH, request_cosignature
from vibes_services.registry_client import FIND_PATH, SUBMIT_PATH, find, submit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services_tests.conftest import ProviderFolder

COUNT: Final = 1000
SEED: Final = 20261122


def test_a_thousand_malformed_requests_leave_the_server_as_it_was(
    provider: ProviderFolder, database_url: str
) -> None:
    requests = list(malformed_requests(provider, random.Random(SEED)))
    assert len(requests) == COUNT
    with serving(
        "cosign-server",
        "serve",
        provider.path,
        "--registry",
        database_url,
        "--rate",
        "1000000",
    ) as server:
        before = len(find(server.url, limit=1000))
        with ThreadPoolExecutor(8) as threads:
            statuses = list(threads.map(lambda request: _status(server, request), requests))
        wrong = [
            (status, request[:200])
            for status, request in zip(statuses, requests, strict=True)
            if status is not None and not 400 <= status < 500
        ]
        assert not wrong
        assert sum(status is not None for status in statuses) > COUNT * 0.9
        # It still works, stored nothing, and logged no failure.
        assert len(find(server.url, limit=1000)) == before
        request_cosignature(server.url + COSIGN_PATH, attestation(), provider.cosign_token)
        submit(server.url, attestation(f"after-{SEED}"), provider.register_token)
        log = "".join(server.log)
        assert "internal error" not in log
        assert "Traceback" not in log


def malformed_requests(  # noqa: C901  # one branch for each kind
    provider: ProviderFolder, chance: random.Random
) -> Iterator[bytes]:
    """Yield requests that no well-behaved client sends, most of them with a valid token."""
    valid = json.dumps({"envelope": attestation().as_json()}).encode()
    digest = json.dumps({"pae_hash": "A" * 43 + "="}).encode()
    for number in range(COUNT):
        cosign = number % 2 == 0
        path = COSIGN_PATH if cosign else SUBMIT_PATH
        token = provider.cosign_token if cosign else provider.register_token
        body = digest if cosign else valid
        match number % 20:
            case 0 | 1:  # bytes that are no HTTP
                yield (
                    bytes(chance.randrange(256) for _ in range(chance.randrange(1, 400)))
                    + b"\r\n" * 2
                )
            case 2 | 3:  # one byte of the JSON's structure changed
                changed = bytearray(body)
                changed[chance.randrange(3)] ^= 1 << chance.randrange(7)
                yield _request(path, token, bytes(changed[:-1]))
            case 4 | 5:  # the body ends early
                yield _request(path, token, body[: chance.randrange(len(body))])
            case 6 | 7:  # far too large, by its own word
                yield _request(path, token, b"", length=str(10 ** chance.randrange(8, 30)))
            case 8 | 9:  # JSON that is no object of ours
                yield _request(path, token, chance.choice(_NO_OBJECTS))
            case 10 | 11:  # no type, or another one
                kind = chance.choice(["", "text/plain", "application/xml", "application/jsonx"])
                yield _request(path, token, body, kind=kind)
            case 12:  # a parameter that is none
                yield _get(f"{FIND_PATH}?{chance.choice(_BAD_QUERIES)}")
            case 13:  # an id that is none
                yield _get(f"{FIND_PATH}/{'%' * chance.randrange(1, 5)}{chance.randrange(99)}")
            case 14 | 15:  # no token, or another one
                yield _request(path, "".join(chance.choices("abc._-", k=43)), body)
            case 16 | 17:  # a header that is too long, or broken
                filler = chance.choice([b"X: " + b"a" * 400_000, b"X\x00: y", b"X y"])
                yield _request(path, token, body).replace(b"Host: x", b"Host: x\r\n" + filler)
            case _:  # a chunked body that is none
                yield _request(path, token, b"zz\r\n{}\r\n0\r\n\r\n", length=None)


_NO_OBJECTS: Final = (
    b"[]",
    b"null",
    b"1",
    b'"text"',
    b"[" * 5000,
    b'{"a":' * 3000,
    b'{"pae_hash":1,"pae_hash":2}',
    b'{"pae_hash":NaN}',
    b'{"pae_hash":"\xff\xfe"}',
    b'{"pae_hash":"\\ud800"}',
    b'{"envelope":{"payloadType":"\\ud800","payload":"e30=","signatures":[{"sig":""}]}}',
    b'{"envelope":{"payload":1e999}}',
    b'{"envelope":[]}',
    b'{"envelope":{},"public_keys":[{}]}',
    b"\xef\xbb\xbf",
    b"",
)
_BAD_QUERIES: Final = (
    "limit=0",
    "limit=-1",
    "limit=1e9",
    "limit=101",
    "before=x",
    "before=99999999999999999999",
    "unknown=1",
    "project=",
    "project=a&project=b",
    "project=%00",
    "keyid=%ff",
    "keyid=" + "a" * 300,
    "limit=%E0%A4%A",
)


def _request(
    path: str,
    token: str,
    body: bytes,
    *,
    kind: str = "application/json",
    length: str | None = "",
) -> bytes:
    framing = (
        "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length or len(body)}"
    )
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: {kind}\r\n{framing}\r\n\r\n"
    )
    return head.encode() + body


def _get(target: str) -> bytes:
    return f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()


def _status(server: RunningServer, request: bytes) -> int | None:
    """Send a request; return the status of the answer, None if the connection was cut off."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=300) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)  # a body that is missing will not come
            answer = connection.recv(65_536)
        except (ConnectionError, OSError):
            return None
    return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else None
