"""RFC 6.6: decision entries."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import open_trail
from tests.conformance.valid_records import decision, entry_findings
from tests.trails import OMIT, CompleteTrail, context_hash

REQUIRED = ("type", "decision_point", "options", "selected", "rationale", "created_at")
OPTIONAL = ("confidence",)


@rfc_reader("6.6", "stated", "a decision entry with all its members is read without findings")
def test_a_whole_entry_is_accepted(trail: CompleteTrail) -> None:
    assert entry_findings(trail, decision()) == set()
    assert open_trail(trail.root).manifest.entry(context_hash(decision())) == decision()


@rfc_reader(
    "6.6",
    "REQUIRED",
    "a decision entry that lacks a required member is reported at its line and member",
)
@pytest.mark.parametrize("member", REQUIRED)
def test_a_missing_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert entry_findings(trail, {**decision(), member: OMIT}) == {("entry-field", member)}


@rfc_reader("6.6", "REQUIRED", "a required member that is null is reported as if it were missing")
@pytest.mark.parametrize("member", REQUIRED)
def test_a_null_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert entry_findings(trail, decision(), **{member: None}) == {("entry-field", member)}


@rfc_reader("6.6", "OPTIONAL", "optional members may be missing or null")
@pytest.mark.parametrize("member", OPTIONAL)
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_an_optional_member_may_be_absent(trail: CompleteTrail, member: str, value: object) -> None:
    assert entry_findings(trail, {**decision(), member: value}) == set()


def with_option(**changes: object) -> dict[str, object]:
    """A decision one of whose options is changed: the second, which is not the selected one."""
    first: dict[str, object] = {
        "id": "left",
        "description": "To the left",
        "pros": ["short"],
        "cons": ["steep"],
    }
    second = {
        "id": "right",
        "description": "To the right",
        "pros": ["flat"],
        "cons": ["long"],
        **changes,
    }
    return {
        **decision(),
        "options": [first, {name: value for name, value in second.items() if value is not OMIT}],
    }


@rfc_reader(
    "6.6",
    "REQUIRED",
    "an option that lacks its id or its description is reported at its place in the list",
)
@pytest.mark.parametrize("member", ["id", "description"])
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_a_missing_required_member_of_an_option_is_reported(
    trail: CompleteTrail, member: str, value: object
) -> None:
    assert entry_findings(trail, with_option()) == set()
    assert entry_findings(trail, with_option(**{member: value})) == {
        ("entry-field", f"options.1.{member}")
    }


@rfc_reader("6.6", "OPTIONAL", "an option may lack pros and cons")
@pytest.mark.parametrize("member", ["pros", "cons"])
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_pros_and_cons_may_be_absent(trail: CompleteTrail, member: str, value: object) -> None:
    assert entry_findings(trail, with_option(**{member: value})) == set()


@rfc_reader("6.6", "REQUIRED", "a selection that is none of the options is reported")
@pytest.mark.parametrize("value", ["up", "To the left", ""])
def test_the_selection_must_be_an_option(trail: CompleteTrail, value: str) -> None:
    assert entry_findings(trail, decision(), selected=value) == {("entry-field", "selected")}


@rfc_reader("6.6", "OPTIONAL", "each of the three confidences is known, another one is reported")
@pytest.mark.parametrize(
    ("word", "known"),
    [("high", True), ("medium", True), ("low", True), ("certain", False), ("HIGH", False)],
)
def test_the_confidence_is_one_of_three_words(trail: CompleteTrail, word: str, known: bool) -> None:
    assert entry_findings(trail, decision(), confidence=word) == (
        set() if known else {("entry-field", "confidence")}
    )
