"""Serving one client over TCP; the library would let a second one take over the first one's session, and keep the port to itself."""

from __future__ import annotations

import asyncio
import logging

from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.transport import converse, stream_of

_logger = logging.getLogger(__name__)


def serve_tcp(server: Server, host: str, port: int) -> None:
    """Wait for one client and serve it to its end; log the address, whose port the system chooses when it is given as 0.

    Raises:
        OSError: The address cannot be listened on.
        SystemExit: The client said `exit`.
    """
    asyncio.run(_serve(server, host, port))


async def _serve(server: Server, host: str, port: int) -> None:
    arrived: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.get_running_loop().create_future()

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
