"""RFC 5.1: the hash algorithm."""

from __future__ import annotations

import hashlib

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import MANIFEST, check_project, finding_fields, open_trail
from tests.conformance.valid_records import prompt
from tests.trails import CompleteTrail, context_hash


@rfc_reader(
    "5.1",
    "stated",
    "only SHA-256 in lowercase hexadecimal is a valid key: another digest is a mismatch",
)
@pytest.mark.parametrize("algorithm", ["sha512", "md5", "upper case"])
def test_another_digest_is_a_mismatch(trail: CompleteTrail, algorithm: str) -> None:
    entry = prompt()
    right = context_hash(entry)
    key = (
        right.upper()
        if algorithm == "upper case"
        else hashlib.new(algorithm, right.encode()).hexdigest()[:64]
    )
    trail.writer.entry(entry, key=key)
    trail.writer.entry(entry, key=right)
    report = check_project(trail.root)
    assert report.context_hashes["mismatch"] == 1
    assert not report.hashes_pass
    assert finding_fields(report, MANIFEST, open_trail(trail.root).manifest.line_of(right)) == set()
