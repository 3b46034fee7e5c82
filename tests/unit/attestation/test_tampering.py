"""Whatever is changed after signing is found and named; no other key, type or payload passes."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from tests.unit.attestation.attested_trail import (
    FILES,
    PAYLOAD_TYPE,
    envelope,
    new_trail,
    pae,
    private_key,
    public_key,
    record,
    sizes,
    statement,
    trusted,
)
from vibes_lsp.attestation.attest import check_and_state
from vibes_lsp.attestation.envelope import MAX_ENVELOPE, Envelope, SignedMessage, parse_envelope
from vibes_lsp.attestation.signature_checks import (
    SignatureTimes,
    SignatureVerdict,
    check_signatures,
)
from vibes_lsp.attestation.statement import parse_statement
from vibes_lsp.attestation.tiers import TrustTier
from vibes_lsp.attestation.trusted_keys import Role, TrustedKey
from vibes_lsp.attestation.verification import Verification, VerificationResult, verify
from vibes_lsp.attestation.versions_in_git import VersionsInGit
from vibes_lsp.errors import BadEnvelope

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.store.audit_dir import AuditDir

CHANGES: Final = 10_000
NOW: Final = datetime(2026, 2, 3, tzinfo=UTC)
PASSED: Final = {"result": "PASS"}
KEYS: Final = (trusted(1), trusted(2, Role.TOOL_PROVIDER, "Lamp Inc."))


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    return new_trail(tmp_path)


def verified(data: bytes, directory: AuditDir) -> Verification:
    return verify(parse_envelope(data), directory, KEYS, NOW)


def one_byte_changed(data: bytes, chance: random.Random) -> tuple[int, bytes]:
    position = chance.randrange(len(data))
    changed = bytearray(data)
    changed[position] ^= chance.randrange(1, 256)
    return position, bytes(changed)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", FILES)
def test_every_changed_byte_of_a_file_is_found_and_the_file_named(
    directory: AuditDir, name: str
) -> None:
    stated = check_and_state(directory, NOW).statement.predicate | {"validation": PASSED}
    data = parse_envelope(envelope(statement(directory, stated), 1))
    path = directory.path / name
    before, chance = path.read_bytes(), random.Random(name)
    for _ in range(CHANGES // 4):
        _, changed = one_byte_changed(before, chance)
        path.write_bytes(changed)
        result = verify(data, directory, KEYS, NOW)
        statuses = {each.name: each.status.value for each in result.files}
        seen = statuses.pop(f".ai-audit/{name}")
        assert set(statuses.values()) == {"equal"}
        if values(changed) == values(before):  # white space of another kind
            assert seen in {"reformatted", "changed"}
        else:
            assert seen == "changed"
            assert result.result is VerificationResult.FAIL


def values(data: bytes) -> Any:
    """Return the JSON values of a file, by the standard library; the bytes if it has none."""
    try:
        return json.loads(data)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in data.split(b"\n") if line.strip()]
    except ValueError:
        return data


@pytest.mark.timeout(600)
def test_every_changed_byte_of_an_envelope_is_found(directory: AuditDir) -> None:
    before, chance = envelope(statement(directory), 1, 2), random.Random("envelope")
    spaces = {at for at, byte in enumerate(before) if byte in b" \n"}
    for _ in range(CHANGES // 4):
        position, changed = one_byte_changed(before, chance)
        try:
            result = verified(changed, directory)
        except BadEnvelope:
            continue
        verdicts = [each.verdict for each in result.signatures]
        if position in spaces and changed[position : position + 1].isspace():
            assert verdicts == [SignatureVerdict.GOOD] * 2
        else:
            assert verdicts != [SignatureVerdict.GOOD] * 2
            assert result.result is not VerificationResult.PASS


def test_a_signature_of_another_key_under_a_trusted_identifier_is_bad(directory: AuditDir) -> None:
    data = json.loads(envelope(statement(directory), 3))
    data["signatures"][0]["keyid"] = public_key(1).key_id
    (check,) = verified(json.dumps(data).encode(), directory).signatures
    assert check.verdict is SignatureVerdict.BAD
    assert check.reason == "not made over this payload by Ada"


def test_a_key_cannot_take_the_place_of_another_by_its_declared_identifier(
    directory: AuditDir,
) -> None:
    """A provider may choose any identifier, even that of a user's key: it stays a provider's."""
    imitation = TrustedKey(public_key(3), Role.TOOL_PROVIDER, "Imitator", public_key(1).key_id)
    data = json.loads(envelope(statement(directory), 3))
    data["signatures"][0]["keyid"] = public_key(1).key_id
    read = parse_envelope(json.dumps(data).encode())
    (check,) = check_signatures(read, (trusted(1), imitation), SignatureTimes(NOW))
    assert (check.verdict, check.role, check.name) == (
        SignatureVerdict.GOOD,
        Role.TOOL_PROVIDER,
        "Imitator",
    )


def test_what_an_envelope_says_of_a_key_does_not_raise_the_tier(directory: AuditDir) -> None:
    data = json.loads(envelope(statement(directory), 1))
    data["signatures"][0] |= {"keytype": "tool_provider", "role": "tool-provider"}
    assert verified(json.dumps(data).encode(), directory).tier.value == "self-attested"


@pytest.mark.parametrize(
    ("role", "verdict"),
    [(Role.TOOL_PROVIDER, SignatureVerdict.GOOD), (Role.USER, SignatureVerdict.BAD)],
)
def test_only_a_provider_may_sign_a_digest_alone(
    directory: AuditDir, role: Role, verdict: SignatureVerdict
) -> None:
    unsigned = Envelope(json.dumps(statement(directory)).encode())
    data = json.loads(envelope(unsigned.payload, 1))
    signature = private_key(1).sign(unsigned.pae_digest)
    data["signatures"][0]["sig"] = base64.b64encode(signature).decode()
    read = parse_envelope(json.dumps(data).encode())
    (check,) = check_signatures(read, [trusted(1, role)], SignatureTimes(NOW))
    assert check.verdict is verdict
    assert check.message is (SignedMessage.DIGEST if verdict is SignatureVerdict.GOOD else None)


def test_a_signature_over_the_text_of_the_payload_is_read_and_said(directory: AuditDir) -> None:
    payload = json.dumps(statement(directory)).encode()
    text = base64.urlsafe_b64encode(payload).rstrip(b"=")
    data = json.loads(envelope(payload, 1))
    data["payload"] = text.decode()
    signature = private_key(1).sign(pae(PAYLOAD_TYPE, text))
    data["signatures"][0]["sig"] = base64.urlsafe_b64encode(signature).decode().rstrip("=")
    (check,) = verified(json.dumps(data).encode(), directory).signatures
    assert (check.verdict, check.message) == (SignatureVerdict.GOOD, SignedMessage.PAYLOAD_TEXT)


@pytest.mark.parametrize("length", [0, 63, 65, 256])
def test_a_signature_of_another_length_is_bad(directory: AuditDir, length: int) -> None:
    data = json.loads(envelope(statement(directory), 1))
    data["signatures"][0]["sig"] = base64.b64encode(bytes(length)).decode()
    (check,) = verified(json.dumps(data).encode(), directory).signatures
    assert check.verdict is SignatureVerdict.BAD
    assert check.reason == f"{length} bytes, expected the 64 of Ed25519"


def test_a_signature_for_another_payload_type_is_bad(directory: AuditDir) -> None:
    data = json.loads(envelope(statement(directory), 1, kind="application/json"))
    data["payloadType"] = PAYLOAD_TYPE
    (check,) = verified(json.dumps(data).encode(), directory).signatures
    assert check.verdict is SignatureVerdict.BAD


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"_type": "https://in-toto.io/Statement/v0.1"}, "_type is"),
        ({"predicateType": "https://slsa.dev/provenance/v1"}, "predicateType is"),
        ({"predicate": []}, "predicate is missing or not an object"),
        ({"subject": []}, "subject is missing"),
        ({"subject": [{"name": "a"}]}, "digest.sha256 is missing"),
        ({"subject": [{"name": "a", "digest": {"sha1": "ab" * 20}}]}, "digest.sha256 is missing"),
        ({"subject": [{"name": "a", "digest": {"sha256": "AB" * 32}}]}, "64 hexadecimal"),
        ({"subject": [{"name": "a", "digest": {"sha256": "ab" * 32}}] * 2}, "occurs twice"),
    ],
)
def test_another_statement_is_refused(
    directory: AuditDir, changes: dict[str, Any], message: str
) -> None:
    data = envelope(statement(directory) | changes, 1)
    with pytest.raises(BadEnvelope, match=message):
        verified(data, directory)


def test_a_payload_of_another_type_is_refused(directory: AuditDir) -> None:
    with pytest.raises(BadEnvelope, match="payloadType is 'application/json'"):
        verified(envelope(statement(directory), 1, kind="application/json"), directory)


@pytest.mark.parametrize(
    "text",
    [
        '{"payload":"","payload":"","payloadType":"","signatures":[{"sig":""}]}',
        '{"payload":"","payloadType":"","signatures":[{"sig":"","keyid":"a","keyid":"a"}]}',
    ],
)
def test_a_member_that_occurs_twice_is_refused_even_if_both_are_equal(text: str) -> None:
    with pytest.raises(BadEnvelope, match="duplicate member"):
        parse_envelope(text.encode())


def test_a_member_of_the_statement_that_occurs_twice_is_refused(directory: AuditDir) -> None:
    text = json.dumps(statement(directory))
    twice = text.replace('"predicate":', '"predicate": {}, "predicate":').encode()
    with pytest.raises(BadEnvelope, match="payload: duplicate member 'predicate'"):
        verified(envelope(twice, 1), directory)


def test_an_oversized_envelope_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(BadEnvelope, match="too large"):
        parse_envelope(b" " * (MAX_ENVELOPE + 1))


def test_many_signatures_are_refused(directory: AuditDir) -> None:
    data = json.loads(envelope(statement(directory), 1))
    data["signatures"] *= 1000
    with pytest.raises(BadEnvelope, match="1,000 signatures"):
        parse_envelope(json.dumps(data).encode())


def test_a_deep_payload_is_refused(directory: AuditDir) -> None:
    deep = b'{"a":' * 500 + b"1" + b"}" * 500
    with pytest.raises(BadEnvelope, match="nested deeper"):
        verified(envelope(deep, 1), directory)


@pytest.mark.parametrize("sig", ["AA=A", "A", "AB==", "****", "A\nAA", 5, None, {}])
def test_what_is_not_base64_is_refused(sig: object) -> None:
    data = {"payloadType": "t", "payload": "", "signatures": [{"keyid": "a", "sig": sig}]}
    with pytest.raises(BadEnvelope, match=r"signatures\[0\].sig"):
        parse_envelope(json.dumps(data).encode())


def test_the_attestation_of_another_project_does_not_pass(
    tmp_path: Path, directory: AuditDir
) -> None:
    other = new_trail(tmp_path / "other", records=7)
    config = other.config.read_text().replace("lamp", "door")
    other.config.write_text(config)
    content = statement(other) | {"predicate": {"project": {"name": "door"}}}
    result = verified(envelope(content, 1), directory)
    assert result.result is VerificationResult.FAIL
    assert [each.status.value for each in result.files] == ["changed"] * 3
    assert "it attests the project 'door', and this is 'lamp'" in result.problems


def test_a_file_that_is_not_attested_is_missing(directory: AuditDir) -> None:
    content = statement(directory)
    del content["subject"][1]
    result = verified(envelope(content, 1), directory)
    assert result.result is VerificationResult.FAIL
    assert [(each.name, each.status.value) for each in result.files if not each.is_covered] == [
        (".ai-audit/annotations.jsonl", "missing")
    ]


def test_a_subject_outside_of_the_trail_is_never_read(directory: AuditDir) -> None:
    content = statement(directory)
    content["subject"].append({"name": "../../etc/passwd", "digest": {"sha256": "ab" * 32}})
    result = verified(envelope(content, 1), directory)
    assert result.files[3].status.value == "unchecked"
    assert result.files[3].present_sha256 is None


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["payload", "payloadType", "signatures", "sig", "keyid", "x"]), inner, max_size=5), max_leaves=20))  # fmt: skip
def test_any_json_is_an_envelope_or_is_refused(value: Any) -> None:
    try:
        found = parse_envelope(json.dumps(value).encode())
    except BadEnvelope:
        return
    assert parse_envelope(found.encode()).payload == found.payload


@given(st.dictionaries(st.sampled_from(["_type", "subject", "predicateType", "predicate", "validation", "project", "manifest", "annotations"]), st.none() | st.text(max_size=5) | st.integers() | st.lists(st.integers(), max_size=2) | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)))  # fmt: skip
def test_any_payload_is_a_statement_or_is_refused(members: dict[str, Any]) -> None:
    for content in (members, {"predicate": members}):
        whole = {
            "_type": "https://in-toto.io/Statement/v1",
            "predicateType": "https://itsavibe.ai/vibes/attestation/v1",
            "subject": [
                {"name": ".ai-audit/annotations.jsonl", "digest": {"sha256": "ab" * 32}},
                {"name": ".ai-audit/manifest.json", "digest": {"sha256": "ab" * 32}},
            ],
            "predicate": {},
            **content,
        }
        try:
            found = parse_statement(Envelope(json.dumps(whole).encode()))
        except BadEnvelope:
            continue
        for subject in found.subjects:
            facts = found.facts(subject)
            assert facts.size is None or facts.size >= 0
            assert facts.count is None or facts.count >= 0
        assert (found.project, found.commit, found.attested_at) is not None


class GitHistory(VersionsInGit):
    """The attested log as git still has it, and whether git ignores the trail."""

    def __init__(self, log: bytes = b"", *, is_ignored: bool = False) -> None:
        self._log, self._is_ignored = log, is_ignored

    @override
    def content(self, name: str, sha256: str, size: int | None) -> bytes | None:
        return self._log if hashlib.sha256(self._log).hexdigest() == sha256 else None

    @override
    def is_unpublished(self, name: str) -> bool:
        return self._is_ignored


def test_line_ends_that_join_records_are_a_change(directory: AuditDir) -> None:
    data = envelope(statement(directory), 1)
    directory.log.write_bytes(directory.log.read_bytes().replace(b"\n", b"\r"))
    assert statuses(verified(data, directory)) == ["equal", "changed", "equal"]


@pytest.mark.parametrize(("end", "status"), [(b"\r", "changed"), (b"\r\n", "prefix")])
def test_a_last_record_without_line_end_is_not_continued(
    directory: AuditDir, end: bytes, status: str
) -> None:
    directory.log.write_bytes(directory.log.read_bytes().removesuffix(b"\n"))
    data = envelope(statement(directory, sizes(directory)), 1)
    with directory.log.open("ab") as log:
        log.write(end + record(9))
    assert statuses(verified(data, directory)) == ["equal", status, "equal"]


def test_an_added_entry_that_breaks_the_manifest_is_a_change(directory: AuditDir) -> None:
    data = envelope(statement(directory, sizes(directory)), 1)
    text = directory.manifest.read_bytes().removesuffix(b"}}\n")
    directory.manifest.write_bytes(text + b'"%064x":{"type":"command"}\n}}\n' % 99)  # no comma
    assert statuses(verified(data, directory)) == ["changed", "equal", "equal"]


def annotation(number: int, text: str) -> bytes:
    return b'{"type":"line","annotation_id":"a%d","action":"%b"}\n' % (number, text.encode())


@pytest.mark.parametrize(
    ("present", "status"),
    [
        ([annotation(1, "create"), annotation(8, "x"), annotation(2, "modify")], "subset"),
        ([annotation(9, "x"), annotation(2, "modify"), annotation(1, "create")], "changed"),
        ([annotation(2, "forged"), annotation(1, "create"), annotation(2, "modify")], "changed"),
        ([annotation(1, "create"), annotation(9, "x")], "changed"),
    ],
    ids=["a record in between", "another order", "a first record with its id", "one lost"],
)
def test_records_added_in_between_change_no_attested_one(
    directory: AuditDir, present: list[bytes], status: str
) -> None:
    attested = annotation(1, "create") + annotation(2, "modify")
    directory.log.write_bytes(attested)
    data = parse_envelope(envelope(statement(directory), 1))
    directory.log.write_bytes(b"".join(present))
    result = verify(data, directory, KEYS, NOW, versions=GitHistory(attested))
    assert statuses(result) == ["equal", status, "equal"]


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("manifest.json", TrustTier.SELF_ATTESTED),
        ("annotations.jsonl", TrustTier.NONE),
        ("config.json", TrustTier.NONE),
    ],
)
def test_only_the_manifest_may_be_private(directory: AuditDir, name: str, tier: TrustTier) -> None:
    data = parse_envelope(envelope(statement(directory), 1))
    (directory.path / name).unlink()
    result = verify(data, directory, KEYS, NOW, versions=GitHistory(is_ignored=True))
    assert (result.result, result.tier) == (VerificationResult.UNKNOWN, tier)


def statuses(result: Verification) -> list[str]:
    return [each.status.value for each in result.files]


def test_one_key_is_one_witness(directory: AuditDir) -> None:
    as_provider = replace(trusted(1, Role.TOOL_PROVIDER), key_id="provider")
    data = json.loads(envelope(statement(directory), 1))
    data["signatures"].append({**data["signatures"][0], "keyid": "provider"})
    parsed = parse_envelope(json.dumps(data).encode())
    result = verify(parsed, directory, [trusted(1), as_provider], NOW)
    assert result.tier is TrustTier.SELF_ATTESTED
