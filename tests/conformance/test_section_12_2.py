"""RFC 12.2: an append-only log with records of later versions."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.conformance import valid_records
from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    LOG,
    READ_COMMANDS,
    check_project,
    finding_fields,
    finding_locations,
    log_lines,
    open_trail,
    run_vibes,
    run_vibes_commands,
    snapshot,
)
from tests.trails import CompleteTrail, Repository

LATER = {
    "type": "checkpoint",
    "timestamp": "2026-02-03T11:00:00Z",
    "line_start": "no number",
    "action": "rest",
    "environment_hash": 5,
}


@rfc_reader("12.2", "MUST", "unknown record types are skipped silently")
def test_an_unknown_type_of_record_is_skipped_silently(trail: CompleteTrail) -> None:
    commands = [("log",), ("stats", "--by", "session"), ("stats", "--by", "model")]
    before = run_vibes_commands(trail.root, commands, "--json")
    trail.writer.record(LATER)
    trail.writer.raw_log(
        json.dumps({**LATER, "session_id": "nobody", "timestamp": "soon"}).encode() + b"\n"
    )  # without an id
    trail.writer.raw_log(
        json.dumps({**LATER, "annotation_id": "made in another way"}).encode() + b"\n"
    )
    report = check_project(trail.root)
    assert finding_fields(report) == set()
    assert report.records["other"] == 3
    assert (before.code, before.err) == (0, "")
    assert run_vibes_commands(trail.root, commands, "--json") == before


@rfc_reader(
    "12.2",
    "MUST",
    "a record of an unknown type can be shown and can be the end of an edge",
)
def test_an_unknown_type_of_record_is_not_lost(trail: CompleteTrail) -> None:
    identifier = trail.writer.record(LATER)
    trail.writer.edge("informed_by", trail.created, identifier, target_type="annotation")
    assert finding_fields(check_project(trail.root)) == set()
    assert run_vibes(trail.root, "show", identifier, "--json").json["record"] == {
        **LATER,
        "annotation_id": identifier,
    }


@rfc_reader("12.2", "stated", "unknown members are not reported, in records of all types")
@pytest.mark.parametrize("make", valid_records.EVERY_TYPE)
def test_an_unknown_member_is_no_finding(
    trail: CompleteTrail, make: Callable[[CompleteTrail], dict[str, object]]
) -> None:
    assert valid_records.record_findings(trail, make(trail), added_later={"in": "1.7"}) == set()


@rfc_reader("12.2", "MUST NOT", "reading changes no byte of the trail")
def test_reading_changes_nothing(trail: CompleteTrail) -> None:
    trail.writer.raw_log(b'<<<<<<< HEAD\n{"type": "line"}\n\n{"type":"edge","source_id":"x"}')
    before = snapshot(trail.root)
    commands = [*READ_COMMANDS, ("show", trail.created), ("show", trail.external_reasoning or "")]
    for more in ((), ("--json",)):
        assert run_vibes_commands(trail.root, commands, *more).code == 1, (
            "the check fails, and nothing breaks"
        )
    assert snapshot(trail.root) == before


@rfc_reader(
    "12.2",
    "MUST NOT",
    "a check against a base revision reports records that were changed or removed since",
)
@pytest.mark.parametrize("change", ["removed", "changed", "changed with its id"])
def test_a_record_that_is_gone_is_found(trail: CompleteTrail, change: str) -> None:
    repository = Repository(trail.root)
    base = repository.commit("Recorded")
    valid_records.append(trail, valid_records.line(trail))
    assert not finding_locations(check_project(trail.root, base), "base-record"), (
        "appending is no change"
    )
    lines = (trail.root / LOG).read_bytes().split(b"\n")
    number = next(
        number
        for number, row in enumerate(lines)
        if f'"annotation_id":"{trail.created}"'.encode() in row
    )
    if change == "removed":
        del lines[number]
    else:
        lines[number] = lines[number].replace(b'"line_end":8', b'"line_end":9')
    if change == "changed with its id":
        lines[number] = lines[number].replace(trail.created.encode(), b"f" * 64)
    (trail.root / LOG).write_bytes(b"\n".join(lines))
    report = check_project(trail.root, base)
    assert len(finding_locations(report, "base-record")) == 1
    assert not report.passed


@rfc_reader(
    "12.2",
    "MUST",
    "unknown members keep their values wherever a record is copied",
)
def test_unknown_members_are_preserved(trail: CompleteTrail) -> None:
    unknown = {"x_tool": {"b": [1, 1.0, None, True], "a": "ü\u2028"}, "zeta": None, "alpha": 10**20}
    line = valid_records.append(trail, {**valid_records.line(trail), **unknown})
    record = open_trail(trail.root).log.record(line)
    assert record is not None
    stored = json.loads((trail.root / LOG).read_bytes().split(b"\n")[line - 1])
    shown = run_vibes(trail.root, "show", record.id, "--json").json["record"]
    listed = next(
        each
        for each in run_vibes(trail.root, "log", "--json").json["records"]
        if each["line"] == line
    )["record"]
    for handed_on in (record.members, shown, listed):
        assert json.dumps(handed_on) == json.dumps(stored), "in their order, too"
    assert log_lines(trail.root) == line + 1
