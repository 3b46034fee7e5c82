"""The edges that a record gets: the source is the effect, the target the cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.recording.projects import (
    MODEL,
    PROMPT,
    SOURCE,
    TOOL,
    Project,
    new_project,
    session_origin,
)
from tests.unit.recording.request_builders import edge_request, function_request, read_request
from vibes_lsp.errors import UnknownId
from vibes_lsp.recording import (
    Command,
    CommandType,
    EdgeType,
    NodeType,
    Origin,
    Prompt,
    PromptType,
    RecordCommand,
    RecordEdge,
    StartSession,
    WrongArgument,
)
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.model.members import Members

COMMAND = Command("make digest", CommandType.SHELL)


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        ({"prompt": PROMPT, "command": COMMAND}, "prompt_hash"),
        ({"command": COMMAND}, "command_hash"),
        ({}, "session_id"),
    ],
)
def test_an_edit_is_caused_by_its_nearest_known_cause(
    project: Project, given: dict[str, object], cause: str
) -> None:
    session = project.session()
    origin = Origin(session_id=session, **given)  # type: ignore[arg-type]
    recorded = project.recorder.annotate_lines("a.py", 1, 1, "create", origin)
    [record] = project.records("line")
    assert project.edges("caused_by") == [(recorded.annotation_id, record[cause])]
    [edge] = project.records("edge")
    assert recorded.edges == (edge["annotation_id"],)
    assert (edge["source_type"], edge["target_type"]) == (
        "annotation",
        "session" if cause == "session_id" else "context",
    )
    assert edge["session_id"] == session


def test_without_a_session_the_cause_is_tool_and_model(project: Project) -> None:
    recorded = project.recorder.annotate_lines(
        "a.py", 1, 1, "create", Origin(tool=TOOL, model=MODEL)
    )
    [record] = project.records("line")
    assert project.edges("caused_by") == [(recorded.annotation_id, record["environment_hash"])]
    assert "session_id" not in project.records("edge")[0]


def test_a_withheld_prompt_is_no_cause(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project", "low")
    session = project.session()
    recorded = project.recorder.annotate_lines(
        "a.py", 1, 1, "create", session_origin(session, prompt=PROMPT)
    )
    assert project.edges("caused_by") == [(recorded.annotation_id, session)]


def test_context_files_and_references_inform_an_edit(project: Project) -> None:
    session, other = project.session(), project.session()
    first = project.annotate(session, 1, 1)
    command = project.recorder.execute(
        RecordCommand(session_id=session, command=COMMAND)
    ).command_hash
    prompt = Prompt(
        "Use it.", PromptType.CHAT_MESSAGE, ("b.py", str(project.root / "c.py"), "/elsewhere/d.py")
    )
    recorded = project.recorder.annotate_lines(
        "a.py",
        4,
        6,
        "create",
        session_origin(session, prompt=prompt, informed_by=(first, command, other, "e.py", "b.py")),
    )
    targets = [
        target
        for source, target in project.edges("informed_by")
        if source == recorded.annotation_id
    ]
    texts = {key: entry["command_text"] for key, entry in project.entries("command").items()}
    assert [texts.get(target, target) for target in targets] == [
        first,
        "make digest",
        other,
        "read e.py",
        "read b.py",
        "read c.py",
    ]
    assert recorded.left_out == ("/elsewhere/d.py",)
    assert b"elsewhere" not in project.written()


def test_a_read_informs_only_the_next_edit_of_its_session(project: Project) -> None:
    session, other = project.session(), project.session()
    read = project.recorder.execute(read_request(session, "a.py", "with space.py"))
    assert project.entry(read.command_hash)["command_text"] == "read a.py 'with space.py'"
    assert project.entry(read.command_hash)["command_type"] == "file_read"
    foreign, first, second = (
        project.annotate(which, line, line)
        for line, which in ((1, other), (4, session), (9, session))
    )
    assert project.edges("informed_by") == [
        (session, read.command_hash),
        (first, read.command_hash),
    ]
    project.recorder.execute(read_request(session, "a.py", "with space.py"))
    third = project.annotate(session, 5, 5, "modify")
    assert project.edges("informed_by")[2:] == [
        (session, read.command_hash),
        (third, read.command_hash),
    ]
    assert len({foreign, first, second, third}) == 4


def test_a_file_that_two_sessions_read_informs_the_edits_of_both(project: Project) -> None:
    sessions = [project.session(), project.session()]
    keys = {
        project.recorder.execute(read_request(session, "a.py")).command_hash for session in sessions
    }
    edits = [project.annotate(each, line, line) for line, each in enumerate(sessions, 4)]
    [key] = keys
    assert project.edges("informed_by") == [
        *((session, key) for session in sessions),
        *((edit, key) for edit in edits),
    ]


def test_an_edit_depends_on_an_older_one_whose_place_is_uncertain(
    project: Project,
) -> None:
    started = project.recorder.execute(StartSession(tool=TOOL, model=MODEL))
    unanchored: Members = {
        "type": "line",
        "file_path": "a.py",
        "line_start": 4,
        "line_end": 6,
        "environment_hash": started.environment_hash,
        "action": "create",
        "timestamp": "2026-02-03T10:00:01.500Z",
        "assurance_level": "medium",
    }
    [older] = AuditWriter(project.recorder.directory).append([unanchored])
    newer = project.annotate(started.session_id, 1, 10, "modify")
    assert project.edges("depends_on") == [(newer, older)]
    assert project.edges("supersedes") == []


def test_a_command_is_caused_by_its_session(project: Project) -> None:
    session = project.session()
    done = project.recorder.execute(RecordCommand(session_id=session, command=COMMAND))
    assert project.edges("caused_by") == [(done.command_hash, session)]


def test_an_edit_that_covers_another_supersedes_it(project: Project) -> None:
    session = project.session()
    older = project.annotate(session, 4, 6)
    moved = "# one more line\n" + SOURCE
    newer = project.annotate(session, 4, 8, "modify", text=moved)
    assert project.edges("supersedes") == [(newer, older)]
    assert project.edges("depends_on") == []
    [edge] = [edge for edge in project.records("edge") if edge["edge_type"] == "supersedes"]
    assert edge["metadata"] == {"reason": "covers"}


def test_an_edit_inside_another_depends_on_it(project: Project) -> None:
    session = project.session()
    older = project.annotate(session, 4, 10)
    newer = project.annotate(session, 5, 5, "modify")
    assert project.edges("depends_on") == [(newer, older)]
    assert project.edges("supersedes") == []


def test_edits_on_other_lines_have_no_edge(project: Project) -> None:
    session = project.session()
    project.recorder.annotate_lines("a.py", 4, 6, "create", session_origin(session))
    project.recorder.annotate_lines("a.py", 7, 10, "create", session_origin(session))
    assert [edge["edge_type"] for edge in project.records("edge")] == ["caused_by", "caused_by"]


def test_history_is_not_superseded_again(project: Project) -> None:
    session = project.session()
    oldest, older, newer = (
        project.annotate(session, 4, 6, action) for action in ("create", "modify", "modify")
    )
    assert project.edges("supersedes") == [(older, oldest), (newer, older)]


def test_a_review_action_supersedes_nothing(project: Project) -> None:
    session = project.session()
    project.recorder.annotate_lines("a.py", 4, 6, "create", session_origin(session))
    project.recorder.annotate_lines("a.py", 1, 10, "review", session_origin(session))
    project.recorder.annotate_lines("a.py", 7, 10, "modify", session_origin(session))
    assert {edge["edge_type"] for edge in project.records("edge")} == {"caused_by"}


def test_a_deletion_supersedes_the_annotation_of_its_lines(project: Project) -> None:
    session = project.session()
    older = project.annotate(session, 9, 10)
    gone = project.annotate(session, 8, 10, "delete", text=SOURCE)
    assert project.edges("supersedes") == [(gone, older)]


def test_functions_supersede_only_functions(project: Project) -> None:
    session = project.session()
    project.recorder.annotate_lines("a.py", 4, 6, "create", session_origin(session))
    older = project.recorder.execute(
        function_request("a.py", "digest", "create", session_origin(session))
    ).annotation_id
    newer = project.recorder.execute(
        function_request("a.py", "digest", "modify", session_origin(session))
    ).annotation_id
    project.recorder.execute(function_request("a.py", "same", "create", session_origin(session)))
    assert project.edges("supersedes") == [(newer, older)]
    assert project.edges("depends_on") == []


def test_an_edge_between_existing_records(project: Project) -> None:
    session = project.session()
    annotation = project.annotate(session, 1, 1)
    relation = edge_request(
        EdgeType.INFORMED_BY,
        annotation,
        NodeType.ANNOTATION,
        session,
        NodeType.SESSION,
        session_id=session,
        metadata={"weight": 1.0},
    )
    done = project.recorder.execute(relation)
    edge = project.records("edge")[-1]
    assert edge["annotation_id"] == done.edge_id
    assert (edge["source_ref"], edge["target_ref"], edge["metadata"]) == (
        annotation,
        session,
        {"weight": 1},
    )


@pytest.mark.parametrize(
    ("relation", "error"),
    [
        (("likes", "s1", "session", "s1", "session"), "edge_type: expected caused_by"),
        (
            ("depends_on", "s1", "person", "s1", "session"),
            "source_type: expected annotation",
        ),
        (
            ("depends_on", "s1", "session", "s2", "session"),
            "target_ref: no session has the id 's2'",
        ),
        (("depends_on", "s1", "annotation", "s1", "session"), "source_ref: no annotation"),
        (("depends_on", "s1", "session", "s1", "session", "s2"), "no session 's2'"),
    ],
)
def test_an_edge_to_an_unknown_id_is_refused(
    project: Project, relation: tuple[str, ...], error: str
) -> None:
    project.session()
    members = ("edge_type", "source_ref", "source_type", "target_ref", "target_type", "session_id")
    given: dict[str, Any] = dict(zip(members, relation, strict=False))
    with pytest.raises((WrongArgument, UnknownId), match=error):
        project.recorder.execute(RecordEdge(**given))
    assert project.records("edge") == []
