"""Entry point of `vibes-lsp`. Standard output carries nothing but the protocol."""

from __future__ import annotations

import argparse
import gc
import io
import logging
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, Final

from typing_extensions import override

from vibes_lsp import __version__

if TYPE_CHECKING:
    from vibes_lsp.lsp.server import Server

_logger = logging.getLogger(__name__)

_MAX_LINE: Final = 1000
_SWITCH_INTERVAL: Final = 2e-4
"""Seconds that a thread runs while another one waits.

The event loop waits for its turn after every file access, of which an answer has dozens. With the
default of 5 ms an answer that takes 2 ms may take 100 ms while a thread works.
"""
_NEVER: Final = 1 << 30
"""No garbage collection walks through all objects while modules are loaded, a tenth of the start.

Collections of young objects go on: without them the server would need 10 MB more.
"""
_M_ARENA_MAX: Final = -8
"""The number of this option in glibc's `malloc.h`."""


def main(arguments: list[str] | None = None) -> None:
    """Serve one client until it exits or disconnects."""
    parser = argparse.ArgumentParser(prog="vibes-lsp", description="Run the VIBES language server.")
    parser.add_argument("--version", action="version", version=f"vibes-lsp {__version__}")
    parser.add_argument(
        "--stdio", action="store_true", help="transport over standard input and output (default)"
    )
    parser.add_argument(
        "--tcp",
        metavar="HOST:PORT",
        type=_address,
        help="address to listen on for one client; port 0 for any free port",
    )
    options = parser.parse_args(arguments)
    _log_to_stderr()

    server = new_server()
    if options.tcp is None:
        from vibes_lsp.lsp.transport import serve_stdio  # noqa: PLC0415  # as above

        serve_stdio(server, sys.stdin.buffer, standard_output())
    else:
        from vibes_lsp.lsp.transport import serve_tcp  # noqa: PLC0415  # as above

        try:
            serve_tcp(server, *options.tcp)
        except OSError as error:
            host, port = options.tcp
            sys.exit(f"vibes-lsp: cannot listen on {host}:{port}: {error.strerror or error}")
    sys.exit(server.exit_code)


def new_server() -> Server:
    """Set up this process for a server, and return one."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*thresholds[:2], _NEVER)
    try:
        # Imported late: --version and --help need no server.
        from vibes_lsp.lsp.fast_protocol import FastProtocol  # noqa: PLC0415
        from vibes_lsp.lsp.lifecycle import create_server  # noqa: PLC0415

        server = create_server(freeze_heap)
    finally:
        gc.set_threshold(*thresholds)
    sys.setswitchinterval(_SWITCH_INTERVAL)
    if not isinstance(server.protocol, FastProtocol):
        _logger.info("pygls alone reads, converts and dispatches messages")
    return server


def share_heap() -> None:
    """Have all threads allocate from one heap, where the C library is glibc.

    It would give each thread its own, and each keeps what the largest task in it has needed. That
    is a sixth of the memory after a day (`benchmarks.editing_day`) and saves no time, because one
    thread runs at a time.
    """
    if sys.platform == "linux":
        # Imported late: it takes milliseconds, and the client waits until the server has started.
        import ctypes  # noqa: PLC0415

        with suppress(AttributeError, OSError):  # another C library
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def freeze_heap() -> None:
    """Exclude all current objects from garbage collection: modules, types, the index of a trail.

    Each collection would walk through them, for some hundredths of a second, while a request waits.
    Garbage since the last call is collected first. The first call collects none: there is little,
    and it would take as long. It comes before the first thread, so it also calls `share_heap`.
    """
    if gc.get_freeze_count():
        gc.collect()
    else:
        share_heap()
    gc.freeze()


def standard_output() -> BinaryIO:
    """Return standard output as a stream that writes all it is given.

    Without a buffer (`PYTHONUNBUFFERED`, as in many containers) a write may end early, and the rest
    of a large message would be lost.
    """
    stream: io.IOBase = sys.stdout.buffer  # type: ignore[assignment]  # a raw stream, then
    return io.BufferedWriter(stream) if isinstance(stream, io.RawIOBase) else sys.stdout.buffer


class _ShortLines(logging.Formatter):
    """Cuts long lines, which a message may quote from a trail, so that none fills a pipe."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(line[:_MAX_LINE] for line in super().format(record).split("\n"))


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_ShortLines("%(levelname)s %(name)s: %(message)s"))
    debug = bool(os.environ.get("VIBES_DEBUG"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("vibes_lsp").setLevel(logging.DEBUG if debug else logging.INFO)
    logging.getLogger("pygls").setLevel(
        logging.CRITICAL
    )  # it logs whole messages and tracebacks; what failed is logged by us


def _address(given: str) -> tuple[str, int]:
    host, colon, port = given.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{given!r} is not HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)
