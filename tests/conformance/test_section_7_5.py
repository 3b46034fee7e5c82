"""RFC 7.5: session records."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import open_trail, run_vibes
from tests.conformance.valid_records import record_findings, session_end, session_start
from tests.trails import OMIT, CompleteTrail
from vibes_lsp.reports.statistics import session_summaries

REQUIRED = ("type", "event", "session_id", "timestamp", "environment_hash", "assurance_level")
OPTIONAL = ("description", "parent_session_id", "agent_name", "agent_type")


@rfc_reader("7.5", "stated", "a session's start with all its members is read without findings")
def test_a_whole_record_is_accepted(trail: CompleteTrail) -> None:
    assert record_findings(trail, session_start(trail)) == set()


@rfc_reader(
    "7.5",
    "REQUIRED",
    "a session's start that lacks a required member is reported at its line and member",
)
@pytest.mark.parametrize("member", REQUIRED)
def test_a_missing_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert ("record-field", member) in record_findings(
        trail, session_start(trail), **{member: OMIT}
    )


@rfc_reader("7.5", "OPTIONAL", "optional members may be missing or null")
@pytest.mark.parametrize("member", OPTIONAL)
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_an_optional_member_may_be_absent(trail: CompleteTrail, member: str, value: object) -> None:
    assert record_findings(trail, session_start(trail), **{member: value}) == set()


@rfc_reader(
    "7.5", "REQUIRED", "a session's end needs its type, event, session and time, and nothing else"
)
@pytest.mark.parametrize("member", ["type", "event", "session_id", "timestamp"])
def test_a_missing_required_member_of_an_end_is_reported(trail: CompleteTrail, member: str) -> None:
    assert record_findings(trail, session_end(trail)) == set()
    assert record_findings(trail, session_end(trail), **{member: OMIT}) == {
        ("record-field", member)
    }


@rfc_reader("7.5", "REQUIRED", "an event is a start or an end; another one is reported")
@pytest.mark.parametrize("word", ["pause", "Start", ""])
def test_another_event_is_reported(trail: CompleteTrail, word: str) -> None:
    assert record_findings(trail, session_start(trail), event=word) == {("record-field", "event")}


@rfc_reader("7.5", "RECOMMENDED", "a session's id need not be a UUID")
@pytest.mark.parametrize("session", ["1", "monday's session", "Übung/7"])
def test_a_session_id_may_be_any_word(trail: CompleteTrail, session: str) -> None:
    assert record_findings(trail, session_start(trail), session_id=session) == set()
    known = {each.session.id for each in session_summaries(open_trail(trail.root))}
    assert session in known


@rfc_reader(
    "7.5",
    "stated",
    "start and end records show who ran a session, its parent, and whether it is closed",
)
def test_a_session_is_read_from_its_records(trail: CompleteTrail) -> None:
    trail.writer.session_start(environment=trail.worker_environment, session_id="still open")
    told = {
        each["session_id"]: each
        for each in run_vibes(trail.root, "stats", "--by", "session", "--json").json["sessions"]
    }
    assert told["still open"]["open"] is True
    worker = told[trail.worker_session]
    assert (worker["open"], worker["agent_name"], worker["parent_session_id"]) == (
        False,
        "worker-1",
        trail.session,
    )
