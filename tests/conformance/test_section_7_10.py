"""RFC 7.10: the lines of the log."""

from __future__ import annotations

import json

import pytest

from tests.conformance import valid_records
from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    LOG,
    check_project,
    finding_fields,
    finding_locations,
    log_lines,
    open_trail,
    severities,
)
from tests.trails import OMIT, CompleteTrail, annotation_id


def rows(trail: CompleteTrail) -> list[bytes]:
    return (trail.root / LOG).read_bytes().split(b"\n")[:-1]


def rewrite(trail: CompleteTrail, content: bytes) -> None:
    (trail.root / LOG).write_bytes(content)


@rfc_reader(
    "7.10",
    "MUST",
    "a record over several lines is reported at each line; other records are still read",
)
def test_a_record_over_several_lines_is_reported(trail: CompleteTrail) -> None:
    last = json.loads(rows(trail)[-1])
    before = log_lines(trail.root)
    extra = {**last, "timestamp": "2026-02-03T12:00:00Z", "annotation_id": "0" * 64}
    trail.writer.raw_log(json.dumps(extra, indent=1).encode() + b"\n")
    valid_records.append(trail, valid_records.line(trail))
    report = check_project(trail.root)
    assert [line for _, line in finding_locations(report, "log-line")] == list(
        range(before + 1, before + len(extra) + 3)
    )
    assert report.records["line"] == 7
    assert not report.schema_passes


@rfc_reader(
    "7.10", "MUST", "a line break in a text is an escape in the log and is read as a line break"
)
def test_an_escaped_line_break_is_text(trail: CompleteTrail) -> None:
    assert (
        valid_records.record_findings(
            trail, valid_records.session_start(trail), description="one\ntwo\r\nthree\u2028four"
        )
        == set()
    )
    descriptions = [
        record.text("description")
        for record in open_trail(trail.root).log.records(range(1, log_lines(trail.root) + 1))
    ]
    assert "one\ntwo\r\nthree\u2028four" in descriptions


@rfc_reader("7.10", "MUST", "two records on one line are reported; the other lines are read")
def test_two_records_on_one_line_are_reported(trail: CompleteTrail) -> None:
    one, two, *rest = rows(trail)
    rewrite(trail, b"\n".join([one + two, *rest, b""]))
    report = check_project(trail.root)
    assert finding_locations(report, "log-line") == [(LOG, 1)]
    assert sum(report.records.values()) == len(rest) + 1


@rfc_reader("7.10", "MUST", "blank lines and Windows line ends between records change nothing")
@pytest.mark.parametrize("between", [b"\r\n", b"\n\n", b"\n  \n"], ids=["CRLF", "blank", "spaces"])
def test_other_separators_hide_nothing(trail: CompleteTrail, between: bytes) -> None:
    before = [
        record.members
        for record in open_trail(trail.root).log.records(range(1, log_lines(trail.root) + 1))
    ]
    rewrite(trail, between.join([*rows(trail), b""]))
    trail_now = open_trail(trail.root)
    assert [
        record.members for record in trail_now.log.records(range(1, trail_now.line_count + 1))
    ] == before
    assert finding_fields(check_project(trail.root)) == set()


@rfc_reader(
    "7.10",
    "SHOULD",
    "a last record without newline is read, and the missing newline is reported",
)
def test_a_missing_last_newline_is_reported(trail: CompleteTrail) -> None:
    before = check_project(trail.root).records
    rewrite(trail, (trail.root / LOG).read_bytes().removesuffix(b"\n"))
    report = check_project(trail.root)
    assert finding_locations(report, "log-end") == [(LOG, len(rows(trail)) + 1)]
    assert severities(report, "log-end") == {"warning"}
    assert report.records == before


@rfc_reader("7.10", "stated", "the order of a record's members does not matter")
def test_the_order_of_members_means_nothing(trail: CompleteTrail) -> None:
    before = [lineage.current.id for lineage in open_trail(trail.root).lineages()]
    turned = [
        json.dumps(dict(reversed(json.loads(row).items())), ensure_ascii=False).encode()
        for row in rows(trail)
    ]
    rewrite(trail, b"\n".join([*turned, b""]))
    assert [lineage.current.id for lineage in open_trail(trail.root).lineages()] == before
    assert finding_fields(check_project(trail.root)) == set()


OPTIONAL = {
    "line": (
        "command_hash",
        "prompt_hash",
        "reasoning_hash",
        "decision_hash",
        "session_id",
        "risk_score",
        "risk_factors",
        "anchor_hash",
    ),
    "function": (
        "function_signature",
        "prompt_hash",
        "session_id",
        "anchor_context",
        "file_content_hash",
        "risk_score",
    ),
    "session_start": ("description", "parent_session_id", "agent_name", "agent_type"),
    "session_end": ("environment_hash", "assurance_level", "description"),
    "edge": ("session_id", "metadata"),
    "delegation": (
        "task_description",
        "delegated_files",
        "delegation_type",
        "parent_environment_hash",
        "child_environment_hash",
    ),
}


@rfc_reader("7.10", "MAY", "an optional member may be null or missing, in a record of any type")
@rfc_reader("7.10", "MUST", "null and a missing member mean the same")
@pytest.mark.parametrize("kind", OPTIONAL)
def test_null_and_omitted_optional_members_mean_the_same(trail: CompleteTrail, kind: str) -> None:
    whole: dict[str, object] = getattr(valid_records, kind)(trail)
    seen = {}
    for value in (OMIT, None):
        record = {**whole, **dict.fromkeys(OPTIONAL[kind], value)}
        line = valid_records.append(trail, record)
        report = check_project(trail.root)
        read = open_trail(trail.root).log.record(line)
        assert read is not None
        assert annotation_id(read.members) == read.id, "null is part of what is hashed"
        seen[value is None] = (
            finding_fields(report),
            {name: read.text(name) for name in OPTIONAL[kind]},
        )
    assert seen[True] == seen[False] == (set(), dict.fromkeys(OPTIONAL[kind]))
