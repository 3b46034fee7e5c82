"""When a cosignature was made: signed by its key, beside the times of the data."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest

from vibes_lsp.attestation.cosigning import cosign
from vibes_lsp.attestation.envelope import parse_envelope
from vibes_lsp.attestation.keys import generate_private_key
from vibes_lsp.attestation.signing_time import SigningDelay, signing_time, time_message
from vibes_lsp.model.canonical_json import canonical_json


def test_the_time_of_a_cosignature_is_signed_too() -> None:
    envelope = parse_envelope(canonical_json(_envelope_members()))
    key, now = generate_private_key(), datetime(2026, 11, 22, 12, tzinfo=UTC)
    signature = cosign(envelope, key, now)
    assert signing_time(envelope, signature, key.public) == now
    for members in (
        {**signature.members, "signed_at": "2026-11-21T12:00:00.000Z"},
        {**signature.members, "time_sig": "AAAA"},
        {name: value for name, value in signature.members.items() if name != "time_sig"},
    ):
        changed = type(signature)(signature.key_id, signature.signature, members)
        assert signing_time(envelope, changed, key.public) is None
    assert signing_time(envelope, signature, generate_private_key().public) is None


def test_a_time_cannot_pass_as_a_cosignature_nor_a_digest_as_a_time() -> None:
    """The endpoint signs any 32 bytes: the statement of a time must never be 32 bytes long."""
    envelope = parse_envelope(canonical_json(_envelope_members()))
    digest = envelope.pae_digest
    for signed_at in ("", "2026-11-22T12:00:00.000Z", "x" * 200):
        message = time_message(digest, signed_at)
        assert len(message) > 32
        assert message not in {signed for _, signed in envelope.messages()}


@pytest.mark.parametrize(
    ("newest", "expected"),
    [
        (datetime(2026, 11, 22, 11, 59, 57, tzinfo=UTC), "3 seconds after the newest record"),
        (datetime(2026, 3, 1, tzinfo=UTC), "8 months after the newest record"),
        (datetime(2026, 11, 22, 13, tzinfo=UTC), "1 hour before the newest record"),
        (None, "the time of the data is not known"),
    ],
)
def test_the_time_of_the_signature_is_compared_with_that_of_the_data(
    newest: datetime | None, expected: str
) -> None:
    delay = SigningDelay(datetime(2026, 11, 22, 12, tzinfo=UTC), None, newest)
    assert delay.describe() == expected


def _envelope_members() -> dict[str, Any]:
    payload = base64.b64encode(b"{}").decode()
    sig = base64.b64encode(bytes(64)).decode()
    return {
        "payloadType": "application/vnd.in-toto+json",
        "payload": payload,
        "signatures": [{"keyid": "x", "sig": sig}],
    }
