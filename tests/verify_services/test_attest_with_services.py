"""`vibes attest` with a cosigner, calendars and a registry; `vibes verify` says what that gives."""

from __future__ import annotations

import base64
import json
import re
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

from tests.attestation_server.running_server import RunningServer, run, serving
from tests.verify_services.fake_calendar import fake_calendar
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.verify.cosigning import (
    COSIGN_PATH,
    KEY_DOCUMENT_PATH,
    as_document,
    cosign,
)
from vibes_lsp.verify.envelope import parse_envelope
from vibes_lsp.verify.keys import generate_private_key
from vibes_lsp.verify.signing_time import SigningDelay, signing_time, time_message
from vibes_lsp.verify.trusted_keys import Role, TrustedKey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.attestation_server.conftest import ProviderFolder
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


def test_all_services_in_one_call(vibes: Any, server: RunningServer, project: Project) -> None:
    vibes("keys", "trust", server.url + KEY_DOCUMENT_PATH)
    with fake_calendar() as calendar:
        done = vibes(
            "attest",
            "--cosign-url",
            server.url + COSIGN_PATH,
            "--timestamp",
            "--calendar",
            calendar.url,
            "--register",
            server.url,
            "--json",
        )
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    assert answer["calendars"] == [{"url": calendar.url, "problem": None}]
    [own] = answer["keyIds"]
    listed = {each["keyId"]: each["verified"] for each in answer["registered"]["signatures"]}
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
        assert vibes("attest", "--cosign-key", secret, "--timestamp", *named).code == 0
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
    verified = vibes("verify")
    assert "example-2026-01  good: made by Example" in verified.out
    assert "Trust tier: tool-corroborated" in verified.out
    cosignatures = json.loads((project.root / ".ai-audit/attestation.json").read_bytes())
    assert next(each["keyid"] for each in cosignatures["signatures"]) == "example-2026-01"


def test_an_unknown_cosigner_is_taken_with_a_warning(vibes: Any, server: RunningServer) -> None:
    done = vibes("attest", "--cosign-url", server.url + COSIGN_PATH)
    assert done.code == 0
    assert "was not checked: trust the provider's keys first" in done.err
    verified = vibes("verify")
    assert (verified.code, "Trust tier: self-attested" in verified.out) == (3, True)


def test_without_an_answer_nothing_is_written(
    vibes: Any, server: RunningServer, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    attestation = project.root / ".ai-audit" / "attestation.json"
    cases = [
        ("http://127.0.0.1:9/api", "cannot be asked"),
        (server.url + "/elsewhere", "status 404"),
        ("http://example.org/api", "is not an https URL"),
        (server.url + KEY_DOCUMENT_PATH, "status 405"),
    ]
    for url, reason in cases:
        done = vibes("attest", "--cosign-url", url)
        assert (done.code, reason in done.err) == (2, True), done.err
        assert not attestation.exists()
    monkeypatch.setenv("VIBES_COSIGN_TOKEN", "another-token")
    done = vibes("attest", "--cosign-url", server.url + COSIGN_PATH)
    assert (done.code, "check the token" in done.err) == (2, True), done.err
    assert "another-token" not in done.err
    assert not attestation.exists()


def test_an_endpoint_that_answers_for_another_key_is_refused(
    vibes: Any, server: RunningServer, provider: ProviderFolder, project: Project
) -> None:
    """The key is known, so a signature that it did not make is worse than none."""
    vibes("keys", "trust", server.url + KEY_DOCUMENT_PATH)
    [known] = [path.stem for path in provider.path.glob("*.key")]
    forged = {"keyid": known, "sig": base64.urlsafe_b64encode(bytes(64)).decode()}
    with _answering(forged) as url:
        done = vibes("attest", "--cosign-url", url)
    assert (done.code, f"the cosignature of {known} does not count" in done.err) == (2, True), (
        done.err
    )
    assert not (project.root / ".ai-audit" / "attestation.json").exists()
    for incomplete in ({}, {"keyid": known}, {"sig": forged["sig"]}, {**forged, "sig": "AA=="}):
        with _answering(incomplete) as url:
            done = vibes("attest", "--cosign-url", url)
        assert (done.code, "no key id or no Ed25519 signature" in done.err) == (2, True)


def test_a_registry_that_refuses_leaves_the_attestation(
    vibes: Any, server: RunningServer, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIBES_REGISTRY_TOKEN", "none")
    done = vibes("attest", "--register", server.url)
    assert done.code == 2
    assert "attestation.json is written, but" in done.err
    assert (project.root / ".ai-audit" / "attestation.json").exists()


def test_a_dry_run_asks_nobody(vibes: Any) -> None:
    done = vibes(
        "attest",
        "--dry-run",
        "--cosign-url",
        "http://127.0.0.1:9/",
        "--register",
        "http://127.0.0.1:9",
        "--timestamp",
        "--calendar",
        "http://127.0.0.1:9",
    )
    assert (done.code, "Nothing was signed." in done.out) == (0, True)


def test_options_that_do_not_fit_are_refused(vibes: Any) -> None:
    for arguments in (
        ("--cosign-url", "https://example.org", "--cosign-key", "x"),
        ("--cosign-keyid", "x"),
        ("--calendar", "https://example.org"),
    ):
        assert vibes("attest", *arguments).code == 2


def test_a_rotated_key_verifies_what_it_signed_and_nothing_later(
    vibes: Any, server: RunningServer, provider: ProviderFolder, project: Project
) -> None:
    cosigned = ("--cosign-url", server.url + COSIGN_PATH)
    assert vibes("attest", *cosigned, "--register", server.url).code == 0
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


@contextmanager
def _answering(members: dict[str, Any]) -> Iterator[str]:
    """Run an endpoint that gives one answer; yield its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps(members).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, format: str, *args: object) -> None:
            """Write nothing."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.server_port}/"
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
