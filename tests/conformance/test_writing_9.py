"""RFC 9: what is recorded when, at each level, and by concurrent programs."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conformance.committed_trail import added_records, committed_project, log_bytes
from tests.conformance.requirement import rfc_writer
from tests.conformance.trail_access import open_trail
from tests.requirements import REPOSITORY
from tests.trails import context_hash
from tests.unit.recording.projects import PROMPT, Project, new_project, session_origin
from vibes_lsp.errors import UnknownId
from vibes_lsp.maintenance.backfill import backfill
from vibes_lsp.recording import Recorder
from vibes_lsp.store.locks import fold_lock
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.recorded_trail import RecordedTrail

RECORD = """
import sys
from vibes_lsp.recording import Command, CommandType, Origin, Recorder
with Recorder(sys.argv[1]) as recorder:
    for number in range(1, 11):
        command = Command(f"{sys.argv[3]} {number}", CommandType.TOOL_USE)
        recorder.annotate_lines("a.py", number, number, "modify", Origin(session_id=sys.argv[2], command=command))
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project at the medium level, with nothing recorded."""
    return new_project(tmp_path / "project")


@rfc_writer(
    "9.1", "stated", "session start, command, prompt and edit can be recorded when they happen"
)
def test_every_event_can_be_recorded(high: RecordedTrail) -> None:
    kinds = {entry["type"] for entry in high.manifest["entries"].values()}
    assert kinds == {"environment", "command", "prompt", "reasoning", "decision"}
    assert {record["type"] for record in high.records} == {
        "session",
        "line",
        "function",
        "edge",
        "delegation",
    }


@rfc_writer(
    "9.1",
    "stated",
    "an accepted completion is recorded once for any number of notifications, with the typed text as prompt",
)
def test_an_inline_completion_is_recorded_once(written: RecordedTrail) -> None:
    record = written.record("completed")
    assert (record["line_start"], record["line_end"], record["action"]) == (11, 11, "create")
    assert [each["line_start"] for each in written.of("line")].count(11) == 1
    prompts = {
        entry["prompt_type"]
        for key, entry in written.entries("prompt").items()
        if key == record.get("prompt_hash")
    }
    assert prompts == (set() if written.level == "low" else {"inline_completion"})


@rfc_writer(
    "9.2", "stated", "a session start writes its environment once and the record that names it"
)
def test_a_session_start_writes_its_environment(written: RecordedTrail) -> None:
    start = next(
        record
        for record in written.of("session")
        if record["session_id"] == written.names["session"]
    )
    assert written.entries("environment")[start["environment_hash"]]["tool_name"] == "Some Tool"
    assert [each["tool_name"] for each in written.entries("environment").values()].count(
        "Some Tool"
    ) == 2, "one for each model"


@rfc_writer("9.2", "stated", "a command is written once under its hash, at every level")
def test_a_command_is_written_once(written: RecordedTrail) -> None:
    commands = [
        key
        for key, entry in written.entries("command").items()
        if entry["command_text"] == "make digest"
    ]
    assert commands == [written.names["command"]]
    assert context_hash(written.manifest["entries"][commands[0]]) == commands[0]


@rfc_writer(
    "9.2",
    "stated",
    "an annotation names environment and command, from medium its prompt, at high its reasoning",
)
def test_an_annotation_names_what_its_level_asks_for(written: RecordedTrail) -> None:
    line = written.record("line")
    named = {
        name
        for name in ("environment_hash", "command_hash", "prompt_hash", "reasoning_hash")
        if line.get(name)
    }
    assert (
        named
        == {"environment_hash", "command_hash"}
        | {
            "low": set(),
            "medium": {"prompt_hash"},
            "high": {"prompt_hash", "reasoning_hash"},
        }[written.level]
    )


@rfc_writer(
    "9.2",
    "MUST",
    "an annotation has a `caused_by` edge to its prompt or command",
)
def test_annotations_have_their_cause(written: RecordedTrail) -> None:
    causes = dict(written.edges("caused_by"))
    asked = written.level != "low"
    for name in ("line", "function", "removed"):
        record = written.record(name)
        assert causes[record["annotation_id"]] == record["prompt_hash" if asked else "command_hash"]
    assert causes[written.names["changed"]] == written.names["command"]
    assert {record["annotation_id"] for record in written.annotations()} <= set(causes)


@rfc_writer("9.2", "MUST", "a session has a `delegated_to` edge to each session that it starts")
def test_child_sessions_have_an_edge(written: RecordedTrail) -> None:
    assert written.edges("delegated_to") == {
        (written.names["session"], written.names[child]) for child in ("child", "own child")
    }


@rfc_writer("9.2", "SHOULD", "an edit has `informed_by` edges to what was read before")
def test_reads_have_an_informed_by_edge(written: RecordedTrail) -> None:
    assert (written.names["line"], written.names["read"]) in written.edges("informed_by")


@rfc_writer(
    "9.2",
    "MUST",
    "other relations have edges as well: an edit of another edit's lines, a review",
)
def test_other_relations_have_edges(written: RecordedTrail) -> None:
    assert (written.names["changed"], written.names["line"]) in written.edges("depends_on")
    assert written.names["line"] in {source for source, _ in written.edges("reviewed_by")}


@rfc_writer(
    "9.2",
    "MUST",
    "a decision is an entry at every level, and its annotations name it",
)
def test_decisions_are_recorded(written: RecordedTrail) -> None:
    [key] = written.entries("decision")
    assert {written.record(name)["decision_hash"] for name in ("line", "function", "removed")} == {
        key
    }


@rfc_writer("9.2", "MUST", "delegating work writes a delegation record")
@rfc_writer("9.2", "MUST", "a child session's start names its parent")
@rfc_writer("9.2", "SHOULD", "a child session's start names the agent and its type")
def test_delegations_are_recorded(written: RecordedTrail) -> None:
    assert {record["child_session_id"] for record in written.of("delegation")} == {
        written.names["child"],
        written.names["own child"],
    }
    starts = {
        record["session_id"]: record
        for record in written.of("session")
        if record["event"] == "start"
    }
    for child, name in (("child", "worker-1"), ("own child", "worker-2")):
        start = starts[written.names[child]]
        assert (start["parent_session_id"], start["agent_name"], start["agent_type"]) == (
            written.names["session"],
            name,
            "some-agent",
        )


@rfc_writer("9.2", "MUST", "a child of an unknown session is rejected")
def test_an_unknown_parent_is_refused(project: Project) -> None:
    with pytest.raises(UnknownId):
        project.session(parent_session_id="nobody")
    assert project.records() == []


@rfc_writer("9.3", "MUST", "programs that append concurrently lose and split no record")
@rfc_writer(
    "9.3",
    "MUST",
    "the manifest is locked during updates: no program's entries are lost",
)
def test_programs_write_at_once(project: Project) -> None:
    session = project.session()
    running = [
        subprocess.Popen(
            [sys.executable, "-c", RECORD, str(project.root), session, name], cwd=REPOSITORY
        )
        for name in ("one", "other")
    ]
    assert [each.wait() for each in running] == [0, 0]
    assert sorted(record["line_start"] for record in project.records("line")) == sorted(
        [*range(1, 11)] * 2
    )
    texts = {entry["command_text"] for entry in project.entries("command").values()}
    assert texts == {f"{name} {number}" for name in ("one", "other") for number in range(1, 11)}


@rfc_writer(
    "9.3",
    "MUST",
    "the manifest is replaced atomically: a reader sees the old or the new one",
)
def test_the_manifest_is_replaced_whole(project: Project) -> None:
    manifest = project.root / ".ai-audit" / "manifest.json"
    with manifest.open("rb") as before:
        old = manifest.stat().st_ino
        project.recorder.annotate_lines(
            "a.py", 1, 3, "create", session_origin(project.session(), prompt=PROMPT)
        )
        project.recorder.close()
        assert manifest.stat().st_ino != old
        assert "prompt" not in {
            entry["type"] for entry in json.loads(before.read())["entries"].values()
        }
    assert project.entries("prompt")


@rfc_writer(
    "9.3",
    "SHOULD",
    "entries are in a journal until they are merged together, and are read from there",
)
def test_the_journal_is_merged_in_one_step(project: Project) -> None:
    with fold_lock(project.recorder.directory).acquire():
        project.recorder.annotate_lines(
            "a.py", 1, 3, "create", session_origin(project.session(), prompt=PROMPT)
        )
        assert AuditWriter(project.recorder.directory).fold(wait=False) == 0
        journal = (project.root / ".ai-audit" / "wal" / "entries.jsonl").read_bytes()
        assert PROMPT.text.encode() in journal
        [line] = project.records("line")
        assert line["prompt_hash"] in open_trail(project.root).manifest.pending
    assert project.entries("prompt")
    assert not (project.root / ".ai-audit" / "wal" / "entries.jsonl").exists()


@rfc_writer(
    "9.2",
    "MUST",
    "once a commit with an annotation's lines is not the last one, a new record of the annotation names it",
)
def test_every_annotation_is_linked_to_its_commit(tmp_path: Path) -> None:
    work = committed_project(tmp_path / "project")
    before, count = log_bytes(work), len(work.records())
    with Recorder(work.path) as recorder:
        result = backfill(recorder)
    assert log_bytes(work).startswith(before)
    assert result.pending == ()
    written = [record for record in added_records(work, count) if record["type"] == "line"]
    assert [(record["file_path"], record["commit_hash"]) for record in written] == [
        ("a.py", work.git("rev-parse", "HEAD~1")),
        ("b.py", work.git("rev-parse", "HEAD~1")),
    ]
    again = log_bytes(work)
    with Recorder(work.path) as recorder:
        assert backfill(recorder).backfilled == ()
    assert log_bytes(work) == again
