"""Cosignatures of tool providers (guide: cosigning; R25): ask for one, or make it here.

An endpoint gets the 32-byte digest of the envelope's encoding, signs it, and says when
(`attestation.signing_time`).
"""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Final

from vibes_lsp.attestation.envelope import COSIGNER, Envelope, EnvelopeSignature, encode_base64url
from vibes_lsp.attestation.http_client import ask, ask_json
from vibes_lsp.attestation.keys import Signer
from vibes_lsp.attestation.signing_time import signature_member, time_message
from vibes_lsp.attestation.trusted_keys import (
    MAX_KEY_ID,
    Role,
    TrustedKey,
    parse_trusted_key,
)
from vibes_lsp.errors import BadKey, MalformedJson, ServiceFailure
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.timestamps import format_timestamp

COSIGN_PATH: Final = "/api/vibes/cosign"
KEY_DOCUMENT_PATH: Final = "/vibes/vibes-signing-keys.json"

MAX_KEY_DOCUMENT: Final = 256 << 10
_MAX_ANSWER: Final = 16 << 10
_MAX_NAME: Final = 200
_MAX_KEYS: Final = 200


def request_cosignature(url: str, envelope: Envelope, token: str | None) -> EnvelopeSignature:
    """Ask a signing endpoint for its signature; it gets only the digest.

    Args:
        url: The endpoint.
        envelope: What to sign; other signatures on it do not matter.
        token: The bearer token.

    Raises:
        VibesError: The URL may not be asked.
        ServiceFailure: The endpoint refused, or its answer is incomplete.
    """
    digest = base64.standard_b64encode(envelope.pae_digest).decode()
    answer = ask_json(url, members={"pae_hash": digest}, token=token, limit=_MAX_ANSWER)
    key_id = text(answer, "keyid") or ""
    signature = signature_member(answer, "sig")
    if not key_id or len(key_id) > MAX_KEY_ID or signature is None:
        raise ServiceFailure(
            "the endpoint's answer has no key id or no Ed25519 signature",
            hint="expected keyid and sig; check the URL",
        )
    names = ("provider_name", "tool_name", "signed_at", "time_sig")
    members: Members = {"keytype": COSIGNER}
    for name in names:
        value = text(answer, name)
        if value is not None and len(value) <= _MAX_NAME:
            members[name] = value
    return EnvelopeSignature(key_id, signature, members)


def cosign(
    envelope: Envelope, key: Signer, now: datetime, *, key_id: str | None = None
) -> EnvelopeSignature:
    """Cosign with a provider's key on this machine, over the whole encoding.

    Args:
        envelope: What to sign.
        key: The provider's key.
        now: The time of signing.
        key_id: The identifier that the provider published the key under; by default the key's own.
    """
    signed_at = format_timestamp(now)
    members: Members = {
        "keytype": COSIGNER,
        "signed_at": signed_at,
        "time_sig": encode_base64url(key.sign(time_message(envelope.pae_digest, signed_at))),
    }
    return EnvelopeSignature(key_id or key.key_id, key.sign(envelope.pae), members)


def fetch_key_document(url: str) -> tuple[TrustedKey, ...]:
    """Return the keys that a provider publishes; the caller decides whether to trust them.

    Raises:
        VibesError: The URL may not be asked.
        ServiceFailure: There is no answer, or no document.
        BadKey: The document cannot be used.
    """
    answer = ask(url, headers={"Accept": "application/json"}, limit=MAX_KEY_DOCUMENT)
    if answer.status != 200:
        raise ServiceFailure(
            f"no key document there: status {answer.status}",
            hint=f"providers publish it at {KEY_DOCUMENT_PATH}",
            status=answer.status,
        )
    return parse_key_document(answer.body)


def parse_key_document(document: bytes) -> tuple[TrustedKey, ...]:
    """Return the keys of a provider's key document, retired ones included.

    Raises:
        BadKey: It is no such document, or one of its keys cannot be used.
    """
    try:
        members = parse_object(document)
    except MalformedJson as error:
        raise BadKey(f"the key document is not JSON: {error.message}") from None
    keys, provider = members.get("keys"), text(members, "provider")
    if not isinstance(keys, list) or len(keys) > _MAX_KEYS or not provider:
        raise BadKey(
            "the key document has no provider or no keys",
            hint=f"expected the members provider and keys, at most {_MAX_KEYS}",
        )
    tool = text(members, "tool_name")
    name = f"{provider} ({tool})" if tool and tool != provider else provider
    parsed_keys = []
    for place, value in enumerate(keys):
        entry = value if isinstance(value, dict) else {}
        about = {**entry, "role": Role.TOOL_PROVIDER.value, "name": name[:_MAX_NAME]}
        parsed_keys.append(parse_trusted_key(about, f"keys[{place}]"))
    return tuple(parsed_keys)
