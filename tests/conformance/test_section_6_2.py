"""RFC 6.2: environment entries."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import open_trail
from tests.conformance.valid_records import entry_findings, environment
from tests.trails import OMIT, CompleteTrail, context_hash

REQUIRED = ("type", "tool_name", "tool_version", "model_name", "model_version", "created_at")
OPTIONAL = ("model_parameters", "tool_extensions")


@rfc_reader(
    "6.2",
    "stated",
    "an environment entry with all its members is read without findings",
)
def test_a_whole_entry_is_accepted(trail: CompleteTrail) -> None:
    assert entry_findings(trail, environment()) == set()
    assert open_trail(trail.root).manifest.entry(context_hash(environment())) == environment()


@rfc_reader(
    "6.2",
    "REQUIRED",
    "an environment entry that lacks a required member is reported at its line and member",
)
@pytest.mark.parametrize("member", REQUIRED)
def test_a_missing_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert entry_findings(trail, {**environment(), member: OMIT}) == {("entry-field", member)}


@rfc_reader("6.2", "REQUIRED", "a required member that is null is reported as if it were missing")
@pytest.mark.parametrize("member", REQUIRED)
def test_a_null_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert entry_findings(trail, environment(), **{member: None}) == {("entry-field", member)}


@rfc_reader("6.2", "OPTIONAL", "optional members may be missing or null")
@pytest.mark.parametrize("member", OPTIONAL)
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_an_optional_member_may_be_absent(trail: CompleteTrail, member: str, value: object) -> None:
    assert entry_findings(trail, {**environment(), member: value}) == set()


@rfc_reader("6.2", "REQUIRED", "members of another type than in the RFC are reported")
@pytest.mark.parametrize(
    ("member", "value"), [("tool_version", 2), ("model_parameters", []), ("tool_extensions", [1])]
)
def test_a_member_of_the_wrong_kind_is_reported(
    trail: CompleteTrail, member: str, value: object
) -> None:
    fields = {
        str(field).split(".")[0]
        for _, field in entry_findings(trail, environment(), **{member: value})
    }
    assert fields == {member}


@rfc_reader("6.2", "REQUIRED", "a creation time that is not an ISO 8601 date and time is reported")
@pytest.mark.parametrize("value", ["yesterday", "2026-02-03", "03.02.2026 10:00", ""])
def test_a_creation_time_must_be_a_time(trail: CompleteTrail, value: str) -> None:
    assert entry_findings(trail, environment(), created_at=value) == {("timestamp", "created_at")}
