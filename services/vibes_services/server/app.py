"""The ASGI application: the endpoints that a folder is set up for, behind the same checks."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from vibes_lsp.model.members import Members
from vibes_services.server.cosigning import cosigning_routes
from vibes_services.server.rate_limit import RateLimit
from vibes_services.server.registry import registry_routes
from vibes_services.server.registry_database import RegistryDatabase
from vibes_services.server.requests import Access, RefusedRequest, json_response
from vibes_services.server.signing_keys import SigningKeys
from vibes_services.server.state_files import ReloadedFile
from vibes_services.server.tokens import FILE_NAME, parse_holders

_logger = logging.getLogger(__name__)

HEALTH_PATH: Final = "/health"
RATE: Final = 60
"""Requests that a token may make in a minute, unless the operator says otherwise."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What a server offers.

    Attributes:
        folder: The folder with tokens and keys.
        cosigning: Whether it signs digests.
        database_url: The registry's database; None for no registry.
        rate: Requests that a token may make in a minute, for each of the two.
    """

    folder: Path
    cosigning: bool = False
    database_url: str | None = None
    rate: int = RATE


def _now() -> datetime:
    return datetime.now(UTC)


def create_app(settings: ServerSettings, now: Callable[[], datetime] = _now) -> ASGIApp:
    """Return the application.

    Args:
        settings: What it offers.
        now: The clock that answers state.

    Raises:
        VibesError: A file of the folder is missing or broken, or the database cannot be used.
    """
    holders = ReloadedFile(settings.folder / FILE_NAME, parse_holders)
    holders.get()
    access = Access(holders, RateLimit(settings.rate))
    routes: list[Route] = []
    if settings.cosigning:
        keys = SigningKeys(settings.folder)
        keys.provider().active(now())
        routes += cosigning_routes(keys, access, now)
    database = None if settings.database_url is None else RegistryDatabase(settings.database_url)
    if database is not None:
        routes += registry_routes(database, access, now)

    async def health(_request: Request) -> Response:
        offered: Members = {
            "status": "ok",
            "cosigning": settings.cosigning,
            "registry": database is not None,
        }
        return json_response(offered)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        if database is not None:
            database.close()

    app = Starlette(
        routes=[*routes, Route(HEALTH_PATH, health, methods=["GET"])],
        exception_handlers={
            RefusedRequest: _refused,
            HTTPException: _not_routed,
            Exception: _failed,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedRequest)  # noqa: S101  # registered for no other
    return error.response()


async def _not_routed(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  # registered for no other
    known = {404: "not-found", 405: "method-not-allowed"}
    return RefusedRequest(
        error.status_code,
        known.get(error.status_code, "bad-request"),
        error.detail,
        dict(error.headers or {}),
    ).response()


async def _failed(_request: Request, error: Exception) -> Response:
    """Answer an unexpected failure with a number that is also in the server's log."""
    number = secrets.token_hex(4)
    _logger.error("internal error %s", number, exc_info=error)
    return RefusedRequest(
        500, "internal-error", f"internal error {number}; see the server's log"
    ).response()
