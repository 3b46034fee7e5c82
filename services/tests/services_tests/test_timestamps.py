"""Proofs by OpenTimestamps: made and completed with a calendar, checked offline."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import pytest
from bitcoin.core import CoreMainParams
from hypothesis import given
from hypothesis import strategies as st
from opentimestamps.core.notary import BitcoinBlockHeaderAttestation
from opentimestamps.core.op import OpAppend, OpPrepend, OpSHA256
from opentimestamps.core.serialize import BytesSerializationContext
from opentimestamps.core.timestamp import DetachedTimestampFile, Timestamp

from services_tests.fake_calendar import FakeCalendar, fake_calendar, header
from vibes_lsp.attestation.signature_checks import SignatureVerdict
from vibes_lsp.errors import ServiceFailure, VibesError
from vibes_services.timestamps import (
    DEFAULT_CALENDARS,
    BadTimestamp,
    check_proof,
    create_proof,
    parse_block_header,
    upgrade_proof,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

DIGEST: Final = hashlib.sha256(b"an attestation").digest()
TIME: Final = 1_795_350_000


@pytest.fixture
def calendar() -> Iterator[FakeCalendar]:
    """A calendar that answers."""
    with fake_calendar() as running:
        yield running


def test_a_proof_is_pending_then_complete_then_confirmed_by_a_header(
    calendar: FakeCalendar,
) -> None:
    proof, results = create_proof(DIGEST, [calendar.url])
    assert [each.problem for each in results] == [""]
    [pending] = check_proof(proof, DIGEST)
    assert (pending.verdict, pending.calendar) == (SignatureVerdict.UNCHECKED, calendar.url)

    unchanged, [waits] = upgrade_proof(proof, DIGEST, [calendar.url])
    assert unchanged == proof
    assert waits.problem == "no block attests it yet"

    block = calendar.mine(900_000, TIME)
    complete, [done] = upgrade_proof(proof, DIGEST, [calendar.url])
    assert done.problem == ""
    unconfirmed, _ = check_proof(complete, DIGEST)
    assert unconfirmed.verdict is SignatureVerdict.UNCHECKED
    assert unconfirmed.reason == "the header of Bitcoin block 900000 is needed to check it"

    confirmed, _ = check_proof(complete, DIGEST, {900_000: block})
    assert confirmed.verdict is SignatureVerdict.GOOD
    assert confirmed.time == datetime.fromtimestamp(TIME, UTC)
    # A complete proof asks nobody again.
    asked = len(calendar.paths)
    assert upgrade_proof(complete, DIGEST, [calendar.url]) == (complete, [])
    assert len(calendar.paths) == asked


def test_a_calendar_does_not_learn_the_digest(calendar: FakeCalendar) -> None:
    create_proof(DIGEST, [calendar.url])
    create_proof(DIGEST, [calendar.url])
    first, second = calendar.digests
    assert DIGEST not in {first, second}
    assert first != second


def test_one_calendar_of_several_is_enough_and_the_others_are_named(
    calendar: FakeCalendar,
) -> None:
    closed = "http://127.0.0.1:9"
    proof, results = create_proof(DIGEST, [closed, calendar.url])
    assert [each.url for each in results if each.problem] == [closed]
    assert len(check_proof(proof, DIGEST)) == 1
    with pytest.raises(ServiceFailure, match="no calendar gave a timestamp"):
        create_proof(DIGEST, [closed])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((500, b"broken"), "status 500"),
        ((200, b""), "not an OpenTimestamps proof"),
        ((200, b"\x00" * 50), "not an OpenTimestamps proof"),
        ((200, b"\xf0\x04salt" * 3000), "answers with more than 10,000 bytes"),
        ((302, b""), "redirects"),
    ],
)
def test_what_a_calendar_answers_instead_is_a_reason(
    calendar: FakeCalendar, answer: tuple[int, bytes], reason: str
) -> None:
    proof, _ = create_proof(DIGEST, [calendar.url])
    calendar.answer = answer
    with pytest.raises(ServiceFailure, match=reason):
        create_proof(DIGEST, [calendar.url])
    unchanged, [result] = upgrade_proof(proof, DIGEST, [calendar.url])
    assert unchanged == proof
    assert reason in result.problem


def test_a_proof_cannot_choose_whom_to_ask(calendar: FakeCalendar) -> None:
    """The address in a pending proof is untrusted: it may be any server of a company's network."""
    proof, _ = create_proof(DIGEST, [calendar.url])
    calendar.paths.clear()
    unchanged, [result] = upgrade_proof(proof, DIGEST)
    assert (unchanged, calendar.paths) == (proof, [])
    assert result.problem == "not asked: name it with --calendar if you trust it"


def test_a_real_block_confirms_and_a_changed_header_does_not() -> None:
    """The first block of the main chain, whose only transaction holds the message."""
    genesis = CoreMainParams.GENESIS_BLOCK
    transaction: bytes = genesis.vtx[0].serialize()
    digest = transaction[60:92]
    proof = DetachedTimestampFile(OpSHA256(), Timestamp(digest))
    node = proof.timestamp.ops.add(OpPrepend(transaction[:60]))
    node = node.ops.add(OpAppend(transaction[92:])).ops.add(OpSHA256()).ops.add(OpSHA256())
    node.attestations.add(BitcoinBlockHeaderAttestation(0))
    data = _encode(proof)
    real: bytes = genesis.get_header().serialize()

    [good] = check_proof(data, digest, {0: real})
    assert good.verdict is SignatureVerdict.GOOD
    assert good.block_hash == "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
    assert good.merkle_root == "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"
    assert good.time == datetime(2009, 1, 3, 18, 15, 5, tzinfo=UTC)
    for bit in range(8 * len(real)):
        changed = bytearray(real)
        changed[bit // 8] ^= 1 << bit % 8
        [bad] = check_proof(data, digest, {0: bytes(changed)})
        assert bad.verdict is SignatureVerdict.BAD, bit


def test_a_header_with_another_root_is_bad(calendar: FakeCalendar) -> None:
    proof, _ = create_proof(DIGEST, [calendar.url])
    calendar.mine(7, TIME)
    complete, _ = upgrade_proof(proof, DIGEST, [calendar.url])
    block, _ = check_proof(complete, DIGEST, {7: header(bytes(32), TIME)})
    assert block.verdict is SignatureVerdict.BAD
    assert block.reason == "the given header of block 7 has another Merkle root"
    other, _ = check_proof(complete, DIGEST, {8: calendar.blocks[7]})
    assert other.verdict is SignatureVerdict.UNCHECKED


def test_a_proof_of_another_file_is_refused(calendar: FakeCalendar) -> None:
    proof, _ = create_proof(DIGEST, [calendar.url])
    with pytest.raises(BadTimestamp, match="the proof is for another file"):
        check_proof(proof, hashlib.sha256(b"another").digest())


@given(st.data())
def test_any_bytes_are_a_proof_or_a_bad_timestamp(data: st.DataObject) -> None:
    valid = DetachedTimestampFile(OpSHA256(), Timestamp(DIGEST))
    node = valid.timestamp.ops.add(OpAppend(b"nonce")).ops.add(OpSHA256())
    node.attestations.add(BitcoinBlockHeaderAttestation(5))
    proof = bytearray(_encode(valid))
    start = data.draw(st.integers(0, len(proof)))
    proof[start:] = data.draw(st.binary(max_size=200))
    for content in (bytes(proof), bytes(proof[:start]), bytes(proof[start:])):
        with suppress(BadTimestamp):
            for check in check_proof(content, DIGEST, {5: header(bytes(32), TIME)}):
                assert check.verdict is not SignatureVerdict.GOOD


def test_a_proof_that_unfolds_is_bounded() -> None:
    """Each operation makes a message of up to 4,096 bytes: size and depth of a proof have ends."""
    start = DetachedTimestampFile.HEADER_MAGIC + b"\x01\x08" + DIGEST
    for content in (
        start + b"\xf3" * 60_000,
        start + (b"\xff\xf3" * 6 + b"\xf2") * 4_000,
        start + b"\xff\xf1\x01a" * 15_000,
        start + b"\x08" * 60_000,
        start + b"\x80" * 60_000,
        start + b"\x00" + bytes.fromhex("0588960d73d71901") + b"\x80\x40" + b"\xff" * 8_192,
        start + b"a" * 70_000,
    ):
        with pytest.raises(BadTimestamp):
            check_proof(content, DIGEST)


@pytest.mark.parametrize("text", ["", "5", "5:", "5:00", "x:" + "0" * 160, "5:" + "g" * 160])
def test_a_header_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(VibesError, match="expected HEIGHT:HEX"):
        parse_block_header(text)
    assert parse_block_header("5:" + "ab" * 80) == (5, b"\xab" * 80)


def test_the_public_calendars_are_asked_over_tls() -> None:
    assert len(DEFAULT_CALENDARS) >= 2
    assert all(url.startswith("https://") for url in DEFAULT_CALENDARS)


def test_the_commands_create_complete_and_verify(
    run_vibes: RunVibes, calendar: FakeCalendar, tmp_path: Path
) -> None:
    file = tmp_path / "attestation.json"
    file.write_text("{}\n")
    created = run_vibes("timestamp", "create", file, "--calendar", calendar.url, cwd=tmp_path)
    assert created.code == 0, created.err
    assert f"{calendar.url}: accepted it" in created.out
    again = run_vibes("timestamp", "create", file, "--calendar", calendar.url, cwd=tmp_path)
    assert (again.code, "exists" in again.err) == (2, True)

    pending = run_vibes("timestamp", "upgrade", file, "--calendar", calendar.url, cwd=tmp_path)
    assert (pending.code, "no block attests it yet" in pending.out) == (1, True)
    block = calendar.mine(900_000, TIME)
    complete = run_vibes("timestamp", "upgrade", file, "--calendar", calendar.url, cwd=tmp_path)
    assert (complete.code, "attested by Bitcoin block 900000" in complete.out) == (0, True)

    unchecked = run_vibes("timestamp", "verify", file, cwd=tmp_path)
    assert unchecked.code == 3
    assert "unchecked: the header of Bitcoin block 900000 is needed" in unchecked.out
    given = f"900000:{block.hex()}"
    good = run_vibes("timestamp", "verify", file, "--block-header", given, cwd=tmp_path)
    assert good.code == 0, good.out
    assert "good: Bitcoin block 900000 attests it" in good.out
    as_json = run_vibes(
        "timestamp", "verify", file, "--block-header", given, "--json", cwd=tmp_path
    )
    found: list[dict[str, Any]] = json.loads(as_json.out)["attestations"]
    assert [each["verdict"] for each in found] == ["good", "unchecked"]
    wrong = f"900000:{header(bytes(32), TIME).hex()}"
    bad = run_vibes("timestamp", "verify", file, "--block-header", wrong, cwd=tmp_path)
    assert bad.code == 1

    proof = tmp_path / "attestation.json.ots"
    kept = proof.read_bytes()
    file.write_text("{} \n")
    for command in ("upgrade", "verify"):
        changed = run_vibes("timestamp", command, file, cwd=tmp_path)
        assert (changed.code, "the proof is for another file" in changed.err) == (2, True)
    proof.write_bytes(b"no proof")
    broken = run_vibes("timestamp", "verify", file, cwd=tmp_path)
    assert (broken.code, "not an OpenTimestamps proof" in broken.err) == (2, True)
    assert kept


def _encode(proof: DetachedTimestampFile) -> bytes:
    context = BytesSerializationContext()
    proof.serialize(context)
    data: bytes = context.getbytes()
    return data
