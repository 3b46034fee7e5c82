"""When a cosignature was made, by its key's word, beside the times of the data (guide: cosigning).

The digest that a provider signs has no time that a user could not choose. So a second signature,
over digest and time, says when.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import securesystemslib.dsse

from vibes_lsp.attestation.envelope import Envelope, EnvelopeSignature, decode_base64
from vibes_lsp.attestation.keys import SIGNATURE_BYTES, PublicKey
from vibes_lsp.model.ages import describe_span
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.timestamps import format_timestamp, parse_timestamp

TIME_TYPE: Final = "application/vnd.vibes.cosigning-time+json"
"""The payload type of the encoding that says when a digest was signed."""


def time_message(digest: bytes, signed_at: str) -> bytes:
    """Return what a cosigner signs to say when it signed a digest.

    It is a DSSE encoding of another payload type and longer than a digest, so neither signature
    can be presented as the other.
    """
    body = canonical_json({"pae_sha256": digest.hex(), "signed_at": signed_at})
    return securesystemslib.dsse.Envelope(body, TIME_TYPE, {}).pae()


def signing_time(
    envelope: Envelope, signature: EnvelopeSignature, key: PublicKey
) -> datetime | None:
    """Return when a cosignature was made, by its key's word; None without a good signature of it.

    Args:
        envelope: The envelope that the signature is of.
        signature: The cosignature.
        key: The key that made it.
    """
    signed_at = text(signature.members, "signed_at")
    time_signature = signature_member(signature.members, "time_sig")
    if signed_at is None or time_signature is None:
        return None
    message = time_message(envelope.pae_digest, signed_at)
    return parse_timestamp(signed_at) if key.verifies(time_signature, message) else None


@dataclass(frozen=True, slots=True)
class SigningDelay:
    """How long after the data a cosignature was made (guide: sign at data-creation time).

    Attributes:
        signed_at: When it was made, by the provider's word.
        attested_at: When the user signed, by the user's word.
        newest_record: The time of the newest attested record, by the log's word.
    """

    signed_at: datetime
    attested_at: datetime | None
    newest_record: datetime | None

    @property
    def after_data(self) -> float | None:
        """Seconds from the newest record to the cosignature; negative if it came first."""
        if self.newest_record is None:
            return None
        return (self.signed_at - self.newest_record).total_seconds()

    def describe(self) -> str:
        """Return the comparison as a phrase, such as `3 seconds after the newest record`."""
        spans = [
            _span(self.signed_at, moment, name)
            for moment, name in (
                (self.newest_record, "the newest record"),
                (self.attested_at, "the statement's own time"),
            )
            if moment is not None
        ]
        return " and ".join(spans) or "the time of the data is not known"

    def as_json(self) -> Members:
        """Return the object of `vibes verify --json`."""
        return {
            "signedAt": format_timestamp(self.signed_at),
            "attestedAt": format_timestamp(self.attested_at) if self.attested_at else None,
            "newestRecord": format_timestamp(self.newest_record) if self.newest_record else None,
            "secondsAfterNewestRecord": self.after_data,
        }


def _span(later: datetime, earlier: datetime, name: str) -> str:
    seconds = (later - earlier).total_seconds()
    return f"{describe_span(abs(seconds))} {'after' if seconds >= 0 else 'before'} {name}"


def signature_member(members: Members, name: str) -> bytes | None:
    """Return a signature in base64 or base64url; None if there is none of the right length."""
    signature = decode_base64(text(members, name) or "")
    return signature if signature is not None and len(signature) == SIGNATURE_BYTES else None
