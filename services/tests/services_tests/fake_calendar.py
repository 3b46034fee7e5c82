"""A calendar on loopback that speaks OpenTimestamps' protocol, and the blocks that it waits for."""

from __future__ import annotations

import hashlib
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bitcoin.core import CBlockHeader
from bitcoin.core.serialize import uint256_from_compact, uint256_from_str
from opentimestamps.core.notary import BitcoinBlockHeaderAttestation, PendingAttestation
from opentimestamps.core.op import OpAppend, OpPrepend, OpSHA256
from opentimestamps.core.serialize import BytesSerializationContext
from opentimestamps.core.timestamp import Timestamp
from typing_extensions import override

EASY = 0x207FFFFF
"""A target that every second hash meets."""


@dataclass
class FakeCalendar:
    """A calendar, with what it was asked.

    Attributes:
        url: Its address.
        answer: What it answers instead of a timestamp, if set: status and body.
        digests: What was submitted.
        paths: The paths of all requests.
        blocks: Headers of blocks by height.
    """

    url: str = ""
    answer: tuple[int, bytes] | None = None
    digests: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    blocks: dict[int, bytes] = field(default_factory=dict)
    _attested: dict[str, Timestamp] = field(default_factory=dict)
    _waiting: dict[bytes, bytes] = field(default_factory=dict)

    def mine(self, height: int, time: int) -> bytes:
        """Put what waits into a block; return its header, and answer with it from now on."""
        root = b""
        for commitment in self._waiting.values():
            path = Timestamp(commitment)
            node = path.ops.add(OpPrepend(b"coinbase")).ops.add(OpAppend(b"outputs"))
            node = node.ops.add(OpSHA256()).ops.add(OpSHA256())
            node.attestations.add(BitcoinBlockHeaderAttestation(height))
            root = node.msg
            self._attested[commitment.hex()] = path
        self._waiting.clear()
        self.blocks[height] = header(root, time)
        return self.blocks[height]

    def submit(self, digest: bytes) -> tuple[int, bytes]:
        """Accept a digest, as `POST /digest` does."""
        self.digests.append(digest)
        timestamp = Timestamp(digest)
        node = timestamp.ops.add(OpAppend(b"salt of this calendar")).ops.add(OpSHA256())
        node.attestations.add(PendingAttestation(self.url))
        self._waiting[digest] = node.msg
        return 200, _encode(timestamp)

    def look_up(self, commitment: str) -> tuple[int, bytes]:
        """Return what attests a commitment, as `GET /timestamp/HEX` does."""
        found = self._attested.get(commitment)
        return (404, b"Pending confirmation") if found is None else (200, _encode(found))


def header(merkle_root: bytes, time: int, bits: int = EASY) -> bytes:
    """Return a block header with this root that has the work that it states."""
    for nonce in range(1 << 32):
        data = struct.pack("<i32s32sIII", 2, bytes(32), merkle_root, time, bits, nonce)
        block_hash = CBlockHeader.deserialize(data).GetHash()
        if uint256_from_str(block_hash) <= uint256_from_compact(bits):
            return data
    raise AssertionError


@contextmanager
def fake_calendar() -> Iterator[FakeCalendar]:
    """Run a calendar on a free port of this machine."""
    calendar = FakeCalendar()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            calendar.paths.append(self.path)
            self._send(*(calendar.answer or calendar.submit(body)))

        def do_GET(self) -> None:
            calendar.paths.append(self.path)
            name = self.path.removeprefix("/timestamp/")
            self._send(*(calendar.answer or calendar.look_up(name)))

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            if status == 302:
                self.send_header("Location", calendar.url + "/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, format: str, *args: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    calendar.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield calendar
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def commitment_of(digest: bytes, nonce: bytes) -> bytes:
    """Return what a calendar is given for a file's digest."""
    return hashlib.sha256(digest + nonce).digest()


def _encode(timestamp: Timestamp) -> bytes:
    context = BytesSerializationContext()
    timestamp.serialize(context)
    data: bytes = context.getbytes()
    return data
