"""A registry stores attestations and finds them by id, key and project, in both databases."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sql

from services_tests.attestations import attestation
from services_tests.running_server import RunningServer, http_request, run, serving
from vibes_lsp.attestation.envelope import Envelope
from vibes_lsp.attestation.keys import generate_private_key
from vibes_lsp.errors import ServiceFailure, VibesError
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.hashing import sha256
from vibes_services.registry_client import FIND_PATH, SUBMIT_PATH, fetch, find, submit
from vibes_services.server.registry_database import RegistryDatabase, _engine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from services_tests.conftest import ProviderFolder


@pytest.fixture
def registry(provider: ProviderFolder, database_url: str) -> Iterator[RunningServer]:
    """A registry that anyone with the token of `provider` may submit to."""
    with serving(
        "registry", "serve", provider.path, "--database", database_url, "--rate", "100000"
    ) as server:
        yield server


def test_what_is_submitted_is_found_by_id_key_and_project(
    registry: RunningServer, provider: ProviderFolder
) -> None:
    key, project = generate_private_key(), f"shop-{uuid.uuid4()}"
    envelopes = [attestation(project, number, key) for number in range(5)]
    for envelope in envelopes:
        found = submit(registry.url, envelope, provider.register_token, [key.public])
        assert found.attestation_id == envelope.attestation_id
        assert [one.verified for one in found.signatures] == [True]
    submit(registry.url, attestation("another"), provider.register_token)

    expected = [each.attestation_id for each in reversed(envelopes)]
    assert [each.attestation_id for each in find(registry.url, project=project)] == expected
    assert [each.attestation_id for each in find(registry.url, key_id=key.key_id)] == expected
    assert find(registry.url, key_id="0" * 16) == []
    entry, envelope = fetch(registry.url, expected[0])
    assert entry.project == project
    assert envelope.as_json() == envelopes[-1].as_json()


def test_pages_hold_each_attestation_once(
    registry: RunningServer, provider: ProviderFolder
) -> None:
    project = f"pages-{uuid.uuid4()}"
    submitted = [attestation(project, number) for number in range(7)]
    for envelope in submitted:
        submit(registry.url, envelope, provider.register_token)
    seen, before = [], None
    while True:
        query: dict[str, str] = {"project": project, "limit": "3"}
        if before is not None:
            query["before"] = before
        page = http_request("GET", registry.url + FIND_PATH, params=query).json()
        seen += [each["attestation_id"] for each in page["attestations"]]
        before = page["next"]
        if before is None:
            break
    assert seen == [each.attestation_id for each in reversed(submitted)]
    # The client follows the pages by itself.
    assert len(find(registry.url, project=project, limit=5)) == 5


def test_submitting_again_changes_nothing_but_may_verify(
    registry: RunningServer, provider: ProviderFolder
) -> None:
    key = generate_private_key()
    envelope = attestation(f"again-{uuid.uuid4()}", key=key)
    first = submit(registry.url, envelope, provider.register_token)
    assert [one.verified for one in first.signatures] == [False]
    again = submit(registry.url, envelope, provider.register_token, [key.public])
    assert [one.verified for one in again.signatures] == [True]
    last = submit(registry.url, envelope, provider.register_token)
    assert last == again
    assert first.received_at == last.received_at


def test_a_signature_of_another_key_is_listed_as_not_verified(
    registry: RunningServer, provider: ProviderFolder
) -> None:
    owner, other = generate_private_key(), generate_private_key()
    honest = attestation(f"forged-{uuid.uuid4()}", key=other)
    members = honest.as_json()
    signatures = members["signatures"]
    assert isinstance(signatures, list)
    assert isinstance(signatures[0], dict)
    signatures[0]["keyid"] = owner.key_id  # claims the owner's key
    answer = http_request(
        "POST",
        registry.url + SUBMIT_PATH,
        json={"envelope": members, "public_keys": [owner.public.pem, other.public.pem]},
        headers={"Authorization": f"Bearer {provider.register_token}"},
    )
    assert answer.status_code == 201
    [found] = find(registry.url, key_id=owner.key_id)
    assert [one.verified for one in found.signatures] == [False]


def test_the_stored_envelope_hashes_to_its_id(
    registry: RunningServer, provider: ProviderFolder
) -> None:
    envelope = attestation(f"hash-{uuid.uuid4()}")
    # Member order and white space of the request do not change the id.
    members = dict(reversed(envelope.as_json().items()))
    answer = http_request(
        "POST",
        registry.url + SUBMIT_PATH,
        content=json.dumps({"envelope": members}, indent=3),
        headers={
            "Authorization": f"Bearer {provider.register_token}",
            "Content-Type": "application/json",
        },
    )
    assert answer.json()["attestation_id"] == envelope.attestation_id
    body = http_request("GET", f"{registry.url}{FIND_PATH}/{envelope.attestation_id}").json()
    assert sha256(canonical_json(body["envelope"])) == envelope.attestation_id


@pytest.mark.parametrize("registry_url", ["none"])
def test_what_is_no_attestation_is_refused_with_a_reason(
    registry_url: str, registry: RunningServer, provider: ProviderFolder
) -> None:
    assert registry_url == "none"
    valid = attestation().as_json()
    unsigned = {**valid, "signatures": []}
    other_type = Envelope(b"{}", "text/plain").signed_by(generate_private_key()).as_json()
    other_statement = Envelope(b'{"_type":"x"}').signed_by(generate_private_key()).as_json()
    nul = attestation("a\x00b").as_json()
    long = attestation("p" * 201).as_json()
    cases = [
        ({}, 400, "envelope is missing"),
        ({"envelope": "text"}, 400, "envelope is missing"),
        ({"envelope": unsigned}, 400, "signatures is missing, empty"),
        ({"envelope": other_type}, 400, "payloadType"),
        ({"envelope": other_statement}, 400, "payload: _type"),
        ({"envelope": nul}, 400, "project"),
        ({"envelope": long}, 400, "project"),
        ({"envelope": valid, "attestation_id": "0" * 64}, 422, "the id of this envelope is"),
        ({"envelope": valid, "public_keys": ["no key"]}, 400, "not a public key"),
    ]
    for body, status, reason in cases:
        answer = http_request(
            "POST",
            registry.url + SUBMIT_PATH,
            json=body,
            headers={"Authorization": f"Bearer {provider.register_token}"},
        )
        assert (answer.status_code, reason in answer.text) == (status, True), answer.text


def test_a_registry_that_lies_about_an_envelope_is_found_out(
    registry: RunningServer, provider: ProviderFolder
) -> None:
    envelope = attestation(f"lie-{uuid.uuid4()}")
    submit(registry.url, envelope, provider.register_token)
    with pytest.raises(ServiceFailure, match="404"):
        fetch(registry.url, "0" * 64)


def test_the_commands_submit_find_and_fetch(
    registry: RunningServer, provider: ProviderFolder, tmp_path: Path
) -> None:
    key, project = generate_private_key(), f"commands-{uuid.uuid4()}"
    envelope = attestation(project, key=key)
    path, public, copy = tmp_path / "a.json", tmp_path / "a.pub", tmp_path / "copy.json"
    path.write_bytes(envelope.encode())
    public.write_text(key.public.pem)
    out = run(
        "registry",
        "submit",
        registry.url,
        path,
        "--public-key",
        public,
        VIBES_REGISTRY_TOKEN=provider.register_token,
    )
    assert f"registered {envelope.attestation_id}" in out
    assert f"{key.key_id}: verified by the registry" in out
    listed = run("registry", "find", registry.url, "--project", project)
    assert envelope.attestation_id in listed
    assert "just now" in listed
    run("registry", "find", registry.url, "--id", envelope.attestation_id, "--output", copy)
    assert copy.read_bytes() == path.read_bytes()
    found = json.loads(run("registry", "find", registry.url, "--key-id", key.key_id, "--json"))
    assert [each["attestationId"] for each in found["attestations"]] == [envelope.attestation_id]


def test_a_database_that_is_none_is_refused_at_the_start(
    provider: ProviderFolder, tmp_path: Path
) -> None:
    from vibes_services.server.registry_database import RegistryDatabase

    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database at all, but long enough to look at" * 10)
    for url, reason in (
        ("nonsense", "invalid"),
        ("mysql://localhost/x", "cannot use"),
        (f"sqlite:///{broken}", "cannot be used"),
        (f"sqlite:///{tmp_path}/missing/registry.db", "cannot be used"),
        (f"postgresql://nobody@/none?host={tmp_path}", "cannot be used"),
    ):
        with pytest.raises(VibesError, match=reason):
            RegistryDatabase(url)
    assert broken.read_bytes().startswith(b"no database at all")
    assert provider.path.exists()


def test_tables_of_another_version_are_refused_and_unnumbered_ones_adopted(
    provider: ProviderFolder, database_url: str
) -> None:
    def change(*statements: str) -> None:
        engine = _engine(database_url)
        with engine.begin() as connection:
            for each in statements:
                connection.execute(sql.text(each))
        engine.dispose()

    envelope = attestation(f"kept-{uuid.uuid4()}")
    arguments = ("registry", "serve", provider.path, "--database", database_url)
    with serving(*arguments) as server:
        submit(server.url, envelope, provider.register_token)
    change("DROP TABLE registry_schema")  # as a release before the number left it
    with serving(*arguments) as server:
        assert fetch(server.url, envelope.attestation_id)[1].as_json() == envelope.as_json()

    change("UPDATE registry_schema SET version = 7")
    with pytest.raises(VibesError, match="tables of version 7, expected 1"):
        RegistryDatabase(database_url)
    change("DELETE FROM registry_schema", "ALTER TABLE attestations DROP COLUMN submitter")
    try:
        with pytest.raises(VibesError, match="attestations has no column submitter"):
            RegistryDatabase(database_url)
    finally:
        change("DROP TABLE signatures", "DROP TABLE attestations", "DROP TABLE registry_schema")
