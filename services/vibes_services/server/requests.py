"""What every endpoint does with a request first: who asks, how often, and a bounded JSON body."""

from __future__ import annotations

import asyncio
import logging
import math
import re
import time
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from vibes_lsp.errors import MalformedJson, VibesError
from vibes_lsp.model.canonical_json import canonical_json, parse_object
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.members import Members
from vibes_services.server.rate_limit import RateLimit
from vibes_services.server.state_files import ReloadedFile
from vibes_services.server.tokens import Scope, TokenHolder, find_holder

_logger = logging.getLogger(__name__)

BODY_TIMEOUT: Final = 10.0
"""Seconds in which a body must arrive."""

_BEARER: Final = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/=-]{1,256}) *", re.ASCII)
_QUOTED: Final = 200
_SECURITY_HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'",
}


class RefusedRequest(Exception):
    """A request that is not carried out.

    Args:
        status: The HTTP status.
        code: A stable word for programs.
        message: What is wrong and what was expected.
        headers: Further headers of the answer.
    """

    def __init__(
        self, status: int, code: str, message: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}

    def response(self) -> Response:
        """Return the answer."""
        error: Members = {"code": self.code, "message": self.message}
        return json_response({"error": error}, status=self.status, headers=self.headers)


class UnavailableNow(RefusedRequest):
    """The server cannot answer now; what it was given was not accepted."""

    def __init__(self, message: str) -> None:
        super().__init__(503, "unavailable", message, {"Retry-After": "5"})


def json_response(
    members: Members, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return an answer with a JSON object."""
    return encoded_response(canonical_json(members), status=status, headers=headers)


def encoded_response(
    body: bytes, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return an answer with JSON that is encoded already."""
    return Response(
        body,
        status,
        {**_SECURITY_HEADERS, **(headers or {})},
        media_type="application/json",
    )


class Access:
    """Checks who asks: tokens and their rates.

    Args:
        holders: The tokens that count now.
        limit: How often each may ask.
    """

    def __init__(self, holders: ReloadedFile[tuple[TokenHolder, ...]], limit: RateLimit) -> None:
        self._holders = holders
        self._limit = limit

    def require(self, request: Request, scope: Scope) -> TokenHolder:
        """Return who asks.

        Raises:
            RefusedRequest: The token is missing, unknown, not for this, or used too often.
        """
        sent = request.headers.getlist("authorization")
        match = _BEARER.fullmatch(sent[0]) if len(sent) == 1 else None
        try:
            holders = self._holders.get()
        except VibesError as error:
            _logger.warning("tokens cannot be read: %s", error.message)
            raise UnavailableNow("the tokens cannot be read now") from None
        holder = find_holder(holders, match[1]) if match else None
        if holder is None:
            raise RefusedRequest(
                401,
                "unauthorized",
                "expected one Authorization header with a valid bearer token",
                {"WWW-Authenticate": 'Bearer realm="vibes"'},
            )
        if scope not in holder.scopes:
            raise RefusedRequest(403, "forbidden", f"the token is not for the scope {scope}")
        seconds = self._limit.wait(f"{scope} {holder.name}", time.monotonic())
        if seconds:
            raise RefusedRequest(
                429,
                "too-many-requests",
                "the token is used too often",
                {"Retry-After": str(math.ceil(seconds))},
            )
        return holder


async def read_object(request: Request, limit: int) -> Members:
    """Return the JSON object in the body.

    Args:
        request: The request.
        limit: Largest body, in bytes.

    Raises:
        RefusedRequest: It has another type, is too large, too slow, or no JSON object.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedRequest(
            415, "unsupported-media-type", "expected Content-Type: application/json"
        )
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusedRequest(415, "unsupported-media-type", "expected no Content-Encoding")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > limit:
        raise _too_large(limit)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise _too_large(limit)
    except TimeoutError:
        raise RefusedRequest(
            408, "timeout", f"the body did not arrive within {BODY_TIMEOUT:g} seconds"
        ) from None
    except ClientDisconnect:
        raise RefusedRequest(400, "bad-request", "the body is incomplete") from None
    try:
        return parse_object(bytes(body), same=lambda _one, _other: False)
    except MalformedJson as error:
        raise bad_request(f"not JSON: {error.message}") from None


def bad_request(message: str) -> RefusedRequest:
    """Return the refusal of a request whose content is wrong."""
    return RefusedRequest(400, "bad-request", single_line(message, _QUOTED))


def _too_large(limit: int) -> RefusedRequest:
    return RefusedRequest(
        413,
        "too-large",
        f"expected a body of at most {limit:,} bytes",
        {"Connection": "close"},
    )
