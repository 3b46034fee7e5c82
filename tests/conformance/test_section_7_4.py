"""RFC 7.4: function records."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import open_trail
from tests.conformance.valid_records import (
    ANNOTATION_OPTIONAL,
    ANNOTATION_REQUIRED,
    REPORTED_AS,
    function,
    line,
    record_findings,
)
from tests.trails import OMIT, CompleteTrail

REQUIRED = (*ANNOTATION_REQUIRED, "function_name")
OPTIONAL = (*ANNOTATION_OPTIONAL, "function_signature")


@rfc_reader("7.4", "stated", "a function record with all its members is read without findings")
def test_a_whole_record_is_accepted(trail: CompleteTrail) -> None:
    assert record_findings(trail, function(trail)) == set()
    lineage = open_trail(trail.root).lineages_in("src/auth.py")[-1]
    assert {
        name: value for name, value in lineage.current.members.items() if name != "annotation_id"
    } == function(trail)


@rfc_reader(
    "7.4",
    "REQUIRED",
    "a function record that lacks a required member is reported at its line and member",
)
@pytest.mark.parametrize("member", REQUIRED)
def test_a_missing_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert record_findings(trail, function(trail), **{member: OMIT}) == {
        (REPORTED_AS.get(member, "record-field"), member)
    }


@rfc_reader("7.4", "OPTIONAL", "optional members may be missing or null")
@pytest.mark.parametrize("member", OPTIONAL)
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_an_optional_member_may_be_absent(trail: CompleteTrail, member: str, value: object) -> None:
    assert record_findings(trail, function(trail), **{member: value}) == set()


@rfc_reader("7.4", "stated", "risk and decision members have the same meaning as in a line record")
@pytest.mark.parametrize(
    ("member", "value", "field"),
    [
        ("risk_score", 2, "risk_score"),
        ("risk_factors", [{}], "risk_factors.0.signal"),
        ("decision_hash", "d" * 64, "decision_hash"),
    ],
)
def test_shared_members_are_checked_as_on_lines(
    trail: CompleteTrail, member: str, value: object, field: str
) -> None:
    on_function = record_findings(trail, function(trail), **{member: value})
    assert on_function == record_findings(trail, line(trail), **{member: value})
    assert field in {each for _, each in on_function}
