"""Read messages from streams, and serve one client over TCP."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcParseError
from pygls.io_ import StdoutWriter

from vibes_lsp.errors import MalformedJson, report
from vibes_lsp.model.canonical_json import parse_json

if TYPE_CHECKING:
    from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.server import Server

_logger = logging.getLogger(__name__)

MAX_BODY: Final = 128 << 20
"""Longest message in bytes: room for the text of the largest source file, escaped."""
MAX_LINE: Final = 8 << 10
"""Longest header line in bytes that is looked at as one."""
_LENGTH: Final = re.compile(rb"content-length[ \t]*:[ \t]*([0-9]{1,18})[ \t]*\r?\n", re.IGNORECASE)
_TOO_LONG: Final = re.compile(rb"content-length[ \t]*:[ \t]*[0-9]{19}", re.IGNORECASE)


class _Gone(Exception):
    """The client has closed its end."""


class _Refused(Exception):
    """The stream cannot be followed any further."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What is read from.

    Attributes:
        line: Gives the next line, or a part of a long one; nothing at the end.
        exactly: Gives so many bytes; fewer at the end.
    """

    line: Callable[[], Awaitable[bytes]]
    exactly: Callable[[int], Awaitable[bytes]]


def serve_stdio(server: Server, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serve the client that started this program, to its end."""
    server.protocol.set_writer(StdoutWriter(stdout))

    async def run() -> None:
        loop = asyncio.get_running_loop()
        await converse(
            server,
            Stream(
                lambda: loop.run_in_executor(server.thread_pool, stdin.readline, MAX_LINE),
                lambda length: loop.run_in_executor(server.thread_pool, stdin.read, length),
            ),
        )

    try:
        asyncio.run(run())
    except BrokenPipeError:
        _logger.warning("the client went away")
    except (KeyboardInterrupt, SystemExit):  # the latter is how the library takes `exit`
        pass
    finally:
        server.shutdown()  # type: ignore[no-untyped-call]  # of pygls


def stream_of(reader: asyncio.StreamReader) -> Stream:
    """Return a connection as what is read from."""

    async def line() -> bytes:
        try:
            return await reader.readline()
        except ValueError:  # longer than the reader's own bound, which has dropped it
            return b"?\n"

    async def exactly(length: int) -> bytes:
        try:
            return await reader.readexactly(length)
        except asyncio.IncompleteReadError as error:
            return error.partial

    return Stream(line, exactly)


async def converse(server: Server, stream: Stream) -> None:
    """Hand on each message of a stream to the server, until it ends or cannot be followed."""
    asyncio.get_running_loop().set_exception_handler(_report_in_background)
    try:
        while True:
            length = await _length(server, stream)
            if length is not None:
                _take(server, await _body(stream, length))
    except _Gone:
        return
    except _Refused as error:
        _logger.error("%s: the session ends", error)  # noqa: TRY400  # no fault of ours
        server.exit_code = 1


async def _length(server: Server, stream: Stream) -> int | None:
    """Return the length of the next body; None where the headers give none, or several."""
    lengths: set[int] = set()
    others = 0
    while (line := await stream.line()).strip():
        found = _LENGTH.fullmatch(line)
        if found is not None:
            lengths.add(int(found[1]))
        elif _TOO_LONG.match(line):
            lengths.add(sys.maxsize)
        else:
            others += 1
    if not line:
        raise _Gone
    if lengths and max(lengths) > MAX_BODY:
        message = f"a message of more than {MAX_BODY:,} bytes is not read"
        server.protocol.refuse(None, JsonRpcInvalidRequest(message))
        raise _Refused(message)
    if len(lengths) == 1:
        return lengths.pop()
    if lengths or others:
        server.protocol.refuse(
            None, JsonRpcParseError("the headers do not give one Content-Length")
        )
    return None


async def _body(stream: Stream, length: int) -> bytes:
    body = await stream.exactly(length) if length else b""
    if len(body) < length:
        _logger.warning("the client went away within a message")
        raise _Gone
    return body


def _take(server: Server, body: bytes) -> None:
    """Hand on one message; whatever is wrong with it, the next one is read."""
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
        protocol.refuse(None, JsonRpcParseError(f"a message cannot be read: {error.message}"))
        return
    except JsonRpcInvalidRequest as error:
        protocol.refuse(number, error)
        return
    except JsonRpcException as error:  # answered where it was raised
        server.report_server_error(error, JsonRpcException)
        return
    try:
        protocol.handle_message(message)
    except Exception as error:  # noqa: BLE001  # the next message is another one
        server.report_server_error(error, JsonRpcException)
        if isinstance(number, int | str) and "method" in data:
            protocol.refuse(number, protocol.failure(error))


def _report_in_background(_loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    error = context.get("exception")
    what = (
        report(error).message if isinstance(error, BaseException) else str(context.get("message"))
    )
    _logger.error("in the background: %s", what)


def serve_tcp(server: Server, host: str, port: int) -> None:
    """Wait for one client and serve it to its end; log the address, whose port the system chooses when it is given as 0.

    Raises:
        OSError: The address cannot be listened on.
        SystemExit: The client said `exit`.
    """
    asyncio.run(_serve(server, host, port))


async def _serve(server: Server, host: str, port: int) -> None:
    arrived: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = (
        asyncio.get_running_loop().create_future()
    )

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if arrived.done():  # a second one, before we stopped listening
            writer.close()
        else:
            arrived.set_result((reader, writer))

    listening = await asyncio.start_server(connected, host, port)
    for socket in listening.sockets:
        _logger.info("listening on %s:%d", *socket.getsockname()[:2])
    reader, writer = await arrived
    listening.close()
    server.protocol.set_writer(writer)
    try:
        await converse(server, stream_of(reader))
    except ConnectionError as error:
        _logger.warning("the client went away: %s", error)
    finally:
        writer.close()
        server.shutdown()  # type: ignore[no-untyped-call]  # of pygls
