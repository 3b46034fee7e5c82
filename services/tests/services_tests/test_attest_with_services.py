"""Attestations with a real cosigner, calendars and a registry; `vibes verify` says what that gives."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from services_tests.fake_calendar import fake_calendar
from services_tests.running_server import RunningServer, run, serving
from vibes_lsp.attestation.cosigning import (
    COSIGN_PATH,
    KEY_DOCUMENT_PATH,
)
from vibes_lsp.attestation.envelope import parse_envelope
from vibes_lsp.attestation.keys import generate_private_key
from vibes_lsp.attestation.trusted_keys import Role, TrustedKey
from vibes_lsp.model.canonical_json import canonical_json
from vibes_services.server.signing_keys import as_document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from services_tests.conftest import ProviderFolder
    from tests.cli.run_vibes import CommandResult, RunVibes
    from tests.unit.checks.projects import Project


@pytest.fixture
def server(provider: ProviderFolder) -> Iterator[RunningServer]:
    """A provider's server that is a registry too."""
    database = f"sqlite:///{provider.path / 'registry.db'}"
    with serving("cosign-server", "serve", provider.path, "--registry", database) as running:
        yield running


@pytest.fixture
def vibes(
    run_vibes: RunVibes,
    project: Project,
    tmp_path: Path,
    provider: ProviderFolder,
    monkeypatch: pytest.MonkeyPatch,
) -> Any:
    """Run `vibes` in a project, with a key of its own user and the tokens of a provider."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("VIBES_COSIGN_TOKEN", provider.cosign_token)
    monkeypatch.setenv("VIBES_REGISTRY_TOKEN", provider.register_token)

    def run_in_project(*arguments: str | Path) -> CommandResult:
        return run_vibes(*arguments, cwd=project.root)

    assert run_in_project("keys", "generate").code == 0
    return run_in_project


def test_a_cosigned_attestation_is_tool_corroborated_and_says_when(
    vibes: Any, server: RunningServer, project: Project
) -> None:
    trusted = vibes("keys", "trust", server.url + KEY_DOCUMENT_PATH)
    assert "is the key of Example (example-agent)" in trusted.out
    done = vibes("attest", "--cosign-url", server.url + COSIGN_PATH)
    assert done.code == 0, done.err
    assert "Cosigned by" in done.out
    assert not done.err
    verified = vibes("verify")
    assert verified.code == 0, verified.out
    assert "Trust tier: tool-corroborated" in verified.out
    assert re.search(
        r"cosigned 20\d\d-\d\d-\d\d \d\d:\d\d UTC: "
        r"\d+ \w+ after the newest record and \d+ seconds? after the statement's own time",
        verified.out,
    ), verified.out
    signatures = json.loads(vibes("verify", "--json").out)["signatures"]
    [cosignature] = [each for each in signatures if each["role"] == "tool-provider"]
    assert cosignature["signedMessage"] == "digest"
    assert cosignature["signingDelay"]["secondsAfterNewestRecord"] > 0
    assert (project.root / ".ai-audit" / "attestation.json").exists()


def test_an_attestation_is_cosigned_timestamped_registered_and_found(
    vibes: Any, server: RunningServer, project: Project, tmp_path: Path
) -> None:
    vibes("keys", "trust", server.url + KEY_DOCUMENT_PATH)
    done = vibes("attest", "--cosign-url", server.url + COSIGN_PATH, "--json")
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    with fake_calendar() as calendar:
        made = vibes("timestamp", "create", "--calendar", calendar.url)
    assert (made.code, f"{calendar.url}: accepted it" in made.out) == (0, True)
    public_key = tmp_path / "home/.vibescheck/keys/vibescheck.pub"
    submitted = vibes("registry", "submit", server.url, "--public-key", public_key, "--json")
    [own] = answer["keyIds"]
    listed = {each["keyId"]: each["verified"] for each in json.loads(submitted.out)["signatures"]}
    assert listed == {own: True, answer["cosignerKeyId"]: False}
    found = json.loads(vibes("registry", "find", server.url, "--key-id", own, "--json").out)[
        "attestations"
    ]
    assert [each["attestationId"] for each in found] == [answer["attestationId"]]
    assert (project.root / ".ai-audit" / "attestation.json.ots").exists()
    copy = project.root / "copy.json"
    vibes("registry", "find", server.url, "--id", answer["attestationId"], "--output", copy)
    assert vibes("verify", copy).code == 0


def test_a_timestamp_is_shown_and_dates_a_key_that_has_expired_since(
    vibes: Any, tmp_path: Path
) -> None:
    key = generate_private_key()
    secret, document = tmp_path / "provider.key", tmp_path / "keys.json"
    secret.write_bytes(key.pem())
    secret.chmod(0o600)
    with fake_calendar() as calendar:
        named = ("--calendar", calendar.url)
        assert vibes("verify", "--block-header", f"900000:{'00' * 80}").code == 2
        assert vibes("attest", "--cosign-key", secret).code == 0
        assert vibes("timestamp", "create", *named).code == 0
        ended = datetime.now(UTC)
        published = TrustedKey(key.public, Role.TOOL_PROVIDER, "", valid_until=ended)
        document.write_bytes(canonical_json(as_document("Example", "agent", [published], ended)))
        vibes("keys", "trust", document)

        pending = vibes("verify").out
        assert "Timestamp attestation.json.ots" in pending
        assert "could not check: pending: no block attests it yet" in pending
        header = calendar.mine(900_000, int((ended - timedelta(days=1)).timestamp())).hex()
        assert vibes("timestamp", "upgrade", *named).code == 0
    complete = vibes("verify")
    assert "could not check: the header of Bitcoin block 900000 is needed" in complete.out
    assert (complete.code, "Trust tier: self-attested" in complete.out) == (3, True)

    given = ("--block-header", f"900000:{header}")
    dated = vibes("verify", *given)
    assert (dated.code, "Trust tier: tool-corroborated" in dated.out) == (0, True), dated.out
    assert "good: Bitcoin block 900000 attests it" in dated.out
    assert re.search(r"it existed on 20[\d-]+ by Bitcoin block 900000", dated.out)
    found = json.loads(vibes("verify", *given, "--json").out)["timestamp"]
    assert [each["verdict"] for each in found["attestations"]] == ["good", "unchecked"]

    vibes("attest")  # the proof beside it is for the attestation before
    stale = vibes("verify")
    assert (stale.code, "could not check: " in stale.out) == (0, True)
    assert "the proof is for another file" in stale.out
    assert vibes("verify", *given).code == 2


def test_a_registry_that_refuses_is_one_line(
    vibes: Any, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert vibes("attest").code == 0
    monkeypatch.setenv("VIBES_REGISTRY_TOKEN", "none")
    done = vibes("registry", "submit", server.url)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "check the token" in done.err


def test_a_rotated_key_verifies_what_it_signed_and_nothing_later(
    vibes: Any, server: RunningServer, provider: ProviderFolder, project: Project
) -> None:
    cosigned = ("--cosign-url", server.url + COSIGN_PATH)
    assert vibes("attest", *cosigned).code == 0
    assert vibes("registry", "submit", server.url).code == 0
    [old] = provider.path.glob("*.key")
    stolen = old.read_bytes()
    run("cosign-server", "rotate", provider.path)
    vibes("keys", "trust", server.url + KEY_DOCUMENT_PATH)
    # A thief of the old key could state any time, so its own word is not enough.
    alone = vibes("verify")
    assert (alone.code, "Trust tier: self-attested" in alone.out) == (3, True), alone.out
    assert "no independent time shows that the signature is older" in alone.out
    received = vibes("verify", "--registry", server.url)
    assert (received.code, "Trust tier: tool-corroborated" in received.out) == (0, True)
    assert f"by the registry {server.url}" in received.out

    old.write_bytes(stolen)  # a thief signs after it was retired
    old.chmod(0o600)
    envelope = parse_envelope((project.root / ".ai-audit/attestation.json").read_bytes())
    assert envelope.signatures
    late = vibes("attest", "--cosign-key", old)
    assert (late.code, "the key was valid until" in late.err) == (2, True), late.err
