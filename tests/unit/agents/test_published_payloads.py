"""Sessions of agents that were not tried, by their published payloads: what the trail has."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.unit.agents.tool_calls import as_bytes
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.agents.all_agents import read_event
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import store_event

if TYPE_CHECKING:
    from pathlib import Path

Payload = dict[str, Any]
CREATED: Final = "def double(x):\n    return 2 * x\n"
EDITED: Final = "def double(x):\n    return x * 2\n"
OLD: Final = "    return 2 * x\n"
NEW: Final = "    return x * 2\n"
PROMPT: Final = "Write a function that doubles."
COMMAND: Final = "pytest -q"


def cursor(folder: str) -> list[Payload]:
    common = {
        "conversation_id": "c1",
        "generation_id": "g1",
        "model": "claude-sonnet-5",
        "cursor_version": "2.6.21",
        "workspace_roots": [folder],
        "user_email": None,
        "transcript_path": None,
    }
    file = {"file_path": f"{folder}/double.py"}
    events: list[Payload] = [
        {"hook_event_name": "sessionStart", "session_id": "c1"},
        {"hook_event_name": "beforeSubmitPrompt", "prompt": PROMPT, "attachments": []},
        {
            "hook_event_name": "afterFileEdit",
            **file,
            "edits": [{"old_string": "", "new_string": CREATED}],
        },
        {
            "hook_event_name": "afterFileEdit",
            **file,
            "edits": [{"old_string": OLD, "new_string": NEW}],
        },
        {"hook_event_name": "afterShellExecution", "command": COMMAND, "cwd": folder, "output": ""},
        {
            "hook_event_name": "postToolUse",
            "tool_name": "Read",
            "tool_input": file,
            "tool_use_id": "t1",
        },
        {"hook_event_name": "sessionEnd", "session_id": "c1", "reason": "completed"},
    ]
    return [{**common, **event} for event in events]


def windsurf(folder: str) -> list[Payload]:
    file = {"file_path": f"{folder}/double.py"}
    events: list[tuple[str, Payload]] = [
        ("pre_user_prompt", {"user_prompt": PROMPT}),
        ("post_write_code", {**file, "edits": [{"old_string": "", "new_string": CREATED}]}),
        ("post_write_code", {**file, "edits": [{"old_string": OLD, "new_string": NEW}]}),
        ("post_run_command", {"command_line": COMMAND, "cwd": folder}),
        ("post_read_code", file),
    ]
    return [
        {
            "agent_action_name": name,
            "trajectory_id": "c1",
            "execution_id": "x1",
            "timestamp": f"2026-11-22T08:33:0{number}Z",
            "model_name": "SWE-1.5",
            "tool_info": members,
        }
        for number, (name, members) in enumerate(events)
    ]


def _tools(folder: str, tools: list[tuple[str, Payload, str]]) -> list[Payload]:
    events: list[Payload] = [
        {"hook_event_name": "SessionStart", "source": "new"},
        {"hook_event_name": "UserPromptSubmit", "prompt": PROMPT},
        *(
            {
                "hook_event_name": "PostToolUse",
                "tool_name": name,
                "tool_input": members,
                "tool_response": told,
                "tool_use_id": f"t{number}",
            }
            for number, (name, members, told) in enumerate(tools)
        ),
    ]
    return [{**event, "session_id": "c1", "cwd": folder} for event in events]


def copilot_vscode(folder: str) -> list[Payload]:
    path = f"{folder}/double.py"
    told = "The following files were successfully edited:\n" + path
    events = _tools(
        folder,
        [
            ("create_file", {"filePath": path, "content": CREATED}, told),
            (
                "replace_string_in_file",
                {"filePath": path, "oldString": OLD, "newString": NEW},
                told,
            ),
            (
                "replace_string_in_file",
                {"filePath": path, "oldString": "nowhere", "newString": NEW},
                "String replacement failed: no match",
            ),
            ("run_in_terminal", {"command": COMMAND}, "2 passed"),
            ("read_file", {"filePath": path, "startLine": 1, "endLine": 2}, CREATED),
        ],
    )
    transcripts = "/home/someone/.config/Code/User/workspaceStorage/5f/GitHub.copilot-chat"
    return [
        {
            "timestamp": f"2026-11-22T08:33:0{number}.000Z",
            "transcript_path": f"{transcripts}/transcripts/c1.jsonl",
            **event,
        }
        for number, event in enumerate(events)
    ]


def amp(folder: str) -> list[Payload]:
    path = f"{folder}/double.py"
    thread = {"thread": {"id": "T-c1"}}
    done = {**thread, "status": "done", "output": "ok"}
    edit = {"path": path, "old_str": OLD, "new_str": NEW}
    events: list[tuple[str, Payload, Payload]] = [
        ("session.start", thread, {}),
        ("agent.start", {**thread, "id": 1, "message": PROMPT}, {}),
        (
            "tool.result",
            {**done, "tool": "create_file", "input": {"path": path, "content": CREATED}},
            {"files": [path]},
        ),
        ("tool.result", {**done, "tool": "edit_file", "input": edit}, {"files": [path]}),
        (
            "tool.result",
            {**done, "tool": "edit_file", "input": edit, "status": "error"},
            {"files": [path]},
        ),
        (
            "tool.result",
            {**done, "tool": "Bash", "input": {"cmd": COMMAND}},
            {"command": {"command": COMMAND}},
        ),
        ("tool.result", {**done, "tool": "Read", "input": {"path": path}}, {}),
    ]
    return [
        {"amp": name, "cwd": folder, "event": {**event, "toolUseID": f"t{number}"}, **more}
        for number, (name, event, more) in enumerate(events)
    ]


AGENTS: Final = {
    "Cursor": (cursor, "claude-sonnet-5"),
    "Windsurf": (windsurf, "SWE-1.5"),
    "Copilot in VS Code": (copilot_vscode, "unknown"),
    "Amp": (amp, "unknown"),
}


@pytest.fixture(params=AGENTS)
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Project]:
    """Record a session; its events wait together, as the file has both edits already."""
    project = new_project(tmp_path / "project")
    project.file("double.py", EDITED)
    build, _ = AGENTS[request.param]
    for payload in build(project.root.as_posix()):
        store_event(as_bytes(payload), lambda: str(project.root))
    fold_events(project.recorder.directory)
    return request.param, project


def test_a_session_is_recorded(recorded: tuple[str, Project]) -> None:
    agent, project = recorded
    lines = [
        (each["file_path"], each["line_start"], each["line_end"], each["action"])
        for each in project.records("line")
    ]
    assert lines == [("double.py", 1, 2, "create"), ("double.py", 2, 2, "modify")]
    [prompt] = project.entries("prompt").values()
    assert prompt["prompt_text"] == PROMPT
    for record in project.records("line"):
        environment = project.entry(record["environment_hash"])
        assert (environment["tool_name"], environment["model_name"]) == (agent, AGENTS[agent][1])
        assert project.entry(record["prompt_hash"]) == prompt
    commands = {each["command_type"]: each for each in project.entries("command").values()}
    assert commands.keys() == {"shell", "file_read"}
    assert commands["shell"]["command_text"] == COMMAND
    assert "command_exit_code" not in commands["shell"]
    assert "double.py" in commands["file_read"]["command_text"]
    assert len({each["session_id"] for each in project.records("session")}) == 1


def test_the_session_ends_where_the_agent_says_it(recorded: tuple[str, Project]) -> None:
    agent, project = recorded
    events = [each["event"] for each in project.records("session")]
    assert events == (["start", "end"] if agent == "Cursor" else ["start"])


@pytest.mark.parametrize("agent", AGENTS)
def test_events_that_say_nothing_are_ignored(agent: str) -> None:
    build, _ = AGENTS[agent]
    for payload in build("/p"):
        for name in ("hook_event_name", "agent_action_name", "amp"):
            if name in payload:
                assert read_event({**payload, name: "somethingNew"}) is None


def test_paths_of_cursor_on_windows_are_those_of_the_system() -> None:
    [*_, edit, _, _, _, _] = cursor("/c:/Users/someone/p")
    event = read_event(edit)
    assert event is not None
    assert event.folder == "c:/Users/someone/p"


@pytest.mark.parametrize("is_saved", [True, False])
def test_an_edit_that_is_reported_before_it_is_saved_is_awaited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_saved: bool
) -> None:
    monkeypatch.setenv("VIBES_PATIENCE", f"saving={'unlimited' if is_saved else 1}")
    project = new_project(tmp_path / "project")
    project.file("double.py", CREATED)
    edit = copilot_vscode(project.root.as_posix())[3]
    store_event(as_bytes(edit), lambda: str(project.root))
    looks: list[datetime] = []

    def now() -> datetime:
        looks.append(datetime.now(UTC))
        if is_saved and len(looks) == 5:
            project.file("double.py", EDITED)
        return looks[0] + timedelta(seconds=0 if is_saved or len(looks) < 5 else 2)

    fold_events(project.recorder.directory, now=now)
    assert [each["line_start"] for each in project.records("line")] == ([2] if is_saved else [])
    assert not any(project.recorder.directory.waiting_events.iterdir())


def test_a_prompt_that_names_no_folder_is_recorded_where_the_hook_ran(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project")
    store_event(as_bytes(windsurf("/elsewhere")[0]), lambda: str(project.root))
    fold_events(project.recorder.directory)
    assert [each["prompt_text"] for each in project.entries("prompt").values()] == [PROMPT]
