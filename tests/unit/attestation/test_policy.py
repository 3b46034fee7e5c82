"""Policies for attestations: what is refused as a policy, and what each rule decides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.unit.attestation.attested_trail import (
    envelope,
    new_trail,
    private_key,
    public_key,
    record,
    sizes,
    statement,
)
from vibes_lsp.attestation.envelope import parse_envelope
from vibes_lsp.attestation.policy import PolicyVerdict, apply_policy, parse_policy
from vibes_lsp.attestation.verification import VerificationResult, verify
from vibes_lsp.errors import BadPolicy

if TYPE_CHECKING:
    from pathlib import Path

NOW: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)


def _policy(head: str = "", *signers: tuple[int, str]) -> bytes:
    tables = [
        f'[[signer]]\nname = "S{seed}"\npublic-key = "{public_key(seed).openssh}"\n{more}\n'
        for seed, more in signers or ((1, ""),)
    ]
    return "\n".join([head, *tables]).encode()


def _verdict(
    folder: Path, policy: bytes, *seeds: int, at: datetime | None = NOW, grown: bool = False
) -> PolicyVerdict:
    directory = new_trail(folder)
    predicate: dict[str, Any] = sizes(directory)
    if at is not None:
        predicate["attested_at"] = at.isoformat()
    signed = envelope(statement(directory, predicate), *seeds)
    if grown:
        directory.log.write_bytes(directory.log.read_bytes() + record(9))
    parsed = parse_policy(policy)
    return apply_policy(parsed, verify(parse_envelope(signed), directory, parsed.keys, NOW), NOW)


def _failed(verdict: PolicyVerdict) -> list[str]:
    return [
        each.rule for each in verdict.requirements if each.result is not VerificationResult.PASS
    ]


def test_one_of_several_signers_is_enough_unless_required(tmp_path: Path) -> None:
    either = _policy("", (1, ""), (2, ""))
    assert _failed(_verdict(tmp_path / "a", either, 2)) == []
    both = _policy("signatures = 2", (1, ""), (2, ""))
    assert _failed(_verdict(tmp_path / "b", both, 2)) == ["signatures"]
    assert _failed(_verdict(tmp_path / "c", both, 1, 2)) == []
    required = _policy("", (1, "required = true"), (2, ""))
    assert _failed(_verdict(tmp_path / "d", required, 2)) == ["required"]


def test_a_signature_of_a_stranger_neither_counts_nor_fails(tmp_path: Path) -> None:
    assert _failed(_verdict(tmp_path / "a", _policy(), 1, 7)) == []
    assert _failed(_verdict(tmp_path / "b", _policy(), 7)) == ["signatures", "tier"]


def test_the_tier_needs_both_roles(tmp_path: Path) -> None:
    head, provider = 'tier = "tool-corroborated"', (2, 'role = "tool-provider"')
    policy = _policy(head, (1, ""), provider)
    assert _failed(_verdict(tmp_path / "a", policy, 1, 2)) == []
    assert _failed(_verdict(tmp_path / "b", policy, 1)) == ["tier"]
    assert _failed(_verdict(tmp_path / "c", policy, 2)) == ["tier"]


@pytest.mark.parametrize(
    ("age", "result"),
    [
        (timedelta(days=30), VerificationResult.PASS),
        (timedelta(days=30, seconds=1), VerificationResult.FAIL),
        (timedelta(minutes=-4), VerificationResult.PASS),
        (timedelta(minutes=-6), VerificationResult.FAIL),
        (None, VerificationResult.UNKNOWN),
    ],
)
def test_the_age_is_that_of_the_signed_time(
    tmp_path: Path, age: timedelta | None, result: VerificationResult
) -> None:
    at = None if age is None else NOW - age
    assert _verdict(tmp_path, _policy("max-age-days = 30"), 1, at=at).result is result


def test_growth(tmp_path: Path) -> None:
    assert _failed(_verdict(tmp_path / "a", _policy(), 1, grown=True)) == ["growth"]
    allowed = _policy('growth = "allowed"')
    assert _failed(_verdict(tmp_path / "b", allowed, 1, grown=True)) == []


def test_the_project(tmp_path: Path) -> None:
    assert _failed(_verdict(tmp_path / "a", _policy('project = "lamp"'), 1)) == []
    assert _failed(_verdict(tmp_path / "b", _policy('project = "desk"'), 1)) == ["project"]


KEY: Final = public_key(1).openssh
PRIVATE: Final = private_key(1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no signer"),
        ("tier = ", "not TOML"),
        ("\ud800", "not TOML"),
        ("version = 2\n[[signer]]", "version 2 is not supported"),
        ("version = true", "'version' is not a whole number"),
        ('signer = "x"', "'signer' is not an array"),
        ('signer = ["x"]', "'signer[0]' is not a table"),
        ('[[signer]]\nname = "A"', "'signer[0].public-key' is missing"),
        (f'[[signer]]\npublic-key = "{KEY}"', "'signer[0].name' is missing"),
        ('[[signer]]\nname = "A"\npublic-key = "x"', "is not a public key"),
        (f'[[signer]]\nname = "A"\npublic-key = "{KEY}"\nrole = "boss"', "'signer[0].role' is"),
        (f'[[signer]]\nname = "A"\npublic-key = "{KEY}"\nrequired = 1', "is not true or false"),
        (f'[[signer]]\nname = "A"\npublic-key = "{KEY}"\nemail = "x"', "'signer[0].email'"),
        (f'[[signer]]\nname = "A"\npublic-key = "{KEY}"\n' * 2, "two signers have the same name"),
        (
            "".join(f'[[signer]]\nname = "{n}"\npublic-key = "{KEY}"\n' for n in "AB"),
            "two signers have the same key",
        ),
        ('tier = "none"', "requires no signature"),
        ('tier = "gold"', "'tier' is 'gold': expected one of tool-corroborated"),
        ('growth = "some"', "'growth' is 'some'"),
        ("signatures = 0", "'signatures' is 0: expected 1 to 1"),
        ("signatures = 2", "'signatures' is 2: expected 1 to 1"),
        ("max-age-days = 0", "'max-age-days' is 0"),
        ("max-age-days = 1.5", "'max-age-days' is not a whole number"),
    ],
)
def test_what_is_not_understood_is_refused(text: str, message: str) -> None:
    needs_signer = "signer" not in text and text and "TOML" not in message
    data = _policy(text) if needs_signer else text.encode("utf-8", "surrogatepass")
    with pytest.raises(BadPolicy) as raised:
        parse_policy(data)
    assert message in raised.value.message
