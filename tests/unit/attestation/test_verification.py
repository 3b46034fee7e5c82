"""An attestation is good, bad or could not be checked, and says what it still covers."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.attestation.attested_trail import (
    envelope,
    new_trail,
    record,
    sizes,
    statement,
    trusted,
)
from vibes_lsp.attestation import file_digest
from vibes_lsp.attestation.attested_files import FileStatus
from vibes_lsp.attestation.envelope import parse_envelope
from vibes_lsp.attestation.signature_checks import SignatureVerdict
from vibes_lsp.attestation.tiers import TrustTier
from vibes_lsp.attestation.trusted_keys import Role
from vibes_lsp.attestation.verification import Verification, VerificationResult, verify

if TYPE_CHECKING:
    from vibes_lsp.store.audit_dir import AuditDir

NOW = datetime(2026, 2, 3, tzinfo=UTC)
KEYS = (trusted(1), trusted(2, Role.TOOL_PROVIDER, "Lamp Inc."))


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    return new_trail(tmp_path)


def verified(data: bytes, directory: AuditDir) -> Verification:
    return verify(parse_envelope(data), directory, KEYS, NOW)


def statuses(result: Verification) -> list[str]:
    return [each.status.value for each in result.files]


def reasons(result: Verification) -> list[str]:
    return [each.reason for each in result.files]


def test_an_untouched_trail_passes(directory: AuditDir) -> None:
    result = verified(envelope(statement(directory), 1), directory)
    assert result.result is VerificationResult.PASS
    assert statuses(result) == ["equal", "equal", "equal"]
    assert result.tier is TrustTier.SELF_ATTESTED


@pytest.mark.parametrize(
    ("signers", "tier"),
    [
        ((1,), TrustTier.SELF_ATTESTED),
        ((1, 2), TrustTier.TOOL_CORROBORATED),
        ((2,), TrustTier.TOOL_ONLY),
        ((3,), TrustTier.NONE),
    ],
)
def test_the_tier_follows_from_whose_keys_signed(
    directory: AuditDir, signers: tuple[int, ...], tier: TrustTier
) -> None:
    assert verified(envelope(statement(directory), *signers), directory).tier is tier


def test_a_signature_by_an_unknown_key_could_not_be_checked(directory: AuditDir) -> None:
    result = verified(envelope(statement(directory), 1, 3), directory)
    assert [each.verdict for each in result.signatures] == [
        SignatureVerdict.GOOD,
        SignatureVerdict.UNCHECKED,
    ]
    assert result.result is VerificationResult.UNKNOWN


@pytest.mark.parametrize("knows_sizes", [True, False])
def test_a_log_that_grew_is_valid_for_its_beginning(directory: AuditDir, knows_sizes: bool) -> None:
    predicate = sizes(directory) if knows_sizes else {"stats": {"total_annotations": 3}}
    data = envelope(statement(directory, predicate), 1)
    with directory.log.open("ab") as log:
        log.write(record(7) + b"\n" + record(8))
    result = verified(data, directory)
    assert result.files[1].status is FileStatus.PREFIX
    assert result.files[1].reason == "valid for the first 3 records; 2 added since"
    assert result.result is VerificationResult.PASS


def test_a_manifest_that_grew_is_valid_for_its_beginning(directory: AuditDir) -> None:
    data = envelope(statement(directory, sizes(directory)), 1)
    text = directory.manifest.read_bytes().removesuffix(b"}}\n")
    directory.manifest.write_bytes(text + b',"%064x":{"type":"command"}\n}}\n' % 99)
    assert reasons(verified(data, directory))[0] == ("valid for the first 3 entries; 1 added since")


def test_a_second_value_for_an_attested_entry_is_a_change(directory: AuditDir) -> None:
    data = envelope(statement(directory, sizes(directory)), 1)
    text = directory.manifest.read_bytes().removesuffix(b"}}\n")
    directory.manifest.write_bytes(text + b',"%064x":{"type":"prompt"}\n}}\n' % 1)
    assert statuses(verified(data, directory))[0] == "changed"


@pytest.mark.parametrize("indent", [None, 4, "\t"])
def test_a_formatter_changes_no_value(directory: AuditDir, indent: int | str | None) -> None:
    data = envelope(statement(directory), 1)
    value = json.loads(directory.config.read_text())
    directory.config.write_text(json.dumps(value, indent=indent))
    result = verified(data, directory)
    assert statuses(result) == ["equal", "equal", "reformatted"]
    assert result.result is VerificationResult.PASS


def test_a_changed_record_is_a_change(directory: AuditDir) -> None:
    data = envelope(statement(directory, sizes(directory)), 1)
    directory.log.write_bytes(directory.log.read_bytes().replace(b"s1", b"s9"))
    result = verified(data, directory)
    assert statuses(result) == ["equal", "changed", "equal"]
    assert result.result is VerificationResult.FAIL


@given(
    st.lists(st.sampled_from([b"a", b" ", b"\r", b"\n"])).map(b"".join),
    st.integers(0, 8),
    st.sampled_from([2, 3, 100]),
)
def test_a_file_is_digested_with_its_beginning(data: bytes, size: int, at_once: int) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_digest, "_CHUNK", at_once)
        path = Path(folder) / "log"
        path.write_bytes(data)
        found = file_digest.digest_with_prefix(path, size)
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    if size > len(data):
        assert found.prefix_sha256 is None
        return
    rest = data[size:]
    assert found.prefix_sha256 == hashlib.sha256(data[:size]).hexdigest()
    assert found.added == sum(bool(line.strip()) for line in rest.split(b"\n"))
    is_end = data[size - 1 : size] in {b"", b"\n"} or rest[:1] in {b"", b"\n"}
    assert found.at_line_end == (is_end or rest.startswith(b"\r\n"))
