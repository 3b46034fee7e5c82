"""RFC 7.10: how records stand in the file."""

from __future__ import annotations

import json

import pytest

from tests.conformance import sound
from tests.conformance.faces import LOG, checked, found, log_lines, opened, places, weight
from tests.conformance.requirement import rfc
from tests.trails import OMIT, CompleteTrail, annotation_id


def rows(trail: CompleteTrail) -> list[bytes]:
    return (trail.root / LOG).read_bytes().split(b"\n")[:-1]


def rewrite(trail: CompleteTrail, content: bytes) -> None:
    (trail.root / LOG).write_bytes(content)


@rfc(
    "7.10",
    "MUST",
    "a record that is broken over several lines is reported at each of them, and hides no other record",
)
def test_a_record_over_several_lines_is_reported(trail: CompleteTrail) -> None:
    last = json.loads(rows(trail)[-1])
    before = log_lines(trail.root)
    extra = {**last, "timestamp": "2026-02-03T12:00:00Z", "annotation_id": "0" * 64}
    trail.writer.raw_log(json.dumps(extra, indent=1).encode() + b"\n")
    sound.append(trail, sound.line(trail))
    report = checked(trail.root)
    assert [line for _, line in places(report, "log-line")] == list(
        range(before + 1, before + len(extra) + 3)
    )
    assert report.records["line"] == 7
    assert not report.schema_passes


@rfc("7.10", "MUST", "a line break inside a text is written as an escape, and read as a line break")
def test_an_escaped_line_break_is_text(trail: CompleteTrail) -> None:
    assert (
        sound.record_findings(
            trail, sound.session_start(trail), description="one\ntwo\r\nthree\u2028four"
        )
        == set()
    )
    descriptions = [
        record.text("description")
        for record in opened(trail.root).log.records(range(1, log_lines(trail.root) + 1))
    ]
    assert "one\ntwo\r\nthree\u2028four" in descriptions


@rfc("7.10", "MUST", "two records on one line are reported, and the lines around them are read")
def test_two_records_on_one_line_are_reported(trail: CompleteTrail) -> None:
    one, two, *rest = rows(trail)
    rewrite(trail, b"\n".join([one + two, *rest, b""]))
    report = checked(trail.root)
    assert places(report, "log-line") == [(LOG, 1)]
    assert sum(report.records.values()) == len(rest) + 1


@rfc("7.10", "MUST", "blank lines and line ends of Windows between records change no record")
@pytest.mark.parametrize("between", [b"\r\n", b"\n\n", b"\n  \n"], ids=["CRLF", "blank", "spaces"])
def test_other_separators_hide_nothing(trail: CompleteTrail, between: bytes) -> None:
    before = [
        record.members
        for record in opened(trail.root).log.records(range(1, log_lines(trail.root) + 1))
    ]
    rewrite(trail, between.join([*rows(trail), b""]))
    trail_now = opened(trail.root)
    assert [
        record.members for record in trail_now.log.records(range(1, len(trail_now.log.columns) + 1))
    ] == before
    assert found(checked(trail.root)) == set()


@rfc(
    "7.10",
    "SHOULD",
    "a last record without its newline is read, and the missing newline is pointed out",
)
def test_a_missing_last_newline_is_pointed_out(trail: CompleteTrail) -> None:
    before = checked(trail.root).records
    rewrite(trail, (trail.root / LOG).read_bytes().removesuffix(b"\n"))
    report = checked(trail.root)
    assert places(report, "log-end") == [(LOG, len(rows(trail)) + 1)]
    assert weight(report, "log-end") == {"warning"}
    assert report.records == before


@rfc("7.10", "stated", "the order of a record's members means nothing")
def test_the_order_of_members_means_nothing(trail: CompleteTrail) -> None:
    before = [lineage.current.id for lineage in opened(trail.root).lineages()]
    turned = [
        json.dumps(dict(reversed(json.loads(row).items())), ensure_ascii=False).encode()
        for row in rows(trail)
    ]
    rewrite(trail, b"\n".join([*turned, b""]))
    assert [lineage.current.id for lineage in opened(trail.root).lineages()] == before
    assert found(checked(trail.root)) == set()


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


@rfc("7.10", "MAY", "an optional member may be null or left out, in a record of any type")
@rfc("7.10", "MUST", "null and left out are both handled, and mean the same")
@pytest.mark.parametrize("kind", OPTIONAL)
def test_null_and_omitted_optional_members_mean_the_same(trail: CompleteTrail, kind: str) -> None:
    whole: dict[str, object] = getattr(sound, kind)(trail)
    seen = {}
    for value in (OMIT, None):
        record = {**whole, **dict.fromkeys(OPTIONAL[kind], value)}
        line = sound.append(trail, record)
        report = checked(trail.root)
        read = opened(trail.root).log.record(line)
        assert read is not None
        assert annotation_id(read.members) == read.id, "null is part of what is hashed"
        seen[value is None] = found(report), {name: read.text(name) for name in OPTIONAL[kind]}
    assert seen[True] == seen[False] == (set(), dict.fromkeys(OPTIONAL[kind]))
