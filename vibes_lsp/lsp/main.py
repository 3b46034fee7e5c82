"""Entry point of `vibes-lsp`: what editors start. Standard output carries nothing but the protocol."""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
from typing import BinaryIO

from typing_extensions import override

from vibes_lsp import __version__

_MAX_LINE = 1000


def main(arguments: list[str] | None = None) -> None:
    """Serve until the client says goodbye or goes away."""
    parser = argparse.ArgumentParser(
        prog="vibes-lsp", description="The VIBES language server; editors start it."
    )
    parser.add_argument("--version", action="version", version=f"vibes-lsp {__version__}")
    parser.add_argument(
        "--stdio", action="store_true", help="speak over standard input and output (the default)"
    )
    parser.add_argument(
        "--tcp",
        metavar="HOST:PORT",
        type=_address,
        help="listen for one client instead; port 0 takes a free one, and the log says which",
    )
    options = parser.parse_args(arguments)
    _log_to_stderr()

    from vibes_lsp.lsp.application import create_server  # noqa: PLC0415  # --version and --help need no server

    server = create_server()
    if options.tcp is None:
        from vibes_lsp.lsp.transport import serve_stdio  # noqa: PLC0415  # as above

        serve_stdio(server, sys.stdin.buffer, standard_output())
    else:
        from vibes_lsp.lsp.transport import serve_tcp  # noqa: PLC0415  # as above

        try:
            serve_tcp(server, *options.tcp)
        except OSError as error:
            sys.exit(
                f"vibes-lsp: cannot listen on {options.tcp[0]}:{options.tcp[1]}: {error.strerror or error}"
            )
    sys.exit(server.exit_code)


def standard_output() -> BinaryIO:
    """Return standard output as a stream that writes all it is given.

    Without a buffer (`PYTHONUNBUFFERED`, as in many containers) a write may end early: the rest of a large message would be lost.
    """
    stream: io.IOBase = sys.stdout.buffer  # type: ignore[assignment]  # a raw stream, then
    return io.BufferedWriter(stream) if isinstance(stream, io.RawIOBase) else sys.stdout.buffer


class _ShortLines(logging.Formatter):
    """Whatever a message quotes, its lines stay readable, and no client's pipe is filled by one."""

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
