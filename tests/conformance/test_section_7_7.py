"""RFC 7.7: delegation records."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.valid_records import delegation, record_findings
from tests.trails import OMIT, CompleteTrail

REQUIRED = ("type", "parent_session_id", "child_session_id", "timestamp")
OPTIONAL = (
    "task_description",
    "delegated_files",
    "delegation_type",
    "parent_environment_hash",
    "child_environment_hash",
)


@rfc_reader(
    "7.7",
    "stated",
    "a delegation record with all its members is read without findings",
)
def test_a_whole_record_is_accepted(trail: CompleteTrail) -> None:
    assert record_findings(trail, delegation(trail)) == set()


@rfc_reader(
    "7.7",
    "REQUIRED",
    "a delegation record that lacks a required member is reported at its line and member",
)
@pytest.mark.parametrize("member", REQUIRED)
def test_a_missing_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert ("record-field", member) in record_findings(trail, delegation(trail), **{member: OMIT})


@rfc_reader("7.7", "OPTIONAL", "optional members may be missing or null")
@pytest.mark.parametrize("member", OPTIONAL)
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_an_optional_member_may_be_absent(trail: CompleteTrail, member: str, value: object) -> None:
    assert record_findings(trail, delegation(trail), **{member: value}) == set()


@rfc_reader(
    "7.7", "OPTIONAL", "each of the five delegation types is known, another one is reported"
)
@pytest.mark.parametrize("word", ["task", "review", "test", "refactor", "other", "chore"])
def test_the_delegation_type_is_one_of_five_words(trail: CompleteTrail, word: str) -> None:
    assert record_findings(trail, delegation(trail), delegation_type=word) == (
        set() if word != "chore" else {("record-field", "delegation_type")}
    )


@rfc_reader("7.7", "REQUIRED", "parent and child must be sessions in the trail")
@pytest.mark.parametrize("member", ["parent_session_id", "child_session_id"])
def test_both_sessions_are_known(trail: CompleteTrail, member: str) -> None:
    assert ("session-unknown", member) in record_findings(
        trail, delegation(trail), **{member: "nobody"}
    )


@rfc_reader(
    "7.7", "OPTIONAL", "the environment hashes of a delegation must name environment entries"
)
@pytest.mark.parametrize("member", ["parent_environment_hash", "child_environment_hash"])
def test_environments_are_environments(trail: CompleteTrail, member: str) -> None:
    assert record_findings(trail, delegation(trail), **{member: trail.command}) == {
        ("reference-type", member)
    }
