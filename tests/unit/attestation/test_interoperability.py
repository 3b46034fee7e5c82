"""Envelopes and statements between this package and independent implementations, both ways."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from google.protobuf.json_format import MessageToJson, Parse
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement as InTotoStatement
from securesystemslib.dsse import Envelope as SecureSystemsEnvelope
from securesystemslib.signer import CryptoSigner, Key, SSlibKey
from sigstore import dsse as sigstore

from tests.unit.attestation.attested_trail import (
    PAYLOAD_TYPE,
    new_trail,
    pae,
    private_key,
    public_key,
    statement,
    trusted,
)
from vibes_lsp.attestation.envelope import Envelope, parse_envelope
from vibes_lsp.attestation.keys import PrivateKey
from vibes_lsp.attestation.signature_checks import (
    SignatureTimes,
    SignatureVerdict,
    check_signatures,
)
from vibes_lsp.attestation.statement import Statement, Subject, parse_statement

if TYPE_CHECKING:
    from pathlib import Path

OURS = Envelope(
    Statement(
        (Subject(".ai-audit/config.json", "ab" * 32),), {"validation": {"result": "PASS"}}
    ).encode()
).signed_by(PrivateKey(private_key(1)))

TIMES = SignatureTimes(datetime(2026, 2, 3, tzinfo=UTC))


def test_sigstore_reads_our_envelope_and_its_encoding_verifies_our_signature() -> None:
    read = sigstore.Envelope._from_json(OURS.encode())
    assert read.pae() == OURS.pae
    private_key(1).public_key().verify(read.signature, read.pae())


def test_sigstore_reads_our_statement() -> None:
    read = sigstore.Statement(OURS.payload)
    digest = sigstore.Subject(name=".ai-audit/config.json", digest={"sha256": "ab" * 32})
    assert read._inner.subjects == [digest]


def test_in_toto_reads_our_statement() -> None:
    read = InTotoStatement.copy_from_pb(Parse(OURS.payload, statement_pb2.Statement()))
    read.validate()
    assert read.pb.subject[0].digest["sha256"] == "ab" * 32


def test_securesystemslib_verifies_our_envelope_with_several_signatures() -> None:
    ours = OURS.signed_by(PrivateKey(private_key(2)))
    read = SecureSystemsEnvelope.from_dict(json.loads(ours.encode()))
    keys: list[Key] = [
        SSlibKey.from_crypto(private_key(seed).public_key(), keyid=public_key(seed).key_id)
        for seed in (1, 2)
    ]
    assert set(read.verify(keys, 2)) == {public_key(1).key_id, public_key(2).key_id}


def test_we_verify_an_envelope_of_securesystemslib(tmp_path: Path) -> None:
    payload = json.dumps(statement(new_trail(tmp_path))).encode()
    theirs = SecureSystemsEnvelope(payload, PAYLOAD_TYPE, {})
    for seed in (1, 2):
        key = SSlibKey.from_crypto(private_key(seed).public_key(), keyid=public_key(seed).key_id)
        theirs.sign(CryptoSigner(private_key(seed), key))
    read = parse_envelope(json.dumps(theirs.to_dict()).encode())
    checks = check_signatures(read, [trusted(1), trusted(2)], TIMES)
    assert [each.verdict for each in checks] == [SignatureVerdict.GOOD] * 2


def test_we_verify_a_statement_of_in_toto_in_an_envelope_of_sigstore(tmp_path: Path) -> None:
    content = statement(new_trail(tmp_path))
    theirs = InTotoStatement(
        [ResourceDescriptor(each["name"], digest=each["digest"]).pb for each in content["subject"]],
        content["predicateType"],
        content["predicate"],
    )
    payload = MessageToJson(theirs.pb).encode()
    signature = private_key(1).sign(sigstore._pae(PAYLOAD_TYPE, payload))
    read = parse_envelope(
        json.dumps(
            {
                "payload": base64.b64encode(payload).decode(),
                "payloadType": PAYLOAD_TYPE,
                "signatures": [
                    {
                        "keyid": public_key(1).key_id,
                        "sig": base64.urlsafe_b64encode(signature).decode().rstrip("="),
                    }
                ],
            }
        ).encode()
    )
    assert [each.verdict for each in check_signatures(read, [trusted(1)], TIMES)] == [
        SignatureVerdict.GOOD
    ]
    assert parse_statement(read).project == "lamp"


@pytest.mark.parametrize(
    ("payload_type", "payload", "expected"),
    [
        ("http://example.com/HelloWorld", b"hello world", b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"),
        ("", b"", b"DSSEv1 0  0 "),
        ("http://example.com/HelloWorld", "ಠ".encode(), b"DSSEv1 29 http://example.com/HelloWorld 3 \xe0\xb2\xa0"),
        ("ಠ", b"x y", b"DSSEv1 3 \xe0\xb2\xa0 3 x y"),
    ],
)  # fmt: skip
def test_the_encoding_is_that_of_the_published_vectors(
    payload_type: str, payload: bytes, expected: bytes
) -> None:
    assert Envelope(payload, payload_type).pae == expected == pae(payload_type, payload)
