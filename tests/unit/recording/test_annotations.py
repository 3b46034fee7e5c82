"""Annotations of edits: members, anchors, paths and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.trails import anchors
from tests.unit.recording.projects import (
    MODEL,
    PROMPT,
    SOURCE,
    TOOL,
    Project,
    new_project,
    session_origin,
)
from tests.unit.recording.request_builders import decision_request, function_request
from vibes_lsp.errors import UnknownId, UnreadableFile
from vibes_lsp.recording import (
    Command,
    CommandType,
    Confidence,
    Decision,
    DecisionOption,
    Origin,
    Prompt,
    PromptType,
    Reasoning,
    Recorder,
    WrongArgument,
)
from vibes_lsp.recording.results import Recorded

if TYPE_CHECKING:
    from pathlib import Path

DECISION = Decision(
    "Which way",
    (DecisionOption("l", "left", ("short",)), DecisionOption("r", "right")),
    "l",
    "no time",
    Confidence.LOW,
)


def members(recorded: Recorded) -> dict[str, Any]:
    assert recorded.record is not None
    return recorded.record


def test_an_annotation_has_all_members(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project", "high")
    session = project.session()
    origin = session_origin(
        session,
        prompt=PROMPT,
        reasoning=Reasoning("First this, then that.", 7),
        command=Command("make digest", CommandType.SHELL, 0, "done", "."),
        decision=DECISION,
    )
    recorded = project.recorder.annotate_lines("a.py", 4, 6, "create", origin)
    [record] = project.records("line")
    assert record == recorded.record
    assert record["annotation_id"] == recorded.annotation_id
    expected = {
        "type": "line",
        "file_path": "a.py",
        "line_start": 4,
        "line_end": 6,
        "environment_hash": project.records("session")[0]["environment_hash"],
        "action": "create",
        "timestamp": "2026-02-03T10:00:02.000Z",
        "commit_hash": None,
        "session_id": session,
        "assurance_level": "high",
        **anchors(SOURCE, 4, 6).members(),
    }
    assert expected.items() <= record.items()
    assert project.entry(record["prompt_hash"])["prompt_text"] == "Write a digest."
    reasoning = project.entry(record["reasoning_hash"])
    assert (reasoning["reasoning_text"], reasoning["reasoning_token_count"]) == (
        "First this, then that.",
        7,
    )
    assert reasoning["reasoning_model"] == "some-model"
    assert project.entry(record["command_hash"]) == {
        "type": "command",
        "command_text": "make digest",
        "command_type": "shell",
        "command_exit_code": 0,
        "command_output_summary": "done",
        "working_directory": ".",
        "created_at": record["timestamp"],
    }
    decision = project.entry(record["decision_hash"])
    assert decision["options"] == [
        {"id": "l", "description": "left", "pros": ["short"]},
        {"id": "r", "description": "right"},
    ]
    assert (decision["selected"], decision["confidence"]) == ("l", "low")


def test_tool_and_model_replace_a_session(project: Project) -> None:
    recorded = project.recorder.annotate_lines(
        "a.py", 1, 1, "create", Origin(tool=TOOL, model=MODEL)
    )
    record = members(recorded)
    assert "session_id" not in record
    assert project.entry(record["environment_hash"])["tool_name"] == "Some Tool"


def test_a_decision_is_given_by_its_hash(project: Project) -> None:
    key = project.recorder.execute(decision_request(DECISION)).decision_hash
    recorded = project.recorder.annotate_lines(
        "a.py", 1, 1, "create", session_origin(project.session(), decision=key)
    )
    assert members(recorded)["decision_hash"] == key
    assert project.entry(key)["type"] == "decision"


def test_anchors_are_made_from_unsaved_text(project: Project) -> None:
    unsaved = "# not saved\n" + SOURCE
    record = members(
        project.recorder.annotate_lines(
            "a.py", 5, 7, "modify", session_origin(project.session()), text=unsaved
        )
    )
    assert anchors(unsaved, 5, 7).members().items() <= record.items()
    assert record["anchor_hash"] == anchors(SOURCE, 4, 6).members()["anchor_hash"]


@pytest.mark.parametrize("saved", [True, False])
def test_line_ends_and_byte_order_marks_change_only_the_file_hash(
    project: Project, saved: bool
) -> None:
    text = "\ufeff" + SOURCE.replace("\n", "\r\n")
    project.file("a.py", text)
    record = members(
        project.recorder.annotate_lines(
            "a.py", 1, 6, "create", session_origin(project.session()), text=None if saved else text
        )
    )
    plain = anchors(SOURCE, 1, 6).members()
    assert (record["anchor_hash"], record["anchor_context"]) == (
        plain["anchor_hash"],
        plain["anchor_context"],
    )
    assert record["file_content_hash"] != plain["file_content_hash"]
    assert record["file_content_hash"] == anchors(text, 1, 6).members()["file_content_hash"]


def test_a_deletion_is_anchored_in_the_deleted_text(project: Project) -> None:
    project.file("a.py", SOURCE.replace("def same(one, other):\n    return one == other\n", ""))
    record = members(
        project.recorder.annotate_lines(
            "a.py", 9, 10, "delete", session_origin(project.session()), text=SOURCE
        )
    )
    assert (record["action"], record["line_start"], record["line_end"]) == ("delete", 9, 10)
    assert anchors(SOURCE, 9, 10).members().items() <= record.items()


def test_a_function_is_anchored_on_its_lines(project: Project) -> None:
    recorded = project.recorder.execute(
        function_request(
            "a.py", "same", "create", session_origin(project.session()), signature="(one, other)"
        )
    )
    record = members(recorded)
    assert (record["type"], record["function_name"], record["function_signature"]) == (
        "function",
        "same",
        "(one, other)",
    )
    assert "line_start" not in record
    assert record["anchor_hash"] == anchors(SOURCE, 9, 10).members()["anchor_hash"]


def test_a_function_that_is_not_found_needs_its_lines(project: Project) -> None:
    project.file("a.unknown", "to digest it\n  hash it\n")
    with pytest.raises(WrongArgument, match=r"'digest' is not found in a\.unknown"):
        project.recorder.execute(
            function_request("a.unknown", "digest", "create", session_origin(project.session()))
        )
    recorded = project.recorder.execute(
        function_request("a.unknown", "digest", "create", session_origin("s1"), lines=(1, 2))
    )
    assert members(recorded)["anchor_context"] == "to digest it\n  hash it"


def test_paths_are_recorded_relative_to_the_project(project: Project) -> None:
    project.file("src/b.py")
    session = project.session()
    for path in ("src/b.py", "./src/../src/b.py", project.root / "src" / "b.py"):
        assert (
            members(project.recorder.annotate_lines(path, 1, 1, "create", session_origin(session)))[
                "file_path"
            ]
            == "src/b.py"
        )


def test_a_project_behind_a_link_is_accepted(project: Project, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project.root, target_is_directory=True)
    session = project.session()
    through, real = Recorder(tmp_path / "link"), Recorder(project.root)
    for recorder, path in (
        (through, project.root / "a.py"),
        (through, tmp_path / "link" / "a.py"),
        (real, tmp_path / "link" / "a.py"),
    ):
        assert (
            members(recorder.annotate_lines(path, 1, 1, "create", session_origin(session)))[
                "file_path"
            ]
            == "a.py"
        )


@pytest.mark.parametrize("path", ["../outside.py", "/etc/passwd", "", ".", "link.py", "a\0b.py"])
def test_paths_out_of_the_project_are_refused(project: Project, path: str) -> None:
    (project.root.parent / "outside.py").write_text(SOURCE)
    (project.root / "link.py").symlink_to(project.root.parent / "outside.py")
    session = project.session()
    before = project.written()
    with pytest.raises(WrongArgument, match=r"inside the project|file: must not be empty"):
        project.recorder.annotate_lines(
            path, 1, 1, "create", session_origin(session, prompt=PROMPT)
        )
    assert project.written() == before


def test_what_is_not_tracked_is_not_recorded(tmp_path: Path) -> None:
    project = new_project(
        tmp_path / "project", tracked_extensions=[".py"], exclude_patterns=["vendor/**"]
    )
    session = project.session()
    before = project.written()
    for path in ("notes.md", "vendor/b.py"):
        project.file(path)
        recorded = project.recorder.annotate_lines(
            path, 1, 1, "create", session_origin(session, prompt=PROMPT)
        )
        assert recorded == Recorded(None, untracked=True)
    assert project.written() == before
    assert project.annotate(session, 1, 1)


@pytest.mark.parametrize(("start", "end"), [(0, 1), (3, 2), (1, 11), (11, 11)])
def test_lines_must_be_in_the_text(project: Project, start: int, end: int) -> None:
    with pytest.raises(
        WrongArgument, match=rf"lines {start} to {end} are not in a\.py, which has 10"
    ):
        project.recorder.annotate_lines(
            "a.py", start, end, "create", session_origin(project.session())
        )


@pytest.mark.parametrize("action", ["rebase_remap", "rebase_orphan", "invent"])
def test_actions_of_remaps_and_unknown_actions_are_refused(project: Project, action: str) -> None:
    with pytest.raises(WrongArgument, match="action: expected create, modify, delete or review"):
        project.recorder.annotate_lines("a.py", 1, 1, action, session_origin(project.session()))


@pytest.mark.parametrize(
    ("members", "error"),
    [
        ({}, "session_id: is required"),
        ({"tool": TOOL}, "model: is required"),
        ({"model": MODEL}, "tool: is required"),
        ({"session_id": "nobody"}, "'nobody'"),
        (
            {"session_id": "s1", "prompt": Prompt("", PromptType.OTHER)},
            r"prompt\.text: must not be empty",
        ),
        (
            {"session_id": "s1", "prompt": Prompt("x", "song")},  # type: ignore[arg-type]
            r"prompt\.type: expected user_instruction",
        ),
        ({"session_id": "s1", "decision": "ab" * 32}, "no decision has the hash"),
        ({"session_id": "s1", "informed_by": ("ab" * 32,)}, "has the id abab"),
    ],
)
def test_the_error_names_what_is_missing_or_unknown(
    project: Project, members: dict[str, Any], error: str
) -> None:
    project.session()
    with pytest.raises((WrongArgument, UnknownId), match=error):
        project.recorder.annotate_lines("a.py", 1, 1, "create", Origin(**members))
    assert project.records("line") == []


def test_a_missing_file_needs_its_text(project: Project) -> None:
    session = project.session()
    with pytest.raises(UnreadableFile, match=r"new\.py does not exist"):
        project.recorder.annotate_lines("new.py", 1, 1, "create", session_origin(session))
    assert project.annotate(session, 1, 1, path="new.py", text="x = 1\n")
