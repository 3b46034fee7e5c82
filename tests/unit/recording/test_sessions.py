"""Sessions start, end and delegate."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.unit.recording.projects import MODEL, START, TOOL, Project
from vibes_lsp.errors import AuditDirNotFound, UnknownId
from vibes_lsp.recording import (
    DelegationType,
    EndSession,
    Model,
    RecordDelegation,
    Recorder,
    StartSession,
    Tool,
    WrongArgument,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_session_starts_with_its_environment(project: Project) -> None:
    started = project.recorder.execute(
        StartSession(
            tool=TOOL,
            model=MODEL,
            description="Digests",
            agent_name="worker-1",
            agent_type="some-agent",
        )
    )
    [record] = project.records()
    assert record == {
        "type": "session",
        "event": "start",
        "session_id": started.session_id,
        "timestamp": "2026-02-03T10:00:01.000Z",
        "environment_hash": started.environment_hash,
        "assurance_level": "medium",
        "description": "Digests",
        "agent_name": "worker-1",
        "agent_type": "some-agent",
        "annotation_id": record["annotation_id"],
    }
    assert project.entry(started.environment_hash) == {
        "type": "environment",
        "tool_name": "Some Tool",
        "tool_version": "1.2.3",
        "model_name": "some-model",
        "model_version": "20260101",
        "model_parameters": {"temperature": 0.5},
        "created_at": "2026-02-03T10:00:01.000Z",
    }


def test_one_environment_is_written_once(project: Project) -> None:
    hashes = {
        project.recorder.execute(
            StartSession(tool=Tool("T", "1"), model=Model("m", "1", {"n": number}))
        ).environment_hash
        for number in (1, 1.0)
    }
    assert len(hashes) == 1
    assert len(project.entries("environment")) == 2  # the other one is the reviewer's


def test_a_session_ends_once(project: Project) -> None:
    session = project.session()
    for _ in range(3):
        project.recorder.execute(EndSession(session_id=session))
    assert [record["event"] for record in project.records("session")] == ["start", "end"]


def test_another_program_ends_a_session(project: Project) -> None:
    session = project.session()
    with Recorder(project.root) as other:
        other.execute(EndSession(session_id=session))
    assert [record["event"] for record in project.records("session")] == ["start", "end"]


def test_a_session_does_not_end_before_it_started(project: Project) -> None:
    session = project.session()
    earlier = Recorder(project.root, now=lambda: START - timedelta(days=1))
    earlier.execute(EndSession(session_id=session))
    start, end = project.records("session")
    assert end["timestamp"] == start["timestamp"]


def test_an_unknown_session_cannot_end(project: Project) -> None:
    with pytest.raises(UnknownId, match="'nobody'"):
        project.recorder.execute(EndSession(session_id="nobody"))
    assert project.records() == []


def test_a_delegation_starts_the_child(project: Project) -> None:
    parent = project.session()
    done = project.recorder.execute(
        RecordDelegation(
            parent_session_id=parent,
            task_description="Write limits",
            delegated_files=("src/limits.py", str(project.root / "a.py"), "/elsewhere/b.py"),
            delegation_type=DelegationType.TEST,
            agent_name="worker",
        )
    )
    assert done.left_out == ("/elsewhere/b.py",)
    start = project.records("session")[1]
    assert (start["session_id"], start["parent_session_id"], start["agent_name"]) == (
        done.child_session_id,
        parent,
        "worker",
    )
    [delegation] = project.records("delegation")
    environment = project.records("session")[0]["environment_hash"]
    assert {
        name: delegation[name] for name in delegation if name not in {"annotation_id", "timestamp"}
    } == {
        "type": "delegation",
        "parent_session_id": parent,
        "child_session_id": done.child_session_id,
        "task_description": "Write limits",
        "delegated_files": ["src/limits.py", "a.py"],
        "delegation_type": "test",
        "parent_environment_hash": environment,
        "child_environment_hash": environment,
    }
    assert project.edges("delegated_to") == [(parent, done.child_session_id)]


def test_a_secret_in_a_delegated_task_is_counted_once(project: Project) -> None:
    done = project.recorder.execute(
        RecordDelegation(
            parent_session_id=project.session(), task_description=f"Use ghp_{'a1B2' * 9}"
        )
    )
    assert done.masked == 1


def test_a_child_of_another_model_has_its_own_environment(project: Project) -> None:
    parent = project.session()
    project.recorder.execute(
        RecordDelegation(parent_session_id=parent, tool=TOOL, model=Model("small-model", "1"))
    )
    first, second = project.records("session")
    assert project.entry(second["environment_hash"])["model_name"] == "small-model"
    assert first["environment_hash"] != second["environment_hash"]


def test_a_session_that_names_its_parent_is_delegated_by_it(project: Project) -> None:
    parent = project.session()
    child = project.session(parent_session_id=parent)
    assert [record["child_session_id"] for record in project.records("delegation")] == [child]
    assert project.edges("delegated_to") == [(parent, child)]


def test_a_second_delegation_adds_no_edge(project: Project) -> None:
    parent = project.session()
    child = project.recorder.execute(RecordDelegation(parent_session_id=parent)).child_session_id
    again = project.recorder.execute(
        RecordDelegation(parent_session_id=parent, child_session_id=child, task_description="More")
    )
    assert (again.child_session_id, again.edges) == (child, ())
    assert len(project.records("delegation")) == 2
    assert len(project.records("session")) == 2


def test_an_invalid_delegation_is_refused(project: Project) -> None:
    parent, stranger = project.session(), project.session()
    before = project.written()
    with pytest.raises(UnknownId, match="'nobody'"):
        project.recorder.execute(RecordDelegation(parent_session_id="nobody"))
    with pytest.raises(UnknownId, match="'nobody'"):
        project.session(parent_session_id="nobody")
    with pytest.raises(WrongArgument, match="another parent"):
        project.recorder.execute(
            RecordDelegation(parent_session_id=parent, child_session_id=stranger)
        )
    with pytest.raises(WrongArgument, match="model: is required"):
        project.recorder.execute(RecordDelegation(parent_session_id=parent, tool=TOOL))
    assert project.written() == before


def test_a_recorder_needs_a_trail(tmp_path: Path) -> None:
    with pytest.raises(AuditDirNotFound):
        Recorder(tmp_path)
