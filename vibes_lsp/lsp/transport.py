"""Framing and transports: read messages over standard input or TCP, and serve one client."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import stat
import sys
from dataclasses import dataclass
from io import BufferedReader
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcParseError
from pygls.io_ import StdoutWriter
from typing_extensions import override

from vibes_lsp.errors import MalformedJson, report
from vibes_lsp.lsp.child_process import finish_starting
from vibes_lsp.lsp.protocol import is_stock
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
_COMMON: Final = re.compile(rb"Content-Length: ([0-9]{1,9})\r\n\r\n")
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
    def has_more(self) -> bool:
        """Whether bytes arrived that are part of no message yet."""
        return bool(self._received)

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
        common = None if self._lengths or self._others else _COMMON.match(self._received)
        if common is not None:
            self._lengths.add(int(common[1]))
            del self._received[: common.end()]
            return self._end_headers()
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


class ClientConnection(asyncio.Protocol):
    """Handles the messages of one client, in order.

    One message at a time, so that coroutines that handle messages begin in the same order. While
    messages wait, nothing is read: memory stays bounded.

    Args:
        server: The server.
        arrived: Gets the first connection; later ones are refused.

    Attributes:
        transport: The connection to the client; of a pipe, the half that is read.
        ended: Done when the client has ended the session, and all messages are handled.
    """

    def __init__(self, server: Server, arrived: asyncio.Future[ClientConnection]) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._server = server
        self._arrived = arrived
        self._framing = Framing()
        self.transport: asyncio.Transport
        self._is_busy = False
        self._is_at_end = False

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        if self._arrived.done():
            transport.close()
        else:
            self._arrived.set_result(self)

    @override
    def data_received(self, data: bytes) -> None:
        self._framing.add(data)
        if not self._is_busy:
            self._handle_next()

    @override
    def eof_received(self) -> bool:
        """Keep the connection open: messages that wait are answered."""
        self._end(None)
        return True

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc)

    def _end(self, error: Exception | None) -> None:
        self._is_at_end = True
        if error is not None:
            self._finish(error)
        elif not self._is_busy:
            self._handle_next()

    def _finish(self, error: BaseException | None = None) -> None:
        if self.ended.done():
            return
        if error is None:
            self.ended.set_result(None)
        else:
            self.ended.set_exception(error)

    def _handle_next(self) -> None:
        self._is_busy = False
        try:
            is_handled = handle_next(self._server, self._framing)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # raised where the end is awaited
            self._is_busy = True  # no message is handled after `exit`
            self._finish(error)
            return
        if is_handled and (self._framing.has_more or self._is_at_end):
            self._is_busy = True
            self.transport.pause_reading()
            asyncio.get_running_loop().call_soon(self._handle_next)
            return
        if self._is_at_end:
            if self._framing.is_within_body:
                _logger.warning("the client disconnected within a message")
            self._finish()
        self.transport.resume_reading()  # nothing happens if it was not paused


def serve_stdio(server: Server, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serve the client that started this program."""
    server.protocol.set_writer(StdoutWriter(stdout))
    try:
        asyncio.run(_serve_stdio(server, stdin, stdout))
    except BrokenPipeError:
        _logger.warning("the client disconnected")
    except (KeyboardInterrupt, SystemExit):  # the latter is how the library takes `exit`
        pass
    finally:
        server.shutdown()  # type: ignore[no-untyped-call]  # of pygls


async def _serve_stdio(server: Server, stdin: BinaryIO, stdout: BinaryIO) -> None:
    loop = asyncio.get_running_loop()
    async with _Session(server):
        if not _can_be_awaited(stdin, stdout):
            await _read_in_thread(server, stdin)
            return
        connection = ClientConnection(server, loop.create_future())
        transport, _ = await loop.connect_read_pipe(lambda: connection, stdin)
        try:
            await connection.ended
        finally:
            transport.close()


def _can_be_awaited(stdin: BinaryIO, stdout: BinaryIO) -> bool:
    """Whether the event loop itself can wait for the client's messages.

    A thread that waits hands over for each message, which takes longer than most answers. A loop
    can wait for pipes and sockets, but not on Windows, nor for files. It makes them non-blocking,
    so the output must be another one.
    """
    if sys.platform == "win32" or is_stock():
        return False
    try:
        found, other = (os.fstat(each.fileno()) for each in (stdin, stdout))
    except (OSError, ValueError):
        return False
    is_pipe = stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode)
    return is_pipe and not os.path.samestat(found, other)


async def _read_in_thread(server: Server, stdin: BinaryIO) -> None:
    """Handle the messages of anything that can be read."""
    loop, framing = asyncio.get_running_loop(), Framing()
    read = stdin.read1 if isinstance(stdin, BufferedReader) else stdin.read
    while data := await loop.run_in_executor(server.thread_pool, read, _CHUNK):
        framing.add(data)
        while handle_next(server, framing):  # noqa: ASYNC110  # nothing is waited for
            await asyncio.sleep(0)  # coroutines that handle messages begin in the same order
    if framing.is_within_body:
        _logger.warning("the client disconnected within a message")


class _Session:
    """What holds for a session over any transport: how it is logged and how it ends."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def __aenter__(self) -> None:
        asyncio.get_running_loop().set_exception_handler(_report_in_background)

    async def __aexit__(self, _kind: object, error: object, _trace: object) -> bool:
        await finish_starting()
        if isinstance(error, _StreamInvalidError):
            _logger.error("%s: the session ends", error)
            self._server.exit_code = 1
            return True
        return False


def handle_next(server: Server, framing: Framing) -> bool:
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
        if protocol.answer_directly(data):
            return
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
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[ClientConnection] = loop.create_future()
    listening = await loop.create_server(lambda: ClientConnection(server, arrived), host, port)
    for socket in listening.sockets:
        _logger.info("listening on %s:%d", *socket.getsockname()[:2])
    connection = await arrived
    listening.close()
    server.protocol.set_writer(connection.transport)
    try:
        async with _Session(server):
            await connection.ended
    except ConnectionError as error:
        _logger.warning("the client disconnected: %s", error)
    finally:
        connection.transport.close()
