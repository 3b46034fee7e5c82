"""Keys that are revoked, retired or expired: what a signature by one proves, and on whose word."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import pytest

from tests.unit.attestation.attested_trail import (
    envelope,
    new_trail,
    private_key,
    public_key,
    statement,
)
from vibes_lsp.attestation.cosigning import cosign
from vibes_lsp.attestation.envelope import Envelope, parse_envelope
from vibes_lsp.attestation.keys import PrivateKey
from vibes_lsp.attestation.signature_checks import (
    IndependentTime,
    SignatureCheck,
    SignatureTimes,
    SignatureVerdict,
    check_signatures,
)
from vibes_lsp.attestation.trusted_keys import KeyStatus, Role, TrustedKey

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.store.audit_dir import AuditDir

NOW: Final = datetime(2026, 6, 1, tzinfo=UTC)
DAY: Final = timedelta(days=1)
USER, PROVIDER, OTHER = 1, 2, 3


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    return new_trail(tmp_path)


def known(
    seed: int,
    status: KeyStatus = KeyStatus.ACTIVE,
    start: datetime | None = None,
    end: datetime | None = None,
) -> TrustedKey:
    role = Role.USER if seed == USER else Role.TOOL_PROVIDER
    return TrustedKey(public_key(seed), role, f"S{seed}", "", start, end, status)


def signed(directory: AuditDir, seed: int) -> Envelope:
    return parse_envelope(envelope(statement(directory), seed))


def cosigned(directory: AuditDir, seed: int, at: datetime) -> Envelope:
    before = parse_envelope(envelope(statement(directory), USER))
    return before.with_signature(cosign(before, PrivateKey(private_key(seed)), at))


def last(read: Envelope, times: SignatureTimes, *keys: TrustedKey) -> SignatureCheck:
    return check_signatures(read, keys, times)[-1]


@pytest.mark.parametrize(
    ("key", "verdict", "reason"),
    [
        (known(USER, start=NOW - DAY, end=NOW + DAY), "good", "made by S1"),
        (known(USER, KeyStatus.REVOKED), "bad", "is revoked"),
        (known(USER, start=NOW + DAY), "bad", "valid from 2026-06-02"),
        (known(USER, KeyStatus.RETIRED, end=NOW - DAY), "bad", "valid until 2026-05-31"),
        (known(USER, end=NOW - DAY), "bad", "valid until 2026-05-31"),
        # Documents of other providers list a retired key as the guide shows it.
        (known(USER, KeyStatus.RETIRED), "unchecked", "since when is not known"),
        (known(USER, KeyStatus.RETIRED, end=NOW + DAY), "unchecked", "since when is not known"),
    ],
)
def test_a_new_signature_needs_a_key_that_is_valid_now(
    directory: AuditDir, key: TrustedKey, verdict: str, reason: str
) -> None:
    check = last(signed(directory, USER), SignatureTimes(NOW, NOW), key)
    assert (check.verdict.value, reason in check.reason) == (verdict, True), check.reason


@pytest.mark.parametrize("stated", [None, NOW, NOW + 2 * DAY])
def test_a_key_that_is_not_valid_yet_signed_nothing(
    directory: AuditDir, stated: datetime | None
) -> None:
    times = SignatureTimes(NOW, stated)
    check = last(signed(directory, USER), times, known(USER, start=NOW + DAY))
    assert (check.verdict, check.reason) == (
        SignatureVerdict.BAD,
        "the key is valid from 2026-06-02 only",
    )


@pytest.mark.parametrize(
    ("minutes", "verdict"),
    [(-1, SignatureVerdict.GOOD), (4, SignatureVerdict.GOOD), (6, SignatureVerdict.BAD)],
)
def test_no_signature_was_made_in_the_future(
    directory: AuditDir, minutes: int, verdict: SignatureVerdict
) -> None:
    at = NOW + timedelta(minutes=minutes)
    own = last(signed(directory, USER), SignatureTimes(NOW, at), known(USER))
    other = last(cosigned(directory, PROVIDER, at), SignatureTimes(NOW, NOW), known(PROVIDER))
    for check in (own, other):
        assert check.verdict is verdict
    if verdict is SignatureVerdict.BAD:
        reason = "it says that it was made at 2026-06-01 00:06 UTC, which is in the future"
        assert {own.reason, other.reason} == {reason}


@pytest.mark.parametrize("stated", [None, NOW - 9 * DAY])
def test_an_expired_key_does_not_prove_its_own_time(
    directory: AuditDir, stated: datetime | None
) -> None:
    """Else a thief of the key would write an earlier `attested_at`."""
    key = known(USER, KeyStatus.RETIRED, end=NOW - 5 * DAY)
    read = signed(directory, USER)
    alone = last(read, SignatureTimes(NOW, stated), key)
    assert alone.verdict is SignatureVerdict.UNCHECKED
    assert "no independent time shows that the signature is older" in alone.reason
    assert alone.role is None
    for days, verdict in ((4, SignatureVerdict.UNCHECKED), (6, SignatureVerdict.GOOD)):
        seen = (IndependentTime(NOW - days * DAY, "Bitcoin block 900000"),)
        found = last(read, SignatureTimes(NOW, stated, seen), key)
        assert found.verdict is verdict
        assert (verdict is SignatureVerdict.GOOD) == ("by Bitcoin block 900000" in found.reason)


def test_an_expired_providers_key_does_not_prove_its_own_time(directory: AuditDir) -> None:
    key = known(PROVIDER, KeyStatus.RETIRED, end=NOW - 5 * DAY)
    backdated = cosigned(directory, PROVIDER, NOW - 6 * DAY)
    times = SignatureTimes(NOW, NOW - 6 * DAY)
    assert last(backdated, times, key).verdict is SignatureVerdict.UNCHECKED
    late = cosigned(directory, PROVIDER, NOW - 4 * DAY)
    assert last(late, times, key).verdict is SignatureVerdict.BAD  # by its own word


def test_the_signed_time_of_a_cosigner_counts_for_the_keys_of_others(directory: AuditDir) -> None:
    user, provider = known(USER, end=NOW - 5 * DAY), known(PROVIDER)
    for days, verdict in ((4, SignatureVerdict.UNCHECKED), (6, SignatureVerdict.GOOD)):
        read = cosigned(directory, PROVIDER, NOW - days * DAY)
        first, second = check_signatures(read, [user, provider], SignatureTimes(NOW))
        assert (first.verdict, second.verdict) == (verdict, SignatureVerdict.GOOD)


def test_two_expired_keys_do_not_vouch_for_each_other(directory: AuditDir) -> None:
    at = NOW - 6 * DAY
    both = cosigned(directory, PROVIDER, at)
    both = both.with_signature(cosign(both, PrivateKey(private_key(OTHER)), at))
    keys = [known(seed, KeyStatus.RETIRED, end=NOW - DAY) for seed in (PROVIDER, OTHER)]
    checks = check_signatures(both, [known(USER), *keys], SignatureTimes(NOW))
    assert [each.verdict.value for each in checks] == ["good", "unchecked", "unchecked"]


def test_a_cosignature_with_the_identifier_of_the_user_replaces_nothing(
    directory: AuditDir,
) -> None:
    before = signed(directory, USER)
    [by_user] = before.signatures
    provider = PrivateKey(private_key(PROVIDER))
    both = before.with_signature(cosign(before, provider, NOW, key_id=by_user.key_id))
    assert both.signatures[0] == by_user
    for _ in range(2):
        both = both.signed_by(PrivateKey(private_key(USER)))
        roles = {check.role for check in check_signatures(both, [known(USER)], SignatureTimes(NOW))}
        assert (len(both.signatures), roles) == (2, {Role.USER, None})


def test_the_time_that_a_stranger_signed_does_not_count(directory: AuditDir) -> None:
    read = cosigned(directory, PROVIDER, NOW - 6 * DAY)
    first, _ = check_signatures(read, [known(USER, end=NOW - DAY)], SignatureTimes(NOW))
    assert first.verdict is SignatureVerdict.UNCHECKED
    envelope_members = json.loads(read.encode())
    envelope_members["signatures"][1]["signed_at"] = "2026-05-01T00:00:00.000Z"
    changed = parse_envelope(json.dumps(envelope_members).encode())
    keys = [known(USER, end=NOW - 10 * DAY), known(PROVIDER)]
    first, second = check_signatures(changed, keys, SignatureTimes(NOW))
    assert (first.verdict, second.signed_at) == (SignatureVerdict.UNCHECKED, None)
