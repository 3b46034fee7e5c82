"""One request to a service that may be hostile: TLS, redirects, sizes and times."""

from __future__ import annotations

import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from vibes_lsp.attestation.http_client import ask, ask_json, check_url, read_token
from vibes_lsp.errors import ServiceFailure, VibesError

if TYPE_CHECKING:
    from pathlib import Path

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


def receive_request(connection: socket.socket) -> None:
    """Read a request to its end: closing with a part unread would reset the connection."""
    request = b""
    while (end := request.find(b"\r\n\r\n")) < 0:
        request += received(connection)
    length = re.search(rb"content-length: *(\d+)", request[:end].lower())
    missing = end + 4 + (int(length[1]) if length else 0) - len(request)
    while missing > 0:
        missing -= len(received(connection))


def received(connection: socket.socket) -> bytes:
    """Return the bytes that came next; raise `ConnectionError` where the client has closed."""
    data = connection.recv(65_536)
    if not data:
        raise ConnectionError
    return data


@contextmanager
def answering(
    answer: Callable[[socket.socket], None], context: ssl.SSLContext | None = None
) -> Iterator[int]:
    """Run a server that answers each connection by a function; yield its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    port: int = listener.getsockname()[1]

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    if context is not None:
                        connection = context.wrap_socket(connection, server_side=True)
                    receive_request(connection)
                    answer(connection)
                except OSError:
                    pass
                finally:
                    connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield port
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


def sending(data: bytes) -> Callable[[socket.socket], None]:
    """Return an answer that sends these bytes."""
    return lambda connection: connection.sendall(data)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org",
        "http://10.0.0.1",
        "http://127.0.0.1.example.org",
        "http://localhost.example.org",
        "ftp://127.0.0.1",
        "file:///etc/passwd",
        "https://user:secret@example.org",
        "https://user@example.org",
        "https://example.org/#x",
        "https://",
        "example.org",
        "",
        "https://example.org/\n",
        "https://exa mple.org",
        "https://example.org:x",
        "https://[::1",
        "https://example.org/" + "a" * 2000,
    ],
)
def test_only_https_and_this_machine_are_asked(url: str) -> None:
    with pytest.raises(VibesError) as error:
        check_url(url)
    assert "secret" not in error.value.message


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "[::1]"])
def test_plain_http_is_allowed_on_this_machine(host: str) -> None:
    assert check_url(f"http://{host}:8000/x") == f"http://{host}:8000/x"


def test_a_redirect_is_not_followed() -> None:
    target = b"HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:9/x\r\nContent-Length: 0\r\n\r\n"
    with (
        answering(sending(target)) as port,
        pytest.raises(ServiceFailure, match="redirects to another address"),
    ):
        ask(f"http://127.0.0.1:{port}/", body=b"digest", headers={"Authorization": "Bearer x"})


@pytest.mark.parametrize(
    "head", [b"Content-Length: 100000\r\n", b"Transfer-Encoding: chunked\r\n", b""]
)
def test_a_large_answer_is_cut_off(head: bytes) -> None:
    chunk = b"1000\r\n" + b"a" * 4096 + b"\r\n" if b"chunked" in head else b"a" * 4096
    data = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + chunk * 24
    with (
        answering(sending(data)) as port,
        pytest.raises(ServiceFailure, match="more than 1,000 bytes"),
    ):
        ask(f"http://127.0.0.1:{port}/", limit=1000)


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nX: ", OK[:-1]])
def test_a_server_that_sends_byte_by_byte_does_not_hold_the_client(
    start: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIBES_PATIENCE", "0.5")

    def drip(connection: socket.socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(b"a")
            time.sleep(0.02)  # the server's pace, not a wait of the test

    if start == OK[:-1]:
        start = OK.replace(b"Content-Length: 2", b"Content-Length: 9999")[:-2]
    with (
        answering(drip) as port,
        pytest.raises(ServiceFailure, match=r"within 0\.5 seconds|cannot be asked"),
    ):
        ask(f"http://127.0.0.1:{port}/")


def test_a_compressed_answer_is_not_unpacked() -> None:
    data = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00"
    with answering(sending(data)) as port:
        assert ask(f"http://127.0.0.1:{port}/").body == b"\x1f\x8b\x08\x00"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "cannot be asked"),
        (b"nonsense\r\n\r\n", "cannot be asked"),
        (OK.replace(b"{}", b"[]"), "no usable answer"),
        (OK.replace(b"{}", b"{a"), "no usable answer"),
        (OK.replace(b"200 OK", b"500 X"), "status 500: without a reason"),
        (
            b'HTTP/1.1 403 X\r\nConnection: close\r\n\r\n{"error":{"message":"no\\u001b[31m way"}}',
            r"status 403: no\\u001b\[31m way",
        ),
    ],
)
def test_what_is_no_answer_is_a_reason(data: bytes, reason: str) -> None:
    with answering(sending(data)) as port, pytest.raises(ServiceFailure, match=reason):
        ask_json(f"http://127.0.0.1:{port}/", members={})


def test_no_server_is_a_reason() -> None:
    with pytest.raises(ServiceFailure, match=r"127\.0\.0\.1:9 cannot be asked"):
        ask("http://127.0.0.1:9/")


def test_certificates_are_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, context = self_signed(tmp_path)
    with answering(sending(OK), context) as port:
        url = f"https://127.0.0.1:{port}/"
        with pytest.raises(ServiceFailure, match=r"(?i)certificate"):
            ask(url)
        # The same server is accepted where its certificate is trusted.
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert ask(url).body == b"{}"


def test_a_proxy_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with answering(sending(OK)) as port:
        assert ask(f"http://127.0.0.1:{port}/").status == 200


@pytest.mark.parametrize("token", ["", " \n", "a b", "a\nb", "é", "a\x00b"])
def test_a_token_that_cannot_be_sent_is_refused(token: str) -> None:
    with pytest.raises(VibesError, match="the token"):
        read_token(token)
    assert read_token(" abc\n") == "abc"


def self_signed(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """Return the file of a new certificate for 127.0.0.1, and a server's context with it."""
    key = generate_private_key(SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    path, secret = folder / "certificate.pem", folder / "key.pem"
    path.write_bytes(certificate.public_bytes(Encoding.PEM))
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, secret)
    return path, context
