"""RFC 5: written hashes and ids, computed again by an independent implementation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.conformance.requirement import rfc_writer
from tests.trails import annotation_id, context_hash

if TYPE_CHECKING:
    from tests.conformance.recorded_trail import RecordedTrail

DIGEST = re.compile(r"[0-9a-f]{64}")


@rfc_writer(
    "5.1", "stated", "every hash and id is a SHA-256 digest of 64 lowercase hexadecimal digits"
)
def test_every_key_and_id_is_a_digest(written: RecordedTrail) -> None:
    keys = [*written.manifest["entries"], *(record["annotation_id"] for record in written.records)]
    assert all(DIGEST.fullmatch(key) for key in keys)


@rfc_writer(
    "5.2", "stated", "an entry's key is the hash of its canonical form without its creation time"
)
def test_every_key_is_the_hash_of_its_entry(written: RecordedTrail) -> None:
    assert written.manifest["entries"]
    assert {
        key for key, entry in written.manifest["entries"].items() if context_hash(entry) != key
    } == set()


@rfc_writer("5.3", "stated", "records refer by whole hashes")
def test_references_are_complete(written: RecordedTrail) -> None:
    members = [
        (name, value)
        for record in written.records
        for name, value in record.items()
        if name.endswith("_hash")
    ]
    assert members
    assert all(value is None or DIGEST.fullmatch(value) for _, value in members)
    for record in written.annotations():
        named = {
            name: record[name]
            for name in (
                "environment_hash",
                "command_hash",
                "prompt_hash",
                "reasoning_hash",
                "decision_hash",
            )
            if record.get(name)
        }
        assert set(named.values()) <= set(written.manifest["entries"])


@rfc_writer("5.4", "stated", "the id of a record of any type is the hash of its other members")
def test_every_id_is_the_hash_of_its_record(written: RecordedTrail) -> None:
    assert {record["type"] for record in written.records} == {
        "line",
        "function",
        "session",
        "edge",
        "delegation",
    }
    assert [
        record for record in written.records if annotation_id(record) != record["annotation_id"]
    ] == []
