"""RFC 7: the log and its records."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import uuid
from contextlib import closing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tests.conformance.committed_trail import TEXT as COMMITTED
from tests.conformance.committed_trail import (
    added_records,
    backfilled_project,
    log_bytes,
    rewritten_project,
)
from tests.conformance.recorded_trail import missing_members
from tests.conformance.requirement import rfc_writer
from tests.conformance.trail_access import check_project, finding_locations, run_vibes, snapshot
from tests.conformance.valid_records import EDGE_TYPES
from tests.trails import AUDIT_DIR, CompleteTrail
from tests.unit.recording.projects import SOURCE
from vibes_lsp.maintenance.remap import Remapped, remap
from vibes_lsp.recording import Recorder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.recorded_trail import RecordedTrail

ANNOTATION = (
    "file_path",
    "environment_hash",
    "action",
    "timestamp",
    "assurance_level",
    "annotation_id",
)
LINE = ("line_start", "line_end", *ANNOTATION)
FUNCTION = ("function_name", *ANNOTATION)
SESSION = ("event", "session_id", "timestamp")
EDGE = ("edge_type", "source_ref", "source_type", "target_ref", "target_type", "timestamp")
DELEGATION = ("parent_session_id", "child_session_id", "timestamp")


@rfc_writer(
    "7.3",
    "REQUIRED",
    "a line record has its required members; its commit is null until it is known",
)
def test_line_records_are_complete(written: RecordedTrail) -> None:
    records = written.of("line")
    assert len(records) == 6
    assert [missing_members(record, LINE) for record in records] == [set()] * len(records)
    assert all("commit_hash" in record for record in records)
    assert all(1 <= record["line_start"] <= record["line_end"] for record in records)


@rfc_writer("7.3", "REQUIRED", "paths are relative to the project, with forward slashes")
def test_paths_are_relative(written: RecordedTrail) -> None:
    assert {record["file_path"] for record in written.annotations()} == {"src/a.py"}


@rfc_writer("7.3", "REQUIRED", "timestamps are ISO 8601 in UTC")
def test_timestamps_are_utc(written: RecordedTrail) -> None:
    assert {
        datetime.fromisoformat(record["timestamp"]).utcoffset() for record in written.records
    } == {timedelta(0)}


@rfc_writer("7.3", "RECOMMENDED", "sessions have UUIDs, and annotations name theirs")
def test_sessions_are_uuids(written: RecordedTrail) -> None:
    for name in ("session", "child", "own child"):
        assert str(uuid.UUID(written.names[name])) == written.names[name]
    assert written.record("line")["session_id"] == written.names["session"]


@rfc_writer(
    "7.3", "OPTIONAL", "the prompt is null at the low level, the reasoning at low and medium"
)
def test_a_level_leaves_out_what_it_does_not_record(written: RecordedTrail) -> None:
    line = written.record("line")
    assert [line.get("prompt_hash") is None, line.get("reasoning_hash") is None] == [
        written.level == "low",
        written.level != "high",
    ]


@rfc_writer(
    "7.3.1",
    "SHOULD",
    "line and function records have all three anchors of the annotated text",
)
def test_annotations_are_anchored(written: RecordedTrail) -> None:
    lines = SOURCE.splitlines()
    for name, first, last in (
        ("line", 4, 6),
        ("function", 9, 10),
        ("changed", 5, 5),
        ("removed", 9, 10),
    ):
        record = written.record(name)
        assert record["anchor_context"] == "\n".join(lines[first - 1 : last][:3])
        assert (
            record["anchor_hash"]
            == hashlib.sha256("\n".join(lines[first - 1 : last]).encode()).hexdigest()
        )
        assert record["file_content_hash"] == hashlib.sha256(SOURCE.encode()).hexdigest()


@rfc_writer(
    "7.4",
    "REQUIRED",
    "a function record has its required members, and the signature that was given",
)
def test_function_records_are_complete(written: RecordedTrail) -> None:
    [record] = written.of("function")
    assert missing_members(record, FUNCTION) == set()
    assert (record["function_name"], record["function_signature"], "line_start" in record) == (
        "same",
        "(one, other)",
        False,
    )


@rfc_writer("7.5", "REQUIRED", "a session's start and end have their required members")
def test_session_records_are_complete(written: RecordedTrail) -> None:
    starts = [record for record in written.of("session") if record["event"] == "start"]
    ends = [record for record in written.of("session") if record["event"] == "end"]
    assert {record["session_id"] for record in starts} == {record["session_id"] for record in ends}
    assert [
        missing_members(record, (*SESSION, "environment_hash", "assurance_level"))
        for record in starts
    ] == [set()] * len(starts)
    assert [missing_members(record, SESSION) for record in ends] == [set()] * len(ends)


@rfc_writer(
    "7.6",
    "REQUIRED",
    "an edge has its required members, and its ends have types of the RFC",
)
def test_edges_are_complete(written: RecordedTrail) -> None:
    edges = written.of("edge")
    assert [missing_members(edge, EDGE) for edge in edges] == [set()] * len(edges)
    assert {edge["edge_type"] for edge in edges} <= set(EDGE_TYPES)
    assert {edge[end] for edge in edges for end in ("source_type", "target_type")} <= {
        "annotation",
        "context",
        "session",
    }


@rfc_writer("7.6", "stated", "both ends of an edge exist and have the stated type")
def test_the_ends_of_edges_are_there(written: RecordedTrail) -> None:
    things = {
        "annotation": {record["annotation_id"] for record in written.records},
        "context": set(written.manifest["entries"]),
        "session": {record["session_id"] for record in written.of("session")},
    }
    for edge in written.of("edge"):
        assert edge["source_ref"] in things[edge["source_type"]]
        assert edge["target_ref"] in things[edge["target_type"]]


@rfc_writer("7.7", "REQUIRED", "a delegation has its required members and a type")
def test_delegations_are_complete(written: RecordedTrail) -> None:
    delegations = written.of("delegation")
    assert [
        missing_members(record, (*DELEGATION, "delegation_type")) for record in delegations
    ] == [set()] * 2
    assert {record["parent_session_id"] for record in delegations} == {written.names["session"]}


@rfc_writer("7.8", "MAY", "a SQLite database with indexes can be built from the log")
def test_a_database_is_made(trail: CompleteTrail) -> None:
    assert run_vibes(trail.root, "query", "--build").code == 0
    with closing(sqlite3.connect(trail.root / AUDIT_DIR / "audit.db")) as connection:
        [(count,)] = connection.execute(
            "SELECT COUNT(*) FROM line_annotations WHERE file_path = 'src/auth.py'"
        )
        plan = str(
            connection.execute(
                "EXPLAIN QUERY PLAN SELECT * FROM line_annotations WHERE file_path = 'x'"
            ).fetchall()
        )
    assert (count, "USING INDEX" in plan) == (2, True)


@rfc_writer("7.8", "MUST", "no database is written if `.gitignore` does not list it")
def test_a_database_is_not_written_where_git_would_track_it(trail: CompleteTrail) -> None:
    (trail.root / AUDIT_DIR / ".gitignore").write_bytes(b"*.lock\nwal/\nspool/\n")
    before = snapshot(trail.root)
    assert run_vibes(trail.root, "query", "--build").code == 2
    assert run_vibes(trail.root, "query", "SELECT 1").code == 0
    assert snapshot(trail.root) == before


@rfc_writer("7.9", "REQUIRED", "an edit has the action create, modify, delete or review")
def test_actions_are_those_of_the_edits(written: RecordedTrail) -> None:
    actions = {
        name: written.record(name)["action"] for name in ("line", "changed", "removed", "looked")
    }
    assert actions == {
        "line": "create",
        "changed": "modify",
        "removed": "delete",
        "looked": "review",
    }


@rfc_writer("7.10", "MUST", "every record is one line, and lines are separated by one newline")
def test_a_record_is_a_line(written: RecordedTrail) -> None:
    lines = written.log.split(b"\n")[:-1]
    assert [json.loads(line)["annotation_id"] for line in lines] == [
        record["annotation_id"] for record in written.records
    ]
    assert b"\r" not in written.log


@rfc_writer("7.10", "SHOULD", "the log ends with a newline")
def test_the_log_ends_with_a_newline(written: RecordedTrail) -> None:
    assert written.log.endswith(b"}\n")


@rfc_writer("7.10", "SHOULD", "members are always in the same order")
def test_members_stand_in_order(written: RecordedTrail) -> None:
    assert all(list(record) == sorted(record) for record in written.records)


@rfc_writer("7.3.1", "MUST", "a remap handles only annotations whose commit was rewritten")
@rfc_writer(
    "7.3.1",
    "MUST",
    "nothing is written for a file that did not change",
)
def test_a_remap_leaves_unchanged_files_alone(tmp_path: Path) -> None:
    untouched = backfilled_project(tmp_path / "untouched")
    before = log_bytes(untouched)
    with Recorder(untouched.path) as recorder:
        assert remap(recorder) == Remapped((), (), (), (), ())
    assert log_bytes(untouched) == before
    unchanged = rewritten_project(tmp_path / "unchanged", COMMITTED)
    before = log_bytes(unchanged)
    with Recorder(unchanged.path) as recorder:
        result = remap(recorder)
    assert (result.remapped, result.orphaned, len(result.unchanged)) == ((), (), 2)
    assert log_bytes(unchanged) == before


@rfc_writer(
    "7.3.1",
    "MUST",
    "an anchor found at other lines gets a record with those lines, the new commit and the action `rebase_remap`",
)
@rfc_writer(
    "7.3.1",
    "MUST",
    "every `rebase_remap` has a `supersedes` edge from the new record to the old one",
)
@rfc_writer("7.3.1", "MUST", "existing records are never changed or removed")
def test_a_remap_writes_the_new_place(tmp_path: Path) -> None:
    work = rewritten_project(tmp_path / "project", "# one\n# two\n" + COMMITTED)
    before = log_bytes(work)
    old = work.records()
    with Recorder(work.path) as recorder:
        result = remap(recorder)
    record, edge = added_records(work, len(old))
    assert log_bytes(work).startswith(before)
    assert (record["line_start"], record["line_end"], record["commit_hash"]) == (3, 8, work.head())
    assert record["action"] == "rebase_remap"
    assert (
        record["anchor_hash"] == next(each for each in old if each["type"] == "line")["anchor_hash"]
    )
    current = next(
        each["annotation_id"]
        for each in old
        if each.get("commit_hash") and each["file_path"] == "a.py"
    )
    assert (edge["edge_type"], edge["source_ref"], edge["target_ref"]) == (
        "supersedes",
        record["annotation_id"],
        current,
    )
    assert (result.remapped, result.edges) == ((record["annotation_id"],), (edge["annotation_id"],))
    assert not finding_locations(check_project(work.path), "remap-edge")


@rfc_writer(
    "7.3.1", "MUST", "an anchor that is not found gets a record with the action `rebase_orphan`"
)
def test_a_remap_marks_lost_places(tmp_path: Path) -> None:
    work = rewritten_project(tmp_path / "project", "nothing = 'of it'\n")
    before, count = log_bytes(work), len(work.records())
    with Recorder(work.path) as recorder:
        result = remap(recorder)
    record = added_records(work, count)[0]
    assert log_bytes(work).startswith(before)
    assert (record["action"], record["commit_hash"], result.orphaned) == (
        "rebase_orphan",
        work.head(),
        (record["annotation_id"],),
    )
