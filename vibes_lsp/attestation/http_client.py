"""One HTTP request to a service that the user named, with every bound that a stranger needs.

Certificates are verified, redirects refused, sizes and the whole time limited. Plain HTTP goes to
this machine only. httpx2 is imported late: only these commands need it.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from vibes_lsp.errors import MalformedJson, ServiceFailure, VibesError
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.members import Members, mapping, text
from vibes_lsp.patience import SERVICE

MAX_ANSWER: Final = 1 << 20
"""Largest answer that is read, in bytes."""

_MAX_URL: Final = 2000
_QUOTED: Final = 200
_OK: Final = frozenset({200, 201})


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What a service answered.

    Attributes:
        status: The HTTP status.
        body: The body, decoded by no content coding.
    """

    status: int
    body: bytes


def check_url(url: str) -> str:
    """Return a URL that may be asked: HTTPS, or HTTP on this machine, without credentials.

    Raises:
        VibesError: It is another one.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port  # raises for a port that is no number
    except ValueError:
        host, parts = "", urlsplit("")
    if not host or len(url) > _MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise VibesError(f"{single_line(url, _QUOTED)!r} is not a URL such as https://example.org")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise VibesError("the URL has a user name, a password or a fragment: remove it")
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)):
        return url
    raise VibesError(
        f"{single_line(url, _QUOTED)!r} is not an https URL",
        hint="plain http is allowed for this machine only, such as http://127.0.0.1:8000",
    )


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def ask(
    url: str,
    *,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    limit: int = MAX_ANSWER,
) -> HttpAnswer:
    """Make one request, `POST` if there is a body and `GET` if not; return any answer to it.

    Raises:
        VibesError: The URL may not be asked.
        ServiceFailure: No connection, no valid certificate, a redirect, or an answer that is too
            large or too slow.
    """
    check_url(url)
    seconds = SERVICE.limit
    try:
        return asyncio.run(_ask(url, body, dict(headers or {}), limit, seconds))
    except TimeoutError:
        raise ServiceFailure(
            f"{_host(url)} did not answer within {seconds:g} seconds", hint="try again later"
        ) from None


def ask_json(
    url: str,
    *,
    members: Members | None = None,
    token: str | None = None,
    limit: int = MAX_ANSWER,
) -> Members:
    """Make one request whose body and answer are JSON objects; return the answer's.

    Args:
        url: The address.
        members: The body; None for a `GET` request.
        token: The bearer token to send, if the service wants one.
        limit: Largest answer, in bytes.

    Raises:
        VibesError: The URL may not be asked, or the token cannot be sent.
        ServiceFailure: As for `ask`, or the service refused or its answer is no object.
    """
    import json  # noqa: PLC0415  # as httpx2

    headers = {"Accept": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    body = None
    if members is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(members).encode()
    answer = ask(url, body=body, headers=headers, limit=limit)
    try:
        document = parse_object(answer.body)
    except MalformedJson as error:
        if answer.status in _OK:
            raise ServiceFailure(
                f"{_host(url)} gave no usable answer: {error.message}",
                hint="expected JSON; check the URL",
                status=answer.status,
            ) from None
        document = {}
    if answer.status not in _OK:
        raise _refusal(url, answer.status, document)
    return document


def read_token(value: str) -> str:
    """Return a token that can be sent in a header, without white space around it.

    Raises:
        VibesError: It is empty or has other characters than tokens have.
    """
    token = value.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise VibesError("the token is empty or has characters that no token has")
    return token


async def _ask(
    url: str, body: bytes | None, headers: dict[str, str], limit: int, seconds: float
) -> HttpAnswer:
    import httpx2  # noqa: PLC0415  # slow to import

    # Plain HTTP goes to this machine, never through a proxy, which would be another one.
    client = httpx2.AsyncClient(
        follow_redirects=False, timeout=seconds, trust_env=urlsplit(url).scheme == "https"
    )
    request = client.build_request(
        "GET" if body is None else "POST",
        url,
        content=body,
        headers={"User-Agent": "vibes", "Accept-Encoding": "identity", **headers},
    )
    try:
        async with asyncio.timeout(seconds), client:
            response = await client.send(request, stream=True)
            if response.is_redirect:
                raise ServiceFailure(
                    f"{_host(url)} redirects to another address, which is not followed",
                    hint="give the final URL",
                    status=response.status_code,
                )
            content = bytearray()
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > limit:
                    raise ServiceFailure(
                        f"{_host(url)} answers with more than {limit:,} bytes",
                        hint="check the URL",
                        status=response.status_code,
                    )
            return HttpAnswer(response.status_code, bytes(content))
    except (httpx2.TimeoutException, TimeoutError):
        raise TimeoutError from None
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
        raise ServiceFailure(
            f"{_host(url)} cannot be asked: {single_line(error, _QUOTED) or type(error).__name__}",
            hint="check the URL and the connection",
        ) from None


def _refusal(url: str, status: int, members: Members) -> ServiceFailure:
    reason = text(mapping(members, "error"), "message") or "without a reason"
    hints = {
        401: "check the token",
        403: "check what the token allows",
        429: "try again later",
        503: "try again later",
    }
    return ServiceFailure(
        f"{_host(url)} refused the request with status {status}: {single_line(reason, _QUOTED)}",
        hint=hints.get(status, "check the URL"),
        status=status,
    )


def _host(url: str) -> str:
    return urlsplit(url).netloc
