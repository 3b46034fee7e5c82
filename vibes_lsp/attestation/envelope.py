"""DSSE envelopes (RFC 11.1, R23): parse, sign, and say what exactly a signature is over.

securesystemslib makes the pre-authentication encoding. What is read is untrusted: bounded, and
parsed strictly.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

import securesystemslib.dsse

from vibes_lsp.attestation.keys import Signer
from vibes_lsp.errors import BadEnvelope, MalformedJson
from vibes_lsp.model.canonical_json import canonical_json, parse_object
from vibes_lsp.model.members import JsonValue, Members

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"

COSIGNER: Final = "tool_provider"
"""The `keytype` of a tool provider's signature."""

MAX_ENVELOPE: Final = 4 << 20
"""Largest envelope that is read, in bytes."""

MAX_SIGNATURES: Final = 64
"""Most signatures of one envelope."""


class SignedMessage(StrEnum):
    """The message that a signature is over.

    Attributes:
        PAYLOAD: The encoding (PAE) of the payload, as DSSE says.
        PAYLOAD_TEXT: The encoding of the payload's base64url text, which one tool signs (R23).
        DIGEST: SHA-256 of the encoding of the payload, which is all a cosigner sees (R25).
    """

    PAYLOAD = "payload"
    PAYLOAD_TEXT = "payload-text"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True)
class EnvelopeSignature:
    """One signature of an envelope.

    Attributes:
        key_id: The identifier of the key as declared, which no signature covers; may be empty.
        signature: Its bytes.
        members: All members of the object that was read.
    """

    key_id: str
    signature: bytes
    members: Members = field(default_factory=dict, repr=False)

    @property
    def is_cosignature(self) -> bool:
        """Whether it says that a tool provider made it."""
        return self.members.get("keytype") == COSIGNER

    def as_json(self) -> Members:
        """Return the object as it was read, or as we write it."""
        sig = base64.standard_b64encode(self.signature).decode()
        return {"keyid": self.key_id, "sig": sig, **self.members}


@dataclass(frozen=True, slots=True)
class Envelope:
    """A payload with signatures.

    Attributes:
        payload: The signed bytes.
        payload_type: What the payload is.
        signatures: In the order of the envelope.
        members: All members of the object that was read; empty for a new envelope.
    """

    payload: bytes
    payload_type: str = PAYLOAD_TYPE
    signatures: tuple[EnvelopeSignature, ...] = ()
    members: Members = field(default_factory=dict, repr=False)

    @property
    def pae(self) -> bytes:
        """The pre-authentication encoding of the payload: what a signer signs."""
        return _pae(self.payload_type, self.payload)

    @property
    def pae_digest(self) -> bytes:
        """SHA-256 of the encoding: what a cosigning service gets and signs (R25)."""
        return hashlib.sha256(self.pae).digest()

    def messages(self) -> Iterator[tuple[SignedMessage, bytes]]:
        """Yield what a signature may be over, in the order to try."""
        yield SignedMessage.PAYLOAD, self.pae
        text = base64.urlsafe_b64encode(self.payload).rstrip(b"=")
        yield SignedMessage.PAYLOAD_TEXT, _pae(self.payload_type, text)
        yield SignedMessage.DIGEST, self.pae_digest

    def signed_by(self, signer: Signer) -> Envelope:
        """Return the envelope with one more signature, over the payload.

        Raises:
            VibesError: The signer cannot sign.
        """
        return self.with_signature(EnvelopeSignature(signer.key_id, signer.sign(self.pae)))

    def with_signature(self, signature: EnvelopeSignature) -> Envelope:
        """Return the envelope with one more signature; one of the same key is replaced.

        A cosignature never replaces a user's signature, nor the other way round: a provider chooses
        the identifier that it declares.
        """
        others = tuple(
            existing
            for existing in self.signatures
            if (existing.key_id, existing.is_cosignature)
            != (signature.key_id, signature.is_cosignature)
        )
        return replace(self, signatures=(*others, signature))

    def as_json(self) -> Members:
        """Return the envelope as a JSON object; members that were read are as they were."""
        return {
            "payloadType": self.payload_type,
            "payload": base64.standard_b64encode(self.payload).decode(),
            **self.members,
            "signatures": [signature.as_json() for signature in self.signatures],
        }

    def encode(self) -> bytes:
        """Return the text of the file: canonical JSON and a line end."""
        return canonical_json(self.as_json()) + b"\n"

    @property
    def attestation_id(self) -> str:
        """The content-derived identifier (RFC 11.4): SHA-256 of the envelope's canonical JSON.

        White space and the order of members do not change it; one more signature does.
        """
        return hashlib.sha256(canonical_json(self.as_json())).hexdigest()


def parse_envelope(content: bytes) -> Envelope:
    """Read an envelope; a file of JSON lines must hold one.

    Raises:
        BadEnvelope: It is too large, no JSON, has a member twice, or a member is missing or has the
            wrong type.
    """
    if len(content) > MAX_ENVELOPE:
        raise BadEnvelope(f"too large: {len(content):,} bytes, expected at most {MAX_ENVELOPE:,}")
    try:
        members = parse_object(content, same=lambda _one, _other: False)
    except MalformedJson as error:
        raise BadEnvelope(error.message) from None
    payload_type, signatures = members.get("payloadType"), members.get("signatures")
    if not isinstance(payload_type, str):
        raise BadEnvelope("payloadType is missing or not a string")
    if not isinstance(signatures, list) or not signatures:
        raise BadEnvelope("signatures is missing, empty or no list")
    if len(signatures) > MAX_SIGNATURES:
        raise BadEnvelope(f"{len(signatures):,} signatures, expected at most {MAX_SIGNATURES}")
    return Envelope(
        payload=_base64(members.get("payload"), "payload"),
        payload_type=payload_type,
        signatures=tuple(
            _signature(signature, f"signatures[{number}]")
            for number, signature in enumerate(signatures)
        ),
        members=members,
    )


def _signature(value: JsonValue, name: str) -> EnvelopeSignature:
    if not isinstance(value, dict):
        raise BadEnvelope(f"{name} is not an object")
    key_id = value.get("keyid")
    if key_id is not None and not isinstance(key_id, str):
        raise BadEnvelope(f"{name}.keyid is not a string")
    return EnvelopeSignature(key_id or "", _base64(value.get("sig"), f"{name}.sig"), value)


def _base64(value: JsonValue, name: str) -> bytes:
    """Decode a member in base64, with no bits that are not used.

    Raises:
        BadEnvelope: It is missing, or not base64.
    """
    if not isinstance(value, str):
        raise BadEnvelope(f"{name} is missing or not a string")
    decoded = decode_base64(value)
    if decoded is None:
        raise BadEnvelope(f"{name} is not base64")
    plain = value.replace("-", "+").replace("_", "/").rstrip("=")
    if base64.standard_b64encode(decoded).decode().rstrip("=") != plain:
        raise BadEnvelope(f"{name} is not base64: it has unused bits")
    return decoded


def decode_base64(value: str) -> bytes | None:
    """Decode standard or URL-safe base64, with or without padding; None for anything else."""
    plain = value.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def encode_base64url(content: bytes) -> str:
    """Encode as URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _pae(payload_type: str, payload: bytes) -> bytes:
    return securesystemslib.dsse.Envelope(payload, payload_type, {}).pae()
