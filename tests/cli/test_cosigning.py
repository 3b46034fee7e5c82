"""`vibes attest` with a cosigner; `vibes verify` says what that gives."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.fake_cosigner import FakeCosigner, answering, fake_cosigner
from vibes_lsp.attestation.keys import generate_private_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.run_vibes import CommandResult, RunVibes
    from tests.unit.checks.projects import Project


@pytest.fixture
def cosigner() -> Iterator[FakeCosigner]:
    """A provider's endpoint."""
    with fake_cosigner() as running:
        yield running


@pytest.fixture
def vibes(
    run_vibes: RunVibes, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Run `vibes` in a project, with a key of its own user and a token of the cosigner."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("VIBES_COSIGN_TOKEN", "a-token")

    def run_in_project(*arguments: str | Path) -> CommandResult:
        return run_vibes(*arguments, cwd=project.root)

    assert run_in_project("keys", "generate").code == 0
    return run_in_project


def test_a_cosigned_attestation_is_tool_corroborated_and_says_when(
    vibes: Any, cosigner: FakeCosigner, project: Project
) -> None:
    trusted = vibes("keys", "trust", cosigner.document_url)
    assert "is the key of Example (example-agent)" in trusted.out
    done = vibes("attest", "--cosign-url", cosigner.cosign_url, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["cosignerKeyId"] == cosigner.key_id
    assert not done.err
    verified = vibes("verify")
    assert verified.code == 0, verified.out
    assert "Trust tier: tool-corroborated" in verified.out
    assert re.search(
        r"cosigned 2026-11-22 12:00 UTC: "
        r"\d+ \w+ (?:after|before) the newest record and \d+ \w+ (?:after|before) the statement's own time",
        verified.out,
    ), verified.out
    signatures = json.loads(vibes("verify", "--json").out)["signatures"]
    [cosignature] = [each for each in signatures if each["role"] == "tool-provider"]
    assert cosignature["signedMessage"] == "digest"
    assert cosignature["signingDelay"]["signedAt"].startswith("2026-11-22T12:00:00")
    assert (project.root / ".ai-audit" / "attestation.json").exists()


def test_a_local_provider_key_cosigns_over_the_payload(
    vibes: Any, project: Project, tmp_path: Path
) -> None:
    provider = generate_private_key()
    secret, public = tmp_path / "provider.key", tmp_path / "provider.pub"
    secret.write_bytes(provider.pem())
    secret.chmod(0o600)
    public.write_text(provider.public.pem)
    vibes("keys", "trust", public, "--provider", "Example", "--key-id", "example-2026-01")
    done = vibes("attest", "--cosign-key", secret, "--cosign-keyid", "example-2026-01")
    assert done.code == 0, done.err
    assert "Cosigned by example-2026-01" in done.out
    verified = vibes("verify")
    assert "example-2026-01  good: made by Example" in verified.out
    assert "Trust tier: tool-corroborated" in verified.out
    cosignatures = json.loads((project.root / ".ai-audit/attestation.json").read_bytes())
    assert next(each["keyid"] for each in cosignatures["signatures"]) == "example-2026-01"


def test_an_unknown_cosigner_is_taken_with_a_warning(vibes: Any, cosigner: FakeCosigner) -> None:
    done = vibes("attest", "--cosign-url", cosigner.cosign_url)
    assert done.code == 0
    assert "was not checked: trust the provider's keys first" in done.err
    verified = vibes("verify")
    assert (verified.code, "Trust tier: self-attested" in verified.out) == (3, True)


def test_without_an_answer_nothing_is_written(
    vibes: Any, cosigner: FakeCosigner, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    attestation = project.root / ".ai-audit" / "attestation.json"
    cases = [
        ("http://127.0.0.1:9/api", "cannot be asked"),
        (cosigner.url + "/elsewhere", "status 404"),
        ("http://example.org/api", "is not an https URL"),
    ]
    for url, reason in cases:
        done = vibes("attest", "--cosign-url", url)
        assert (done.code, reason in done.err) == (2, True), done.err
        assert not attestation.exists()
    monkeypatch.setenv("VIBES_COSIGN_TOKEN", "another-token")
    done = vibes("attest", "--cosign-url", cosigner.cosign_url)
    assert (done.code, "check the token" in done.err) == (2, True), done.err
    assert "another-token" not in done.err
    assert not attestation.exists()


def test_an_endpoint_that_answers_for_another_key_is_refused(
    vibes: Any, cosigner: FakeCosigner, project: Project
) -> None:
    """The key is known, so a signature that it did not make is worse than none."""
    vibes("keys", "trust", cosigner.document_url)
    known = cosigner.key_id
    forged = {"keyid": known, "sig": base64.urlsafe_b64encode(bytes(64)).decode()}
    with answering(forged) as url:
        done = vibes("attest", "--cosign-url", url)
    assert (done.code, f"the cosignature of {known} does not count" in done.err) == (2, True), (
        done.err
    )
    assert not (project.root / ".ai-audit" / "attestation.json").exists()
    for incomplete in ({}, {"keyid": known}, {"sig": forged["sig"]}, {**forged, "sig": "AA=="}):
        with answering(incomplete) as url:
            done = vibes("attest", "--cosign-url", url)
        assert (done.code, "no key id or no Ed25519 signature" in done.err) == (2, True)


def test_a_dry_run_asks_no_cosigner(vibes: Any) -> None:
    done = vibes("attest", "--dry-run", "--cosign-url", "http://127.0.0.1:9/")
    assert (done.code, "Nothing was signed." in done.out) == (0, True)


def test_options_that_do_not_fit_are_refused(vibes: Any) -> None:
    for arguments in (
        ("--cosign-url", "https://example.org", "--cosign-key", "x"),
        ("--cosign-keyid", "x"),
    ):
        assert vibes("attest", *arguments).code == 2
