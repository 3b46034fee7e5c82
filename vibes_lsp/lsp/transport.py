"""Framing and transports: read messages over standard input or TCP, and serve one client."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BufferedReader
from typing import TYPE_CHECKING, BinaryIO, Final

from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcParseError
from pygls.io_ import StdoutWriter

from vibes_lsp.errors import MalformedJson, report
from vibes_lsp.lsp.child_process import finish_starting
from vibes_lsp.model.canonical_json import parse_json

if TYPE_CHECKING:
    from vibes_lsp.lsp.server import Server

_logger = logging.getLogger(__name__)

MAX_BODY: Final = 128 << 20
"""Longest message in bytes: room for the text of the largest source file, escaped."""
MAX_LINE: Final = 8 << 10
"""Longest header line in bytes; a longer one is read in parts."""
_CHUNK: Final = 1 << 16
_MAX_SKIPPED: Final = 16 << 30
"""Longest message in bytes that is skipped; of a longer one the length is taken for an error."""
_KEPT: Final = 8 << 10
"""Bytes at both ends of a skipped message in which its method and document are looked for."""
_DID_OPEN: Final = re.compile(rb'"method"\s*:\s*"textDocument\\?/didOpen"')
_URI: Final = re.compile(rb'"uri"\s*:\s*("[^"]{1,4000}")')
_LENGTH: Final = re.compile(rb"content-length[ \t]*:[ \t]*([0-9]{1,18})[ \t]*\r?\n", re.IGNORECASE)
_TOO_LONG: Final = re.compile(rb"content-length[ \t]*:[ \t]*[0-9]{19}", re.IGNORECASE)


class _StreamInvalidError(Exception):
    """Where the next message starts is unknown."""


@dataclass(frozen=True, slots=True)
class SkippedBody:
    """Both ends of a body that is too long to be kept."""

    head: bytes
    tail: bytes


class Framing:
    """Finds messages in bytes as they arrive."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._length: int | None = None  # of the body that comes next
        self._lengths: set[int] = set()  # in the headers so far
        self._others = 0
        self._head = self._tail = b""  # of a body that is skipped

    @property
    def is_within_body(self) -> bool:
        """Whether the body of a message is incomplete."""
        return self._length is not None

    def add(self, data: bytes) -> None:
        """Add bytes that arrived."""
        self._received += data

    def next_body(self) -> bytes | SkippedBody | None:
        """Return the next body; None until more has arrived.

        Of one that is too long only the ends are kept: the text of a huge file. Editors send a text
        whole when a file is opened, perhaps by mistake.

        Raises:
            JsonRpcParseError: Headers give no length, or several; the next message can be read.
            _StreamInvalidError: A message is too long.
        """
        if self._length is None and not self._read_headers():
            return None
        length = self._length or 0
        if length > MAX_BODY or self._head:
            return self._skip(length)
        if len(self._received) < length:
            return None
        body = bytes(self._received[:length])
        del self._received[:length]
        self._length = None
        return body

    def _skip(self, length: int) -> SkippedBody | None:
        """Drop what arrived of a body of which so much is to come."""
        piece = bytes(self._received[:length])
        del self._received[: len(piece)]
        self._head, self._tail = self._head or piece[:_KEPT], (self._tail + piece)[-_KEPT:]
        self._length = length - len(piece)
        if self._length:
            return None
        found = SkippedBody(self._head, self._tail)
        self._head, self._tail, self._length = b"", b"", None
        return found

    def _read_headers(self) -> bool:
        """Return whether the length of the next body is known."""
        while (end := self._received.find(b"\n") + 1) or len(self._received) >= MAX_LINE:
            line = bytes(self._received[: min(end or MAX_LINE, MAX_LINE)])
            del self._received[: len(line)]
            if not line.strip():
                if self._end_headers():
                    return True
                continue
            found = _LENGTH.fullmatch(line)
            if found is not None:
                self._lengths.add(int(found[1]))
            elif _TOO_LONG.match(line):
                self._lengths.add(sys.maxsize)
            else:
                self._others += 1
        return False

    def _end_headers(self) -> bool:
        lengths, others = self._lengths, self._others
        self._lengths, self._others = set(), 0
        if lengths and max(lengths) > _MAX_SKIPPED:
            raise _StreamInvalidError(f"a message of more than {_MAX_SKIPPED:,} bytes is not read")
        if len(lengths) == 1:
            self._length = lengths.pop()
            return True
        if lengths or others:
            raise JsonRpcParseError("the headers do not give one Content-Length")
        return False


def serve_stdio(server: Server, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serve the client that started this program."""
    server.protocol.set_writer(StdoutWriter(stdout))
    try:
        asyncio.run(_serve_stdio(server, stdin))
    except BrokenPipeError:
        _logger.warning("the client disconnected")
    except (KeyboardInterrupt, SystemExit):  # the latter is how the library takes `exit`
        pass
    finally:
        server.shutdown()  # type: ignore[no-untyped-call]  # of pygls


async def _serve_stdio(server: Server, stdin: BinaryIO) -> None:
    """Read in a thread of its own: those of the server's pool may all be busy."""
    loop = asyncio.get_running_loop()
    read = stdin.read1 if isinstance(stdin, BufferedReader) else stdin.read
    with ThreadPoolExecutor(1) as reading:
        await _serve(server, lambda: loop.run_in_executor(reading, read, _CHUNK))


async def _serve(server: Server, read: Callable[[], Awaitable[bytes]]) -> None:
    """Handle the messages of one client, in order, until it disconnects.

    One message at a time, so that coroutines that handle messages begin in the same order. While
    messages wait, nothing is read: memory stays bounded.

    Args:
        server: The server.
        read: Returns bytes that arrived; none at the end.
    """
    asyncio.get_running_loop().set_exception_handler(_report_in_background)
    framing = Framing()
    try:
        while data := await read():
            framing.add(data)
            while _handle_next(server, framing):  # noqa: ASYNC110  # nothing is waited for
                await asyncio.sleep(0)
        if framing.is_within_body:
            _logger.warning("the client disconnected within a message")
    except _StreamInvalidError as error:
        _logger.error("%s: the session ends", error)  # noqa: TRY400
        server.exit_code = 1
    finally:
        await finish_starting()


def _handle_next(server: Server, framing: Framing) -> bool:
    """Handle the next message, if there is a whole one; return whether there was."""
    try:
        body = framing.next_body()
    except JsonRpcParseError as error:
        server.protocol.send_error(None, error)
        return True
    except _StreamInvalidError as error:
        server.protocol.send_error(None, JsonRpcInvalidRequest(str(error)))
        raise
    if body is None:
        return False
    if isinstance(body, SkippedBody):
        _refuse(server, body)
    else:
        _handle(server, body)
    return True


def _refuse(server: Server, body: SkippedBody) -> None:
    """Keep no text of a huge file, or answer that a message is too long; the session goes on."""
    uri = _opened_document(body.head) or _opened_document(body.tail)  # members may have any order
    if uri is not None and any(map(_DID_OPEN.search, (body.head, body.tail))):
        server.refuse_text(uri)
        return
    message = f"a message of more than {MAX_BODY:,} bytes is not read"
    _logger.warning("%s", message)
    server.protocol.send_error(None, JsonRpcInvalidRequest(message))


def _opened_document(part: bytes) -> str | None:
    found = _URI.search(part)
    try:
        uri = None if found is None else parse_json(found[1])
    except MalformedJson:
        return None
    return uri if isinstance(uri, str) else None


def _handle(server: Server, body: bytes) -> None:
    """Handle one message; an error in it does not keep the next one from being read."""
    protocol = server.protocol
    number: object = None
    try:
        data = parse_json(body)
        if not isinstance(data, dict):
            raise JsonRpcInvalidRequest("a message is one JSON object")  # noqa: TRY301
        number = data.get("id")
        if data.get("jsonrpc") != protocol.VERSION:
            raise JsonRpcInvalidRequest("member jsonrpc is not '2.0'")  # noqa: TRY301
        message = protocol.structure_message(data)
    except MalformedJson as error:
        protocol.send_error(None, JsonRpcParseError(f"a message cannot be read: {error.message}"))
        return
    except JsonRpcInvalidRequest as error:
        protocol.send_error(number, error)
        return
    except JsonRpcException as error:  # answered where it was raised
        server.report_server_error(error, JsonRpcException)
        return
    try:
        protocol.handle_message(message)
    except Exception as error:  # noqa: BLE001  # the next message is another one
        server.report_server_error(error, JsonRpcException)
        if isinstance(number, int | str) and "method" in data:
            protocol.send_error(number, protocol.to_rpc_error(error))


def _report_in_background(_loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    error = context.get("exception")
    what = (
        report(error).message if isinstance(error, BaseException) else str(context.get("message"))
    )
    _logger.error("in the background: %s", what)


def serve_tcp(server: Server, host: str, port: int) -> None:
    """Listen for one client and serve it; log the address, as port 0 is any free port.

    Raises:
        OSError: The address cannot be listened on.
        SystemExit: The client said `exit`.
    """
    asyncio.run(_serve_tcp(server, host, port))


async def _serve_tcp(server: Server, host: str, port: int) -> None:
    connected: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
    connected = asyncio.get_running_loop().create_future()

    def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if connected.done():  # one client is served
            writer.close()
        else:
            connected.set_result((reader, writer))

    listening = await asyncio.start_server(connect, host, port)
    for socket in listening.sockets:
        _logger.info("listening on %s:%d", *socket.getsockname()[:2])
    reader, writer = await connected
    listening.close()
    server.protocol.set_writer(writer)
    try:
        await _serve(server, lambda: reader.read(_CHUNK))
    except ConnectionError as error:
        _logger.warning("the client disconnected: %s", error)
    finally:
        writer.close()
