"""Nothing but a valid token of the right scope has a digest signed or an attestation stored."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest

from services_tests.attestations import attestation
from services_tests.running_server import VIBES, RunningServer, http_request, run, serving
from vibes_lsp.attestation.cosigning import COSIGN_PATH
from vibes_services.registry_client import FIND_PATH, SUBMIT_PATH
from vibes_services.server.tokens import TokenHolder, find_holder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services_tests.conftest import ProviderFolder

BODY = {"pae_hash": base64.b64encode(bytes(32)).decode()}


@pytest.fixture
def server(
    provider: ProviderFolder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server with both parts."""
    database = tmp_path_factory.mktemp("database") / "registry.db"
    with serving(
        "cosign-server",
        "serve",
        provider.path,
        "--registry",
        f"sqlite:///{database}",
        "--rate",
        "100000",
    ) as running:
        yield running


def test_no_header_but_that_with_the_token_is_accepted(
    server: RunningServer, provider: ProviderFolder
) -> None:
    token = provider.cosign_token
    stored = json.loads((provider.path / "tokens.json").read_bytes())["tokens"]["alice"]["sha256"]
    headers: list[list[tuple[str, str]]] = [
        [],
        [("Authorization", "")],
        [("Authorization", "Bearer")],
        [("Authorization", token)],
        [("Authorization", f"Basic {base64.b64encode(b'alice:' + token.encode()).decode()}")],
        [("Authorization", f"Bearer {token[:-1]}")],
        [("Authorization", f"Bearer {token}x")],
        [("Authorization", f"Bearer {token.swapcase()}")],
        [("Authorization", f"Bearer {token} {token}")],
        [("Authorization", f"Bearer {token},Bearer x")],
        [("Authorization", f"Bearer {stored}")],  # the digest from a stolen file
        [("Authorization", f"Bearer {hashlib.sha256(stored.encode()).hexdigest()}")],
        [("Authorization", "Bearer null")],
        [("Authorization", "Bearer ' OR '1'='1")],
        [("Authorization", "Bearer " + "A" * 5000)],
        [("Authorization", f"Bearer {token}"), ("Authorization", "Bearer other")],
        [("Authorization", "Bearer other"), ("Authorization", f"Bearer {token}")],
        [("X-Authorization", f"Bearer {token}")],
        [("Proxy-Authorization", f"Bearer {token}")],
        [("Cookie", f"token={token}")],
        [("X-Forwarded-User", "alice"), ("X-Forwarded-For", "127.0.0.1")],
        [("X-HTTP-Method-Override", "GET")],
    ]
    for each in headers:
        for path in (COSIGN_PATH, SUBMIT_PATH):
            answer = http_request("POST", server.url + path, json=BODY, headers=each)
            assert answer.status_code == 401, (each, answer.text)
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert "sig" not in answer.json()


def test_the_token_is_only_read_from_the_header(
    server: RunningServer, provider: ProviderFolder
) -> None:
    token = provider.cosign_token
    for path in (
        f"{COSIGN_PATH}?token={token}",
        f"{COSIGN_PATH}?access_token={token}",
        f"{COSIGN_PATH}?Authorization=Bearer%20{token}",
    ):
        assert http_request("POST", server.url + path, json=BODY).status_code == 401
    body = {**BODY, "token": token, "access_token": token, "Authorization": f"Bearer {token}"}
    assert http_request("POST", server.url + COSIGN_PATH, json=body).status_code == 401


def test_no_other_spelling_of_the_path_leads_past_the_check(server: RunningServer) -> None:
    for path in (
        "//api/vibes/cosign",
        "/api//vibes/cosign",
        "/api/vibes/cosign/",
        "/api/vibes/./cosign",
        "/x/../api/vibes/cosign",
        "/api/vibes/%63osign",
        "/API/VIBES/COSIGN",
        "/api/vibes/cosign%00",
        "/api/vibes/cosign;x",
        "/vibes/../tokens.json",
        "/tokens.json",
        "/vibes/tokens.json",
        "/vibes/%2e%2e/tokens.json",
    ):
        answer = _raw(server, f"POST {path} HTTP/1.1", "Content-Type: application/json", body=BODY)
        status = int(answer.split()[1])
        assert status in {400, 401, 404, 405}, (path, answer)
        assert b"sig" not in answer


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_do_nothing(server: RunningServer, method: str) -> None:
    for path in (COSIGN_PATH, SUBMIT_PATH):
        answer = http_request(method, server.url + path)
        assert answer.status_code == 405


def test_a_token_allows_only_its_scope(server: RunningServer, provider: ProviderFolder) -> None:
    envelope = {"envelope": attestation().as_json()}
    for path, body, wrong, right in (
        (COSIGN_PATH, BODY, provider.register_token, provider.cosign_token),
        (SUBMIT_PATH, envelope, provider.cosign_token, provider.register_token),
    ):
        refused = http_request(
            "POST", server.url + path, json=body, headers={"Authorization": f"Bearer {wrong}"}
        )
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
        accepted = http_request(
            "POST", server.url + path, json=body, headers={"Authorization": f"bearer  {right}"}
        )
        assert accepted.status_code in {200, 201}
    listed = http_request("GET", server.url + FIND_PATH).json()["attestations"]
    assert len(listed) == 1


def test_a_smuggled_request_is_not_carried_out(
    server: RunningServer, provider: ProviderFolder
) -> None:
    """Two lengths for one body: a proxy and the server must not see different requests."""
    inner = (
        f"POST {COSIGN_PATH} HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {provider.cosign_token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 0\r\n\r\n"
    )
    for lengths in (
        ["Content-Length: 5", "Transfer-Encoding: chunked"],
        ["Content-Length: 5", "Content-Length: 50"],
        ["Transfer-Encoding: chunked, identity"],
        ["Transfer-Encoding : chunked"],
        ["Content-Length: +5"],
        ["Content-Length: 0x5"],
        ["Content-Length: -1"],
    ):
        answer = _raw(server, f"POST {COSIGN_PATH} HTTP/1.1", *lengths, raw=f"0\r\n\r\n{inner}")
        assert b'"sig"' not in answer, (lengths, answer)
        assert int(answer.split()[1]) in {400, 401, 501}


def test_every_holder_is_compared_for_every_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time must not depend on which token matches: no early return."""
    compared: list[str] = []

    def compare(one: str, other: str) -> bool:
        compared.append(one)
        return one == other

    monkeypatch.setattr("vibes_services.server.tokens.hmac.compare_digest", compare)
    holders = [
        TokenHolder(name, hashlib.sha256(name.encode()).hexdigest(), ("cosign",), "")
        for name in ("ada", "bob", "cid")
    ]
    for token, expected in (("ada", "ada"), ("cid", "cid"), ("eve", None)):
        compared.clear()
        found = find_holder(holders, token)
        assert (found.name if found else None) == expected
        assert compared == [each.digest for each in holders]


def _raw(
    server: RunningServer, line: str, *headers: str, body: object = None, raw: str = ""
) -> bytes:
    """Send a request as it is and return the first answer."""
    content = json.dumps(body) if body is not None else raw
    lengths = [] if raw else [f"Content-Length: {len(content)}"]
    text = "\r\n".join([line, "Host: x", "Connection: close", *headers, *lengths, "", content])
    with socket.create_connection(("127.0.0.1", server.port), timeout=300) as connection:
        connection.sendall(text.encode("utf-8", "surrogateescape"))
        answer = b""
        while chunk := connection.recv(65_536):
            answer += chunk
    return answer


def test_commands_that_change_one_folder_at_the_same_time_lose_nothing(
    provider: ProviderFolder,
) -> None:
    names = [f"user-{number}" for number in range(8)]
    commands = [
        *(("token", provider.path, name) for name in names),
        *(("rotate", provider.path) for _ in range(4)),
    ]
    running = [
        subprocess.Popen([VIBES, "cosign-server", *each], stdout=subprocess.DEVNULL)
        for each in commands
    ]
    assert [each.wait(300) for each in running] == [0] * len(commands)
    tokens = json.loads((provider.path / "tokens.json").read_bytes())["tokens"]
    assert set(tokens) == {"alice", "ci", *names}
    listed = json.loads(run("cosign-server", "keys", provider.path, "--json"))["keys"]
    assert [each["status"] for each in listed] == ["active", *["retired"] * 4]
    assert [each.stem for each in provider.path.glob("*.key")] == [listed[0]["keyid"]]
