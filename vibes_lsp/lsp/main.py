"""Entry point of `vibes-lsp`. Standard output carries nothing but the protocol."""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
from typing import BinaryIO, Final

from typing_extensions import override

from vibes_lsp import __version__, search_programs_in_path

_logger = logging.getLogger(__name__)

_MAX_LINE: Final = 1000


def main(arguments: list[str] | None = None) -> None:
    """Serve one client until it exits or disconnects."""
    search_programs_in_path()
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

    # Imported late: --version and --help need no server.
    from vibes_lsp.lsp.lifecycle import create_server  # noqa: PLC0415
    from vibes_lsp.lsp.transport import serve, serve_tcp  # noqa: PLC0415

    server = create_server()
    if options.tcp is None:
        serve(server, sys.stdin.buffer, standard_output())
    else:
        try:
            serve_tcp(server, *options.tcp)
        except OSError as error:
            host, port = options.tcp
            sys.exit(f"vibes-lsp: cannot listen on {host}:{port}: {error.strerror or error}")
    sys.exit(server.exit_code)


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


def _address(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{address!r} is not HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)
