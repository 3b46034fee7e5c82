"""Check each signature of an envelope: good, bad, or could not be checked, and why.

A key that is not valid any more may have been stolen since, and a thief can state any time. So its
signatures count only if another party shows that they are older.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from vibes_lsp.attestation.envelope import Envelope, EnvelopeSignature, SignedMessage
from vibes_lsp.attestation.keys import SIGNATURE_BYTES
from vibes_lsp.attestation.signing_time import signing_time
from vibes_lsp.attestation.statement import CLOCK_TOLERANCE
from vibes_lsp.attestation.tiers import TrustTier
from vibes_lsp.attestation.trusted_keys import KeyStatus, Role, TrustedKey, keys_for
from vibes_lsp.model.members import Members
from vibes_lsp.model.timestamps import format_timestamp


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


@dataclass(frozen=True, slots=True)
class IndependentTime:
    """A time at which an envelope existed, by the word of a party other than its signer.

    Attributes:
        moment: The time.
        source: Who says so, such as `Bitcoin block 900000`.
    """

    moment: datetime
    source: str


@dataclass(frozen=True, slots=True)
class SignatureTimes:
    """What is known about when the signatures of an envelope were made.

    Attributes:
        now: The current time.
        attested_at: When the statement says that it was signed; the signer's word.
        independent: Times at which it existed, by the word of others.
    """

    now: datetime
    attested_at: datetime | None = None
    independent: tuple[IndependentTime, ...] = ()


def check_signatures(
    envelope: Envelope, keys: Sequence[TrustedKey], times: SignatureTimes
) -> tuple[SignatureCheck, ...]:
    """Check all signatures of an envelope.

    Args:
        envelope: The envelope.
        keys: The known keys. Who signed follows from the key alone, never from the envelope.
        times: When it was signed, for keys of limited validity. The time that a cosigner signed is
            added for the signatures by other keys.
    """
    users = {key.key for key in keys if key.role is Role.USER}
    # One key is one witness: a user's key does not corroborate itself as a provider's.
    counted = [key for key in keys if key.role is Role.USER or key.key not in users]
    checks = tuple(_check(envelope, signature, counted, times) for signature in envelope.signatures)
    # A key that needs an independent time is not good without one, so none speaks for itself.
    cosigned = tuple(
        IndependentTime(check.signed_at, f"the cosignature of {check.name or check.key_id}")
        for check in checks
        if check.verdict is SignatureVerdict.GOOD and check.signed_at is not None
    )
    if not cosigned:
        return checks
    known = replace(times, independent=(*times.independent, *cosigned))
    return tuple(_check(envelope, signature, counted, known) for signature in envelope.signatures)


def trust_tier(checks: Sequence[SignatureCheck]) -> TrustTier:
    """Return the tier that the good signatures give."""
    roles = {check.role for check in checks if check.verdict is SignatureVerdict.GOOD}
    if {Role.USER, Role.TOOL_PROVIDER} <= roles:
        return TrustTier.TOOL_CORROBORATED
    if Role.USER in roles:
        return TrustTier.SELF_ATTESTED
    return TrustTier.TOOL_ONLY if Role.TOOL_PROVIDER in roles else TrustTier.NONE


def _check(
    envelope: Envelope,
    signature: EnvelopeSignature,
    keys: Sequence[TrustedKey],
    times: SignatureTimes,
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
                return _by(key, key_id, message, times, signed_at)
    return SignatureCheck(
        key_id, SignatureVerdict.BAD, f"not made over this payload by {_who(candidates)}"
    )


def _by(
    key: TrustedKey,
    key_id: str,
    message: SignedMessage,
    times: SignatureTimes,
    signed_at: datetime | None,
) -> SignatureCheck:
    """Return the result for a signature that a key made."""
    verdict, reason = _validity(key, signed_at or times.attested_at, times)
    if verdict is not SignatureVerdict.GOOD:
        return SignatureCheck(key_id, verdict, reason, name=key.name)
    return SignatureCheck(key_id, verdict, reason, key.role, key.name, message, signed_at)


def _validity(
    key: TrustedKey, stated: datetime | None, times: SignatureTimes
) -> tuple[SignatureVerdict, str]:
    """Return whether a key was valid when it signed, and that is not in the future, and why.

    Args:
        key: The key.
        stated: When it signed by its own word, which can only speak against it.
        times: What others say.
    """
    who, start, end = _who([key]), key.valid_from, key.valid_until
    is_retired = key.status is KeyStatus.RETIRED
    if key.status is KeyStatus.REVOKED:
        return SignatureVerdict.BAD, f"the key of {who} is revoked"
    latest = times.now + CLOCK_TOLERANCE  # the signature exists now
    if start is not None and min(stated or latest, latest) < start:
        return SignatureVerdict.BAD, f"the key is valid from {start:%Y-%m-%d} only"
    if stated is not None and stated > latest:
        reason = f"it says that it was made at {stated:%Y-%m-%d %H:%M} UTC, which is in the future"
        return SignatureVerdict.BAD, reason
    if stated is not None and end is not None and stated > end:
        return SignatureVerdict.BAD, f"the key was valid until {end:%Y-%m-%d} only"
    if is_retired and (end is None or times.now < end):
        reason = f"the key of {who} is retired, and since when is not known"
        return SignatureVerdict.UNCHECKED, reason
    if end is None or times.now <= end:
        return SignatureVerdict.GOOD, f"made by {who}"
    older = next(
        (independent for independent in times.independent if independent.moment <= end), None
    )
    if older is None:
        reason = (
            f"made by the key of {who}, which was valid until {end:%Y-%m-%d}: no independent time"
            " shows that the signature is older"
        )
        return SignatureVerdict.UNCHECKED, reason
    since = f"it existed on {older.moment:%Y-%m-%d} by {older.source}"
    return (
        SignatureVerdict.GOOD,
        f"made by {who}, whose key was valid until {end:%Y-%m-%d}; {since}",
    )


def _who(keys: Sequence[TrustedKey]) -> str:
    return " or ".join(key.name or key.declared_id for key in keys)
