"""RFC 6.5: reasoning entries, stored inline."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import open_trail
from tests.conformance.valid_records import entry_findings, reasoning
from tests.trails import OMIT, CompleteTrail, context_hash

REPORTED_AS = {
    "type": "entry-field",
    "reasoning_text": "reasoning-empty",
    "reasoning_model": "reasoning-model",
    "created_at": "entry-field",
}
"""Required members and the check that reports each: text may be in a blob, models are often missing."""


@rfc_reader("6.5", "stated", "a reasoning entry with all its members is read without findings")
def test_a_whole_entry_is_accepted(trail: CompleteTrail) -> None:
    assert entry_findings(trail, reasoning()) == set()
    assert open_trail(trail.root).manifest.entry(context_hash(reasoning())) == reasoning()


@rfc_reader(
    "6.5",
    "REQUIRED",
    "a reasoning entry that lacks a required member is reported at its line and member",
)
@pytest.mark.parametrize("member", REPORTED_AS)
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_a_missing_required_member_is_reported(
    trail: CompleteTrail, member: str, value: object
) -> None:
    assert entry_findings(trail, {**reasoning(), member: value}) == {(REPORTED_AS[member], member)}


@rfc_reader("6.5", "OPTIONAL", "the number of tokens may be missing or null")
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_the_token_count_may_be_absent(trail: CompleteTrail, value: object) -> None:
    assert entry_findings(trail, {**reasoning(), "reasoning_token_count": value}) == set()


@rfc_reader("6.5", "OPTIONAL", "a number of tokens that is not an integer is reported")
@pytest.mark.parametrize("value", ["2847", 28.5, True])
def test_the_token_count_is_an_integer(trail: CompleteTrail, value: object) -> None:
    assert entry_findings(trail, reasoning(), reasoning_token_count=value) == {
        ("entry-field", "reasoning_token_count")
    }
