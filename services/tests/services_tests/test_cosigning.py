"""A provider signs digests: keys, rotation, tokens and rates, through a real server."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from services_tests.attestations import attestation
from services_tests.running_server import http_request, run, serving
from vibes_lsp.attestation.cosigning import (
    COSIGN_PATH,
    KEY_DOCUMENT_PATH,
    fetch_key_document,
    request_cosignature,
)
from vibes_lsp.attestation.envelope import SignedMessage
from vibes_lsp.attestation.signature_checks import (
    IndependentTime,
    SignatureTimes,
    SignatureVerdict,
    check_signatures,
)
from vibes_lsp.attestation.signing_time import signing_time
from vibes_lsp.attestation.trusted_keys import KeyStatus
from vibes_lsp.errors import ServiceFailure

if TYPE_CHECKING:
    from pathlib import Path

    from services_tests.conftest import ProviderFolder


def test_a_provider_set_up_by_commands_cosigns_and_publishes_its_key(tmp_path: Path) -> None:
    folder = tmp_path / "provider"
    run("cosign-server", "init", folder, "--provider", "Example", "--tool-name", "example-agent")
    token = run("cosign-server", "token", folder, "alice").strip()
    envelope = attestation()
    with serving("cosign-server", "serve", folder) as server:
        cosignature = request_cosignature(server.url + COSIGN_PATH, envelope, token)
        keys = fetch_key_document(server.url + KEY_DOCUMENT_PATH)
        log = server.log
    cosigned = envelope.with_signature(cosignature)
    result = check_signatures(cosigned, keys, SignatureTimes(datetime.now(UTC)))[-1]
    assert result.verdict is SignatureVerdict.GOOD, result
    assert result.message is SignedMessage.DIGEST
    assert result.name == "Example (example-agent)"
    signed_at = signing_time(cosigned, cosignature, keys[0].key)
    assert signed_at is not None
    assert abs(datetime.now(UTC) - signed_at) < timedelta(minutes=5)
    # The server saw the digest and nothing else; the token is in no log.
    assert not [line for line in log if token in line]
    assert any(envelope.pae_digest.hex() in line for line in log)


def test_files_of_a_provider_are_private_where_they_must_be(provider: ProviderFolder) -> None:
    modes = {path.name: path.stat().st_mode & 0o777 for path in provider.path.iterdir()}
    [private] = [name for name in modes if name.endswith(".key")]
    modes.pop(".lock")
    assert modes == {private: 0o600, "signing-keys.json": 0o644, "tokens.json": 0o600}
    stored = (provider.path / "tokens.json").read_text()
    assert provider.cosign_token not in stored
    assert provider.register_token not in stored


def test_a_rotated_key_signs_at_once_and_the_retired_one_still_verifies(
    provider: ProviderFolder,
) -> None:
    before, after = attestation(number=1), attestation(number=2)
    with serving("cosign-server", "serve", provider.path) as server:
        url = server.url + COSIGN_PATH
        old = request_cosignature(url, before, provider.cosign_token)
        rotated = datetime.now(UTC)
        run("cosign-server", "rotate", provider.path)
        new = request_cosignature(url, after, provider.cosign_token)
        keys = fetch_key_document(server.url + KEY_DOCUMENT_PATH)
    assert [key.status for key in keys] == [KeyStatus.ACTIVE, KeyStatus.RETIRED]
    assert [key.declared_id for key in keys] == [new.key_id, old.key_id]
    for envelope, cosignature in ((before, old), (after, new)):
        seen = (IndependentTime(rotated, "a witness"),)
        times = SignatureTimes(datetime.now(UTC), independent=seen)
        result = check_signatures(envelope.with_signature(cosignature), keys, times)[-1]
        assert result.verdict is SignatureVerdict.GOOD, result
    # A retired private key is gone.
    assert [path.name for path in provider.path.glob("*.key")] == [f"{new.key_id}.key"]
    listed = run("cosign-server", "keys", provider.path)
    assert re.search(rf"{new.key_id} +active", listed)
    assert re.search(rf"{old.key_id} +retired", listed)


def test_a_revoked_token_is_refused_without_a_restart(provider: ProviderFolder) -> None:
    with serving("cosign-server", "serve", provider.path) as server:
        url = server.url + COSIGN_PATH
        request_cosignature(url, attestation(), provider.cosign_token)
        run("cosign-server", "token", provider.path, "alice", "--revoke")
        with pytest.raises(ServiceFailure, match="status 401"):
            request_cosignature(url, attestation(), provider.cosign_token)
        added = run("cosign-server", "token", provider.path, "alice").strip()
        request_cosignature(url, attestation(), added)


def test_broken_files_of_the_server_refuse_everything_until_repaired(
    provider: ProviderFolder,
) -> None:
    tokens, keys = provider.path / "tokens.json", provider.path / "signing-keys.json"
    with serving("cosign-server", "serve", provider.path) as server:
        url = server.url + COSIGN_PATH
        for path in (tokens, keys):
            content = path.read_bytes()
            path.write_bytes(content[: len(content) // 2])
            with pytest.raises(ServiceFailure, match="status 503"):
                request_cosignature(url, attestation(), provider.cosign_token)
            path.write_bytes(content)
            request_cosignature(url, attestation(), provider.cosign_token)


def test_no_key_that_is_past_its_validity_signs(provider: ProviderFolder) -> None:
    path = provider.path / "signing-keys.json"
    with serving("cosign-server", "serve", provider.path) as server:
        document = json.loads(path.read_bytes())
        document["keys"][0]["valid_until"] = "2026-01-01T00:00:00Z"
        path.write_text(json.dumps(document))
        with pytest.raises(ServiceFailure, match="status 503: no signing key"):
            request_cosignature(server.url + COSIGN_PATH, attestation(), provider.cosign_token)


def test_a_token_that_is_used_too_often_waits(provider: ProviderFolder) -> None:
    with serving("cosign-server", "serve", provider.path, "--rate", "3") as server:
        url, envelope = server.url + COSIGN_PATH, attestation()
        for _ in range(3):
            request_cosignature(url, envelope, provider.cosign_token)
        refused = http_request(
            "POST", url, json={}, headers={"Authorization": f"Bearer {provider.cosign_token}"}
        )
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 20
        # Others are not affected.
        other = run("cosign-server", "token", provider.path, "bob").strip()
        request_cosignature(url, envelope, other)


@pytest.mark.parametrize(
    "digest",
    [
        None,
        5,
        "",
        "x",
        "AA==",
        "A" * 43 + "!",
        "é" * 44,
        "0" * 63,
        "g" * 64,
        "AAAA" * 20,
        ["A" * 43],
    ],
)
def test_only_a_digest_is_signed(running_provider: tuple[str, str], digest: object) -> None:
    url, token = running_provider
    answer = http_request(
        "POST", url, json={"pae_hash": digest}, headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "bad-request"


def test_a_digest_may_be_base64_of_either_alphabet_or_hexadecimal(
    running_provider: tuple[str, str],
) -> None:
    url, token = running_provider
    digest = bytes([251, 255, *range(30)])
    spellings = (
        "+/8AAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0=",
        "-_8AAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0",
        digest.hex(),
    )
    signatures = {
        http_request(
            "POST", url, json={"pae_hash": each}, headers={"Authorization": f"Bearer {token}"}
        ).json()["sig"]
        for each in spellings
    }
    assert len(signatures) == 1


def test_a_folder_is_set_up_once(provider: ProviderFolder) -> None:
    keys = (provider.path / "signing-keys.json").read_bytes()
    with pytest.raises(AssertionError, match="exists"):
        run("cosign-server", "init", provider.path, "--provider", "P", "--tool-name", "T")
    with pytest.raises(AssertionError, match="has a token already"):
        run("cosign-server", "token", provider.path, "alice")
    assert (provider.path / "signing-keys.json").read_bytes() == keys
