"""The signing endpoint and the published keys (guide: cosigning). It sees digests only."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vibes_lsp.attestation.cosigning import COSIGN_PATH, KEY_DOCUMENT_PATH
from vibes_lsp.attestation.envelope import decode_base64
from vibes_lsp.errors import VibesError
from vibes_lsp.model.members import text
from vibes_services.server.requests import (
    Access,
    UnavailableNow,
    bad_request,
    encoded_response,
    json_response,
    read_object,
)
from vibes_services.server.signing_keys import SigningKeys

_logger = logging.getLogger(__name__)

DIGEST_BYTES: Final = 32

MAX_BODY: Final = 1 << 10
"""Largest request in bytes: a digest, and nothing that could be data."""


def cosigning_routes(keys: SigningKeys, access: Access, now: Callable[[], datetime]) -> list[Route]:
    """Return the routes of a cosigning provider.

    Args:
        keys: The provider's keys.
        access: Who may have digests signed.
        now: The clock that signatures state.
    """

    async def cosign(request: Request) -> Response:
        holder = access.require(request, "cosign")
        members = await read_object(request, MAX_BODY)
        digest = parse_digest(text(members, "pae_hash") or "")
        if digest is None:
            raise bad_request("pae_hash is missing or not the base64 of 32 bytes")
        try:
            answer = keys.sign(digest, now())
        except VibesError as error:
            _logger.warning("nothing can be signed: %s", error.message)
            raise UnavailableNow("no signing key can be used now") from None
        _logger.info("signed %s for %s with %s", digest.hex(), holder.name, answer["keyid"])
        return json_response(answer)

    async def document(_request: Request) -> Response:
        try:
            body = keys.provider().document
        except VibesError as error:
            _logger.warning("the keys cannot be published: %s", error.message)
            raise UnavailableNow("the keys cannot be read now") from None
        return encoded_response(body, headers={"Cache-Control": "public, max-age=300"})

    return [
        Route(COSIGN_PATH, cosign, methods=["POST"]),
        Route(KEY_DOCUMENT_PATH, document, methods=["GET"]),
    ]


def parse_digest(value: str) -> bytes | None:
    """Return the digest in a request: base64 as the guide says, or hexadecimal as one tool sends.

    Padding and the alphabet of base64 do not matter; anything else gives None.
    """
    if len(value) == 2 * DIGEST_BYTES:
        try:
            return bytes.fromhex(value) if value.isalnum() else None
        except ValueError:
            return None
    found = decode_base64(value)
    return found if found is not None and len(found) == DIGEST_BYTES else None
