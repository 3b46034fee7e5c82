"""Check each signature of an envelope: good, bad, or could not be checked, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from vibes_lsp.model.members import Members
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.verify.envelope import Envelope, EnvelopeSignature, SignedMessage
from vibes_lsp.verify.keys import SIGNATURE_BYTES
from vibes_lsp.verify.signing_time import signing_time
from vibes_lsp.verify.tiers import TrustTier
from vibes_lsp.verify.trusted_keys import KeyStatus, Role, TrustedKey, keys_for


class SignatureVerdict(StrEnum):
    """The result of checking one signature."""

    GOOD = "good"
    BAD = "bad"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class SignatureCheck:
    """The result for one signature.

    Attributes:
        key_id: The identifier that the signature declares.
        verdict: The result.
        reason: Why, as a sentence without a full stop.
        role: Whose key it is, if the signature is good.
        name: Who that is.
        message: What it signs, if it is good.
        signed_at: When a tool provider made it, by its own word.
    """

    key_id: str
    verdict: SignatureVerdict
    reason: str
    role: Role | None = None
    name: str = ""
    message: SignedMessage | None = None
    signed_at: datetime | None = None

    def as_json(self) -> Members:
        """Return the object of `vibes verify --json`."""
        return {
            "keyId": self.key_id,
            "verdict": self.verdict.value,
            "reason": self.reason,
            "role": self.role.value if self.role else None,
            "name": self.name or None,
            "signedMessage": self.message.value if self.message else None,
            "signedAt": format_timestamp(self.signed_at) if self.signed_at else None,
        }


def check_signatures(
    envelope: Envelope, keys: Sequence[TrustedKey], attested_at: datetime | None = None
) -> tuple[SignatureCheck, ...]:
    """Check all signatures of an envelope.

    Args:
        envelope: The envelope.
        keys: The known keys. Who signed follows from the key alone, never from the envelope.
        attested_at: When the statement says that it was signed, for keys of limited validity.
    """
    users = {each.key for each in keys if each.role is Role.USER}
    # One key is one witness: a user's key does not corroborate itself as a provider's.
    counted = [each for each in keys if each.role is Role.USER or each.key not in users]
    return tuple(_check(envelope, each, counted, attested_at) for each in envelope.signatures)


def trust_tier(checks: Sequence[SignatureCheck]) -> TrustTier:
    """Return the tier that the good signatures give."""
    roles = {each.role for each in checks if each.verdict is SignatureVerdict.GOOD}
    if {Role.USER, Role.TOOL_PROVIDER} <= roles:
        return TrustTier.TOOL_CORROBORATED
    if Role.USER in roles:
        return TrustTier.SELF_ATTESTED
    return TrustTier.TOOL_ONLY if Role.TOOL_PROVIDER in roles else TrustTier.NONE


def _check(
    envelope: Envelope,
    signature: EnvelopeSignature,
    keys: Sequence[TrustedKey],
    attested_at: datetime | None,
) -> SignatureCheck:
    key_id = signature.key_id
    if len(signature.signature) != SIGNATURE_BYTES:
        reason = f"{len(signature.signature)} bytes, expected the {SIGNATURE_BYTES} of Ed25519"
        return SignatureCheck(key_id, SignatureVerdict.BAD, reason)
    if not key_id:
        return SignatureCheck(key_id, SignatureVerdict.UNCHECKED, "it names no key (RFC 11.1)")
    candidates = keys_for(keys, key_id)
    if not candidates:
        reason = "no public key with this id is known" if keys else "no public key is known"
        return SignatureCheck(key_id, SignatureVerdict.UNCHECKED, reason)
    for key in candidates:
        for message, signed in envelope.messages():
            if message is SignedMessage.DIGEST and key.role is not Role.TOOL_PROVIDER:
                continue  # only a cosigner signs a digest alone (R25)
            if key.key.verifies(signature.signature, signed):
                signed_at = (
                    signing_time(envelope, signature, key.key)
                    if key.role is Role.TOOL_PROVIDER
                    else None
                )
                return _by(key, key_id, message, attested_at, signed_at)
    return SignatureCheck(
        key_id, SignatureVerdict.BAD, f"not made over this payload by {_who(candidates)}"
    )


def _by(
    key: TrustedKey,
    key_id: str,
    message: SignedMessage,
    attested_at: datetime | None,
    signed_at: datetime | None,
) -> SignatureCheck:
    """Return the result for a signature that a key made."""
    problem = _validity_problem(key, signed_at or attested_at)
    if problem:
        return SignatureCheck(key_id, SignatureVerdict.BAD, problem, name=key.name)
    return SignatureCheck(
        key_id,
        SignatureVerdict.GOOD,
        f"made by {_who([key])}",
        key.role,
        key.name,
        message,
        signed_at,
    )


def _validity_problem(key: TrustedKey, at: datetime | None) -> str:
    if key.status is KeyStatus.REVOKED:
        return f"the key of {_who([key])} is revoked"
    if key.valid_from is None and key.valid_until is None:
        return ""
    if at is None:
        return "the key is valid for a limited time, and the statement says no time"
    if key.valid_from is not None and at < key.valid_from:
        return f"the key is valid from {key.valid_from:%Y-%m-%d} only"
    if key.valid_until is not None and at > key.valid_until:
        return f"the key was valid until {key.valid_until:%Y-%m-%d} only"
    return ""


def _who(keys: Sequence[TrustedKey]) -> str:
    return " or ".join(each.name or each.declared_id for each in keys)
