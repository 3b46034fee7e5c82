"""RFC 7.3: line records."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    check_project,
    finding_fields,
    finding_locations,
    log_lines,
    open_trail,
    run_vibes,
)
from tests.conformance.valid_records import (
    ANNOTATION_OPTIONAL,
    ANNOTATION_REQUIRED,
    REPORTED_AS,
    line,
    record_findings,
)
from tests.trails import OMIT, CompleteTrail

REQUIRED = (*ANNOTATION_REQUIRED, "line_start", "line_end")


@rfc_reader("7.3", "stated", "a line record with all its members is read without findings")
def test_a_whole_record_is_accepted(trail: CompleteTrail) -> None:
    assert record_findings(trail, line(trail)) == set()
    lineage = open_trail(trail.root).lineages_in("src/auth.py")[-1]
    assert {
        name: value for name, value in lineage.current.members.items() if name != "annotation_id"
    } == line(trail)


@rfc_reader(
    "7.3",
    "REQUIRED",
    "a line record that lacks a required member is reported at its line and member",
)
@pytest.mark.parametrize("member", REQUIRED)
def test_a_missing_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert record_findings(trail, line(trail), **{member: OMIT}) == {
        (REPORTED_AS.get(member, "record-field"), member)
    }


@rfc_reader("7.3", "OPTIONAL", "optional members may be missing or null")
@pytest.mark.parametrize("member", ANNOTATION_OPTIONAL)
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_an_optional_member_may_be_absent(trail: CompleteTrail, member: str, value: object) -> None:
    assert record_findings(trail, line(trail), **{member: value}) == set()


@rfc_reader(
    "7.3",
    "REQUIRED",
    "a required member that is null is reported, except for an unknown commit",
)
@pytest.mark.parametrize("member", [name for name in REQUIRED if name not in REPORTED_AS])
def test_a_null_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert record_findings(trail, line(trail), **{member: None}) == {("record-field", member)}


@rfc_reader("7.3", "REQUIRED", "lines are 1-based, and a range must not end before it starts")
@pytest.mark.parametrize(
    ("start", "end", "member"),
    [
        (1, 1, None),
        (3, 3, None),
        (0, 2, "line_start"),
        (-1, 2, "line_start"),
        (4, 3, "line_end"),
        ("1", 2, "line_start"),
        (1, 2.5, "line_end"),
    ],
)
def test_a_range_is_made_of_line_numbers(
    trail: CompleteTrail, start: object, end: object, member: str | None
) -> None:
    found_there = record_findings(trail, line(trail), line_start=start, line_end=end)
    assert found_there == (set() if member is None else {("record-field", member)})


@rfc_reader(
    "7.3",
    "REQUIRED",
    "paths are relative to the project, with forward slashes; one note summarizes others",
)
def test_paths_of_elsewhere_are_one_remark(trail: CompleteTrail) -> None:
    first = log_lines(trail.root) + 1
    for path in (
        "/home/someone/x.py",
        "../x.py",
        "C:\\Users\\someone\\x.py",
        "src/gone.py",
        "src/gone.py",
    ):
        record_findings(trail, line(trail), file_path=path)
    report = check_project(trail.root)
    assert report.passed
    assert finding_locations(report, "path-foreign") == [(".ai-audit/annotations.jsonl", first)]


@rfc_reader(
    "7.3", "REQUIRED", "each of the three assurance levels is known, another one is reported"
)
@pytest.mark.parametrize(
    ("word", "known"),
    [("low", True), ("medium", True), ("high", True), ("none", False), ("High", False)],
)
def test_the_assurance_level_is_one_of_three_words(
    trail: CompleteTrail, word: str, known: bool
) -> None:
    trail.writer.config(assurance_level="low", tracked_extensions=[".py"])
    assert record_findings(trail, line(trail), assurance_level=word) == (
        set() if known else {("record-field", "assurance_level")}
    )


@rfc_reader(
    "7.3",
    "REQUIRED",
    "a timestamp that is not an ISO 8601 date and time is reported, and the record is still read",
)
@pytest.mark.parametrize("value", ["now", "2026-02-03", "1770112800", "", "2026-13-03T10:00:00Z"])
def test_a_timestamp_must_be_a_time(trail: CompleteTrail, value: str) -> None:
    before = len(open_trail(trail.root).lineages_in("src/auth.py"))
    assert record_findings(trail, line(trail), timestamp=value) == {("timestamp", "timestamp")}
    assert len(open_trail(trail.root).lineages_in("src/auth.py")) == before + 1


@rfc_reader(
    "7.3", "REQUIRED", "a reference must name an entry of the type that its member requires"
)
@pytest.mark.parametrize(
    "member", ["environment_hash", "command_hash", "prompt_hash", "reasoning_hash", "decision_hash"]
)
def test_a_reference_names_an_entry_of_its_kind(trail: CompleteTrail, member: str) -> None:
    other = trail.decision if member != "decision_hash" else trail.command
    assert record_findings(trail, line(trail), **{member: other}) == {("reference-type", member)}
    assert record_findings(trail, line(trail), **{member: "0" * 64}) == {
        ("reference-dangling", member)
    }


@rfc_reader("7.3", "RECOMMENDED", "a session's id need not be a UUID")
def test_a_session_id_may_be_any_word(trail: CompleteTrail) -> None:
    session = trail.writer.session_start(session_id="monday-1", environment=trail.environment)
    assert record_findings(trail, line(trail), session_id=session) == set()
    trail.writer.session_end(session)
    assert finding_fields(check_project(trail.root)) == set()
    assert run_vibes(trail.root, "show", "monday-1", "--json").json["kind"] == "session"


@rfc_reader(
    "7.3",
    "REQUIRED",
    "a risk factor that lacks its signal, value or weight is reported at its place in the list",
)
@pytest.mark.parametrize("member", ["signal", "value", "weight"])
def test_a_risk_factor_is_complete(trail: CompleteTrail, member: str) -> None:
    factor = {"signal": "scope_lines", "value": 1.0, "weight": 0.15, "reason": "all of it"}
    other = {**factor, "signal": "temperature"}
    factors = [factor, {name: value for name, value in other.items() if name != member}]
    assert record_findings(trail, line(trail), risk_score=OMIT, risk_factors=factors) == {
        ("record-field", f"risk_factors.1.{member}")
    }


@rfc_reader(
    "7.3",
    "OPTIONAL",
    "a risk factor may lack a reason and may name an unknown signal",
)
@pytest.mark.parametrize(
    "change", [{"reason": None}, {"signal": "acme:moon_phase"}, {"weight": 0}, {"value": 1}]
)
def test_a_risk_factor_may_be_of_another_tool(
    trail: CompleteTrail, change: dict[str, object]
) -> None:
    factor: dict[str, object] = {"signal": "scope_lines", "value": 0.5, "weight": 0.15, **change}
    assert record_findings(trail, line(trail), risk_score=OMIT, risk_factors=[factor]) == set()


@rfc_reader("7.3", "OPTIONAL", "a risk score outside 0 to 1 is reported and never clipped")
@pytest.mark.parametrize(
    ("score", "known"),
    [(0, True), (1, True), (0.5, True), (1.01, False), (-0.1, False), ("0.5", False)],
)
def test_a_risk_score_lies_between_0_and_1(
    trail: CompleteTrail, score: object, known: bool
) -> None:
    assert record_findings(trail, line(trail), risk_score=score, risk_factors=OMIT) == (
        set() if known else {("record-field", "risk_score")}
    )
    assert (
        open_trail(trail.root).lineages_in("src/auth.py")[-1].current.members["risk_score"] == score
    )
