"""Framing and transports: read messages over standard input or TCP, and serve one client."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import stat
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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
_MAX_SKIPPED: Final = 16 << 30
"""Longest message in bytes that is skipped; of a longer one the length is taken for an error."""
_PIECE: Final = 1 << 20
_KEPT: Final = 8 << 10
"""Bytes at both ends of a skipped message in which its method and document are looked for."""
_DID_OPEN: Final = re.compile(rb'"method"\s*:\s*"textDocument\\?/didOpen"')
_URI: Final = re.compile(rb'"uri"\s*:\s*("[^"]{1,4000}")')
READER: Final = "VIBES_LSP_READER"
"""The environment variable that chooses how standard input is read: `THREADS`, else what fits."""
THREADS: Final = "threads"
MAX_LINE: Final = 8 << 10
"""Longest header line in bytes; a longer one is read in parts."""
_LENGTH: Final = re.compile(rb"content-length[ \t]*:[ \t]*([0-9]{1,18})[ \t]*\r?\n", re.IGNORECASE)
_TOO_LONG: Final = re.compile(rb"content-length[ \t]*:[ \t]*[0-9]{19}", re.IGNORECASE)


class _StreamEndedError(Exception):
    """The client has closed its end."""


class _StreamInvalidError(Exception):
    """Where the next message starts is unknown."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The client's messages.

    Attributes:
        read_line: Returns the next line, or a part of a long one; nothing at the end.
        read_exactly: Returns so many bytes; fewer at the end.
    """

    read_line: Callable[[], Awaitable[bytes]]
    read_exactly: Callable[[int], Awaitable[bytes]]


def serve_stdio(server: Server, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serve the client that started this program."""
    server.protocol.set_writer(StdoutWriter(stdout))

    async def run() -> None:
        if not _can_be_awaited(stdin, stdout):
            await serve_stream(server, _threaded_stream(server, stdin))
            return
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), stdin
        )
        try:
            await serve_stream(server, buffered_stream(reader))
        finally:
            transport.close()

    try:
        asyncio.run(run())
    except BrokenPipeError:
        _logger.warning("the client disconnected")
    except (KeyboardInterrupt, SystemExit):  # the latter is how the library takes `exit`
        pass
    finally:
        server.shutdown()  # type: ignore[no-untyped-call]  # of pygls


def _can_be_awaited(stdin: BinaryIO, stdout: BinaryIO) -> bool:
    """Whether the event loop itself can wait for the client's messages.

    A thread that waits hands over three times for each message, which takes longer than most
    answers. A loop can wait for pipes and sockets, but not on Windows, nor for files. It makes them
    non-blocking, so the output must be another one.
    """
    if sys.platform == "win32" or os.environ.get(READER) == THREADS:
        return False
    try:
        found, other = (os.fstat(each.fileno()) for each in (stdin, stdout))
    except (OSError, ValueError):
        return False
    is_pipe = stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode)
    return is_pipe and not os.path.samestat(found, other)


def _threaded_stream(server: Server, stdin: BinaryIO) -> Stream:
    """Return the stream of anything that can be read, as the library reads it."""
    loop = asyncio.get_running_loop()
    return Stream(
        lambda: loop.run_in_executor(server.thread_pool, stdin.readline, MAX_LINE),
        lambda length: loop.run_in_executor(server.thread_pool, stdin.read, length),
    )


def buffered_stream(reader: asyncio.StreamReader) -> Stream:
    """Return the stream of a TCP connection or a pipe."""

    async def line() -> bytes:
        try:
            return await reader.readline()
        except ValueError:  # longer than the reader's limit; it dropped the line
            return b"?\n"

    async def exactly(length: int) -> bytes:
        try:
            return await reader.readexactly(length)
        except asyncio.IncompleteReadError as error:
            return error.partial

    return Stream(line, exactly)


async def serve_stream(server: Server, stream: Stream) -> None:
    """Handle the messages of a stream until it ends or has an invalid header."""
    asyncio.get_running_loop().set_exception_handler(_report_in_background)
    try:
        while True:
            length = await _read_length(server, stream)
            if length is not None and length > MAX_BODY:
                await _skip_body(server, stream, length)
            elif length is not None:
                _handle(server, await _read_body(stream, length))
                await asyncio.sleep(0)  # coroutines that handle messages begin in the same order
    except _StreamEndedError:
        return
    except _StreamInvalidError as error:
        _logger.error("%s: the session ends", error)  # noqa: TRY400  # no fault of ours
        server.exit_code = 1
    finally:
        await finish_starting()


async def _read_length(server: Server, stream: Stream) -> int | None:
    """Return the length of the next body; None where the headers give none, or several."""
    lengths: set[int] = set()
    others = 0
    while (line := await stream.read_line()).strip():
        found = _LENGTH.fullmatch(line)
        if found is not None:
            lengths.add(int(found[1]))
        elif _TOO_LONG.match(line):
            lengths.add(sys.maxsize)
        else:
            others += 1
    if not line:
        raise _StreamEndedError
    if lengths and max(lengths) > _MAX_SKIPPED:
        message = f"a message of more than {_MAX_SKIPPED:,} bytes is not read"
        server.protocol.send_error(None, JsonRpcInvalidRequest(message))
        raise _StreamInvalidError(message)
    if len(lengths) == 1:
        return lengths.pop()
    if lengths or others:
        server.protocol.send_error(
            None, JsonRpcParseError("the headers do not give one Content-Length")
        )
    return None


async def _read_body(stream: Stream, length: int) -> bytes:
    body = await stream.read_exactly(length) if length else b""
    if len(body) < length:
        _logger.warning("the client disconnected within a message")
        raise _StreamEndedError
    return body


async def _skip_body(server: Server, stream: Stream, length: int) -> None:
    """Read a message that is too long in pieces, and drop it: the text of a huge file.

    Editors send a text whole when a file is opened, perhaps by mistake. The session goes on.
    """
    head, tail, left = b"", b"", length
    while left:
        piece = await _read_body(stream, min(left, _PIECE))
        head, tail, left = head or piece[:_KEPT], (tail + piece)[-_KEPT:], left - len(piece)
    uri = _opened_document(head) or _opened_document(tail)  # members may have any order
    if uri is not None and any(map(_DID_OPEN.search, (head, tail))):
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
    asyncio.run(_serve(server, host, port))


async def _serve(server: Server, host: str, port: int) -> None:
    arrived: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = (
        asyncio.get_running_loop().create_future()
    )

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if arrived.done():  # a second client, before listening stopped
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
        await serve_stream(server, buffered_stream(reader))
    except ConnectionError as error:
        _logger.warning("the client disconnected: %s", error)
    finally:
        writer.close()
        server.shutdown()  # type: ignore[no-untyped-call]  # of pygls
