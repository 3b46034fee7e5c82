"""RFC 5.3: short references."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import check_project, finding_fields, run_vibes
from tests.conformance.valid_records import line as line_record
from tests.conformance.valid_records import prompt, record_findings
from tests.trails import CompleteTrail


@rfc_reader("5.3", "MAY", "a command accepts the first 16 digits of an entry or record")
@pytest.mark.parametrize("name", ["environment", "created"])
def test_a_short_reference_is_understood(trail: CompleteTrail, name: str) -> None:
    identifier: str = getattr(trail, name)
    shown = run_vibes(trail.root, "show", identifier[:16], "--json")
    assert shown.code == 0
    assert shown.json["id"] == identifier


@rfc_reader(
    "5.3",
    "stated",
    "only the whole hash is authoritative: a short hash in a record refers to nothing",
)
def test_a_short_reference_in_a_record_is_no_reference(trail: CompleteTrail) -> None:
    entry = trail.writer.entry(prompt())
    assert record_findings(trail, line_record(trail), prompt_hash=entry) == set()
    assert ("reference-dangling", "prompt_hash") in record_findings(
        trail, line_record(trail), prompt_hash=entry[:16]
    )


@rfc_reader("5.3", "stated", "an ambiguous prefix is rejected; the whole hash works")
def test_a_beginning_that_two_entries_share_is_refused(trail: CompleteTrail) -> None:
    one = trail.writer.entry(prompt())
    other = trail.writer.entry(prompt(), key=one[:16] + "0" * 48)
    refused = run_vibes(trail.root, "show", one[:16])
    assert refused.code == 2
    assert one[:20] in refused.err
    assert run_vibes(trail.root, "show", other, "--json").json["id"] == other
    assert ("hash-mismatch", None) in finding_fields(check_project(trail.root))
