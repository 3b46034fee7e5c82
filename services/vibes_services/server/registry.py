"""The registry's endpoints: submit an attestation; find attestations by id, key and project."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vibes_lsp.attestation.envelope import Envelope, parse_envelope
from vibes_lsp.attestation.keys import PublicKey, parse_public_key
from vibes_lsp.attestation.statement import parse_statement
from vibes_lsp.errors import BadEnvelope, BadKey
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.members import Members, texts
from vibes_lsp.model.timestamps import format_timestamp
from vibes_services.registry_client import FIND_PATH, MAX_RESULTS, SUBMIT_PATH, RegisteredSignature
from vibes_services.server.registry_database import (
    CONNECTIONS,
    MAX_NAME,
    DatabaseDown,
    RegistryDatabase,
    RegistryEntry,
    Submission,
)
from vibes_services.server.requests import (
    Access,
    RefusedRequest,
    UnavailableNow,
    bad_request,
    encoded_response,
    json_response,
    read_object,
)

_logger = logging.getLogger(__name__)

MAX_BODY: Final = 1 << 20
"""Largest submission in bytes; an attestation of three files has about 2,000."""

_MAX_KEYS: Final = 64
_ID: Final = re.compile(r"[0-9a-f]{64}")
_NUMBER: Final = re.compile(r"[0-9]{1,18}")

_T = TypeVar("_T")


def registry_routes(
    database: RegistryDatabase, access: Access, now: Callable[[], datetime]
) -> list[Route]:
    """Return the routes of a registry.

    Args:
        database: Where attestations are stored.
        access: Who may submit.
        now: The clock that says when an attestation was received.
    """
    threads = ThreadPoolExecutor(CONNECTIONS, "database")

    async def in_thread(call: Callable[[], _T]) -> _T:
        try:
            return await asyncio.get_running_loop().run_in_executor(threads, call)
        except DatabaseDown as error:
            _logger.warning("the database failed: %s", error.message)
            raise UnavailableNow("the database cannot be used now") from None

    async def submit(request: Request) -> Response:
        holder = access.require(request, "register")
        members = await read_object(request, MAX_BODY)
        submission = parse_submission(members, format_timestamp(now()), holder.name)
        entry, is_new = await in_thread(partial(database.add, submission))
        return json_response(_listed(entry), status=201 if is_new else 200)

    async def by_id(request: Request) -> Response:
        attestation_id = request.path_params["attestation_id"]
        if not _ID.fullmatch(attestation_id):
            raise bad_request("the id is not 64 hexadecimal digits in lower case")
        found = await in_thread(partial(database.envelope, attestation_id))
        if found is None:
            raise RefusedRequest(404, "not-found", "no attestation has this id")
        entry, envelope = found
        about = canonical_json(_listed(entry))
        # The envelope goes out as it is stored: its SHA-256 is the id.
        body = about[:-1] + b',"envelope":' + envelope.encode() + b"}"
        return encoded_response(body)

    async def find(request: Request) -> Response:
        query = _Query.of(request)
        entries = await in_thread(
            lambda: database.find(
                key_id=query.key_id,
                project=query.project,
                before=query.before,
                limit=query.limit + 1,
            )
        )
        shown = entries[: query.limit]
        more = str(shown[-1].number) if len(entries) > query.limit else None
        return json_response({"attestations": [_listed(each) for each in shown], "next": more})

    return [
        Route(SUBMIT_PATH, submit, methods=["POST"]),
        Route(FIND_PATH, find, methods=["GET"]),
        Route(FIND_PATH + "/{attestation_id}", by_id, methods=["GET"]),
    ]


def parse_submission(members: Members, received_at: str, submitter: str) -> Submission:
    """Return what to store of a submission.

    Args:
        members: The request: an envelope, and if wanted its id and public keys.
        received_at: When it arrived.
        submitter: Whose token it came with.

    Raises:
        RefusedRequest: The envelope is no attestation of VIBES, or its id is another one.
    """
    value = members.get("envelope")
    if not isinstance(value, dict):
        raise bad_request("envelope is missing or no object")
    try:
        envelope = parse_envelope(canonical_json(value))
        statement = parse_statement(envelope)
        keys = [
            parse_public_key(each.encode()) for each in texts(members, "public_keys")[:_MAX_KEYS]
        ]
    except (BadEnvelope, BadKey) as error:
        raise bad_request(error.message) from None
    except UnicodeEncodeError:
        raise bad_request("public_keys has a character that is not Unicode text") from None
    stated = members.get("attestation_id")
    if stated is not None and stated != envelope.attestation_id:
        raise RefusedRequest(
            422, "wrong-id", f"the id of this envelope is {envelope.attestation_id}"
        )
    for signature in envelope.signatures:
        if not _is_name(signature.key_id):
            raise bad_request(f"each keyid must have 1 to {MAX_NAME} printable characters")
    if statement.project is not None and not _is_name(statement.project):
        raise bad_request(f"the project's name must have 1 to {MAX_NAME} printable characters")
    return Submission(
        attestation_id=envelope.attestation_id,
        received_at=received_at,
        submitter=submitter,
        project=statement.project,
        envelope=canonical_json(envelope.as_json()).decode(),
        signatures=_signatures(envelope, keys),
    )


@dataclass(frozen=True, slots=True)
class _Query:
    """The parameters of a search, each given once at most."""

    key_id: str | None
    project: str | None
    before: int | None
    limit: int

    @classmethod
    def of(cls, request: Request) -> _Query:
        """Return the parameters of a request.

        Raises:
            RefusedRequest: A parameter is unknown, repeated or has a wrong value.
        """
        given = request.query_params.multi_items()
        values = dict(given)
        unknown = set(values) - {"keyid", "project", "before", "limit"}
        if unknown or len(values) != len(given):
            raise bad_request("expected keyid, project, before and limit, each once at most")
        for name in ("keyid", "project"):
            if name in values and not _is_name(values[name]):
                raise bad_request(f"{name} must have 1 to {MAX_NAME} printable characters")
        for name in ("before", "limit"):
            if name in values and not _NUMBER.fullmatch(values[name]):
                raise bad_request(f"{name} is not a number")
        limit = int(values.get("limit", MAX_RESULTS))
        if not 1 <= limit <= MAX_RESULTS:
            raise bad_request(f"limit must be 1 to {MAX_RESULTS}")
        before = int(values["before"]) if "before" in values else None
        return cls(values.get("keyid"), values.get("project"), before, limit)


def _signatures(envelope: Envelope, keys: list[PublicKey]) -> tuple[RegisteredSignature, ...]:
    """Return the signatures; verified are those of a key whose own id they declare."""
    by_id = {key.key_id: key for key in keys}
    messages = [message for _, message in envelope.messages()]
    return tuple(
        RegisteredSignature(
            each.key_id,
            each.key_id in by_id
            and any(by_id[each.key_id].verifies(each.signature, message) for message in messages),
        )
        for each in envelope.signatures
    )


def _listed(entry: RegistryEntry) -> Members:
    return {
        "attestation_id": entry.attestation_id,
        "received_at": entry.received_at,
        "project": entry.project,
        "signatures": [
            {"keyid": each.key_id, "verified": each.verified} for each in entry.signatures
        ],
    }


def _is_name(value: str) -> bool:
    return 1 <= len(value) <= MAX_NAME and value.isprintable()
