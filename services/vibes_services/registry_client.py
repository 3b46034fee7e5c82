"""Client of a registry (RFC 11.4): submit an attestation, find what others submitted.

A registry is not trusted: an envelope counts only if its content has the id that was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from vibes_lsp.attestation.envelope import MAX_ENVELOPE, Envelope, parse_envelope
from vibes_lsp.attestation.http_client import ask_json, check_url
from vibes_lsp.attestation.keys import PublicKey
from vibes_lsp.errors import BadEnvelope, ServiceFailure
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.members import JsonValue, Members, mapping, text
from vibes_lsp.model.timestamps import parse_timestamp

SUBMIT_PATH: Final = "/api/attestation/submit"
FIND_PATH: Final = "/api/attestations"
MAX_RESULTS: Final = 100
"""Most attestations in one answer."""

_MAX_ANSWER: Final = 2 * MAX_ENVELOPE


@dataclass(frozen=True, slots=True)
class RegisteredSignature:
    """A signature as a registry lists it.

    Attributes:
        key_id: The identifier that it declares.
        verified: Whether the registry got a public key with this identifier that verifies it.
    """

    key_id: str
    verified: bool


@dataclass(frozen=True, slots=True)
class Registered:
    """An attestation as a registry lists it.

    Attributes:
        attestation_id: Its identifier.
        received_at: When the registry received it, by its word.
        project: The name that its statement has.
        signatures: Its signatures.
    """

    attestation_id: str
    received_at: str
    project: str | None
    signatures: tuple[RegisteredSignature, ...]

    def as_json(self) -> Members:
        """Return the object of `vibes registry --json`."""
        return {
            "attestationId": self.attestation_id,
            "receivedAt": self.received_at,
            "project": self.project,
            "signatures": [
                {"keyId": each.key_id, "verified": each.verified} for each in self.signatures
            ],
        }


def submit(
    registry: str, envelope: Envelope, token: str | None, keys: Sequence[PublicKey] = ()
) -> Registered:
    """Submit an attestation; submitting it again changes nothing.

    Args:
        registry: The registry's URL, without a path of its interface.
        envelope: The attestation.
        token: The bearer token.
        keys: Public keys of its signatures, so that the registry can verify them.

    Raises:
        VibesError: The URL may not be asked.
        ServiceFailure: The registry refused, or acknowledged something else.
    """
    pems: list[JsonValue] = [each.pem for each in keys]
    request: Members = {
        "attestation_id": envelope.attestation_id,
        "envelope": envelope.as_json(),
        "public_keys": pems,
    }
    answer = ask_json(_address(registry, SUBMIT_PATH), members=request, token=token)
    found = _registered(answer)
    if found is None or found.attestation_id != envelope.attestation_id:
        raise ServiceFailure(
            "the registry did not acknowledge this attestation", hint="check the URL"
        )
    return found


def fetch(registry: str, attestation_id: str) -> tuple[Registered, Envelope]:
    """Return an attestation by its identifier.

    Raises:
        VibesError: The URL may not be asked.
        ServiceFailure: The registry has none, or gave another one.
    """
    path = f"{FIND_PATH}/{quote(attestation_id, safe='')}"
    answer = ask_json(_address(registry, path), limit=_MAX_ANSWER)
    found = _registered(answer)
    try:
        envelope = parse_envelope(canonical_json(mapping(answer, "envelope")))
    except BadEnvelope as error:
        raise ServiceFailure(f"the registry gave no envelope: {error.message}") from None
    if found is None or envelope.attestation_id != attestation_id:
        raise ServiceFailure(
            "the registry gave an envelope with another id",
            hint="do not trust this registry: the id is the digest of the envelope",
        )
    return found, envelope


def received_at(registry: str, attestation_id: str) -> datetime | None:
    """Return when a registry received an attestation, by its word; for `vibes verify --registry`.

    Raises:
        VibesError: The URL may not be asked.
        ServiceFailure: The registry has none, or gave another one.
    """
    entry, _ = fetch(registry, attestation_id)
    return parse_timestamp(entry.received_at)


def find(
    registry: str, *, key_id: str | None = None, project: str | None = None, limit: int = 20
) -> list[Registered]:
    """Return what a registry lists, the newest first.

    Args:
        registry: The registry's URL.
        key_id: Only attestations with a signature that declares this identifier.
        project: Only those of this project.
        limit: How many at most.

    Raises:
        VibesError: The URL may not be asked.
        ServiceFailure: The registry refused, or its answer cannot be used.
    """
    found: list[Registered] = []
    before: str | None = None
    while len(found) < limit:
        wanted = {
            "keyid": key_id,
            "project": project,
            "before": before,
            "limit": str(min(limit - len(found), MAX_RESULTS)),
        }
        query = urlencode({name: value for name, value in wanted.items() if value is not None})
        answer = ask_json(f"{_address(registry, FIND_PATH)}?{query}")
        listed = answer.get("attestations")
        page = [_registered(each) for each in listed] if isinstance(listed, list) else [None]
        found += [each for each in page if each is not None]
        if None in page:
            raise ServiceFailure("the registry's answer cannot be used", hint="check the URL")
        following = text(answer, "next")
        if not page or following is None or following == before:
            break
        before = following
    return found[:limit]


def _registered(value: JsonValue) -> Registered | None:
    members = value if isinstance(value, dict) else {}
    attestation_id, received_at = text(members, "attestation_id"), text(members, "received_at")
    signatures = members.get("signatures")
    if attestation_id is None or received_at is None or not isinstance(signatures, list):
        return None
    return Registered(
        attestation_id,
        received_at,
        text(members, "project"),
        tuple(
            RegisteredSignature(text(each, "keyid") or "", each.get("verified") is True)
            for each in signatures
            if isinstance(each, dict)
        ),
    )


def _address(registry: str, path: str) -> str:
    parts = urlsplit(check_url(registry))
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + path, "", ""))
