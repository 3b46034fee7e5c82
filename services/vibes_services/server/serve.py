"""Runs the application: addresses, TLS, and limits of uvicorn."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn

from vibes_lsp.attestation.http_client import is_loopback
from vibes_lsp.errors import VibesError
from vibes_services.server.app import ServerSettings, create_app

MAX_CONNECTIONS: Final = 512
"""More connections are answered with status 503."""
_MAX_HEAD: Final = 16 << 10
_KEEP_ALIVE: Final = 5
_GRACE: Final = 20
"""Seconds in which requests may end after the server is asked to stop."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens.

    Attributes:
        host: The address.
        port: The port; 0 for any that is free.
        certificate: The TLS certificate chain as PEM; None for plain HTTP.
        private_key: The key of the certificate.
        behind_proxy: Whether a proxy in front of it ends TLS.
    """

    host: str
    port: int
    certificate: Path | None = None
    private_key: Path | None = None
    behind_proxy: bool = False

    def check(self) -> None:
        """Refuse to offer tokens and signatures without TLS to other machines.

        Raises:
            VibesError: The address needs a certificate.
        """
        if self.certificate is None and not is_loopback(self.host) and not self.behind_proxy:
            raise VibesError(
                f"{self.host} is not this machine, and there is no TLS certificate",
                hint="give --certificate and --private-key, or --behind-proxy if a proxy ends TLS",
            )


def serve(settings: ServerSettings, address: Address) -> None:
    """Serve until the process is asked to stop; requests that were accepted are finished.

    Raises:
        VibesError: The folder or database cannot be used, or the address needs TLS.
    """
    address.check()
    app = create_app(settings)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    config = uvicorn.Config(
        app,
        host=address.host,
        port=address.port,
        http="h11",  # the strictest parser that it has
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
        h11_max_incomplete_event_size=_MAX_HEAD,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.private_key,
    )
    uvicorn.Server(config).run()
