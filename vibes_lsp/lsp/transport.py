"""Framing and transports: read messages over standard input or TCP, and serve one client."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from io import BufferedReader
from typing import TYPE_CHECKING, BinaryIO, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcParseError
from pygls.io_ import StdoutWriter

from vibes_lsp.errors import MalformedJson, report
from vibes_lsp.lsp.state.child_process import finish_starting
from vibes_lsp.model.canonical_json import parse_json

if TYPE_CHECKING:
    from vibes_lsp.lsp.state.server import Server

_logger = logging.getLogger(__name__)

MAX_BODY: Final = 128 << 20
"""Longest message in bytes: room for the text of the largest source file, escaped."""
MAX_LINE: Final = 8 << 10
"""Longest header line in bytes; a longer one is read in parts."""
_CHUNK: Final = 1 << 16
_MAX_SKIPPED: Final = 16 << 30
"""Longest message in bytes that is skipped; of a longer one the length is taken for an error."""
_LENGTH: Final = re.compile(rb"content-length[ \t]*:[ \t]*([0-9]+)[ \t]*\r?\n", re.IGNORECASE)
_MAX_DIGITS: Final = 19
"""Digits of a length that are read; what has more is too long by these alone."""


class Incoming:
    """The bytes that a client sends.

    Args:
        read: Returns bytes that arrived; none at the end.
    """

    def __init__(self, read: Callable[[], Awaitable[bytes]]) -> None:
        self._read = read
        self._received = bytearray()

    async def length(self) -> int | None:
        """Read headers, and return the length of the body that follows; None at the end.

        Raises:
            JsonRpcParseError: They give no length, or several; the next message can be read.
        """
        lengths, others = set[int](), False
        while line := await self._line():
            if line.strip():
                match = _LENGTH.fullmatch(line)
                if match is not None:
                    lengths.add(int(match[1][:_MAX_DIGITS]))
                else:
                    others = True
            elif len(lengths) == 1 or max(lengths, default=0) > _MAX_SKIPPED:
                return max(lengths)
            elif lengths or others:
                raise JsonRpcParseError("the headers do not give one Content-Length")
        return None

    async def body(self, length: int) -> bytes | None:
        """Return a body; None if the input ends within it."""
        while len(self._received) < length:
            if not await self._more():
                return None
        return self._take(length)

    async def skip(self, length: int) -> None:
        """Read a body that is too long to be kept."""
        while (length := length - len(self._take(length))) and await self._more():
            pass

    async def _line(self) -> bytes:
        """Return a line, or the next part of a long one; nothing at the end."""
        while not (end := self._received.find(b"\n") + 1) and len(self._received) < MAX_LINE:
            if not await self._more():
                return b""
        return self._take(min(end or MAX_LINE, MAX_LINE))

    async def _more(self) -> bool:
        chunk = await self._read()
        self._received += chunk
        return bool(chunk)

    def _take(self, length: int) -> bytes:
        taken = bytes(self._received[:length])
        del self._received[:length]
        return taken


def serve_tcp(server: Server, host: str, port: int) -> None:
    """Listen for one client and serve it; log the address, as port 0 is any free port.

    Raises:
        OSError: The address cannot be listened on.
        SystemExit: The client said `exit`.
    """
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    with socket.create_server((host, port), family=family) as listening:
        _logger.info("listening on %s:%d", *listening.getsockname()[:2])
        connection, _ = listening.accept()
    with connection, connection.makefile("rb") as received, connection.makefile("wb") as sent:
        serve(server, received, sent)


def serve(server: Server, received: BinaryIO, sent: BinaryIO) -> None:
    """Serve one client.

    Raises:
        SystemExit: The client said `exit`.
    """
    server.protocol.set_writer(StdoutWriter(sent))
    try:
        asyncio.run(_read_in_thread(server, received))
    except ConnectionError:
        _logger.warning("the client disconnected")
    except KeyboardInterrupt:
        pass
    finally:
        server.shutdown()  # type: ignore[no-untyped-call]  # of pygls


async def _read_in_thread(server: Server, received: BinaryIO) -> None:
    """Read in a thread of its own: those of the server's pool may all be busy."""
    loop = asyncio.get_running_loop()
    read = received.read1 if isinstance(received, BufferedReader) else received.read
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
    incoming = Incoming(read)
    try:
        while await _handle_next(server, incoming):  # noqa: ASYNC110  # nothing is waited for
            await asyncio.sleep(0)  # the coroutines of the message begin
    finally:
        await finish_starting()


async def _handle_next(server: Server, incoming: Incoming) -> bool:
    """Handle the next message; return whether another one may follow."""
    try:
        length = await incoming.length()
    except JsonRpcParseError as error:
        server.protocol.send_error(None, error)
        return True
    if length is None:
        return False
    if length > MAX_BODY:
        is_meant = length <= _MAX_SKIPPED
        _refuse(server, MAX_BODY if is_meant else _MAX_SKIPPED)
        if is_meant:
            await incoming.skip(length)
        else:
            _logger.error("where the next message begins is unknown: the session ends")
            server.exit_code = 1
        return is_meant
    body = await incoming.body(length)
    if body is None:
        _logger.warning("the client disconnected within a message")
        return False
    _handle(server, body)
    return True


def _refuse(server: Server, limit: int) -> None:
    """Say that a message is too long; most likely it has the text of a file opened by mistake."""
    message = f"a message of more than {limit:,} bytes is not read"
    _logger.warning("%s", message)
    server.protocol.send_error(None, JsonRpcInvalidRequest(message))
    server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))


def _handle(server: Server, body: bytes) -> None:
    """Handle one message; an error in it does not keep the next one from being read."""
    protocol = server.protocol
    number: object = None
    try:
        members = parse_json(body)
        if not isinstance(members, dict):
            raise JsonRpcInvalidRequest("a message is one JSON object")  # noqa: TRY301
        number = members.get("id")
        if members.get("jsonrpc") != protocol.VERSION:
            raise JsonRpcInvalidRequest("member jsonrpc is not '2.0'")  # noqa: TRY301
        message = protocol.structure_message(members)
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
        if isinstance(number, int | str) and "method" in members:
            protocol.send_error(number, protocol.to_rpc_error(error))


def _report_in_background(_loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    error = context.get("exception")
    what = (
        report(error).message if isinstance(error, BaseException) else str(context.get("message"))
    )
    _logger.error("in the background: %s", what)
