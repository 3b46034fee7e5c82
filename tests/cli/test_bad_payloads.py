"""Bad payloads: the hook ends well, no line is recorded, and the log says what became of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.cli.run_vibes import clean_environment
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.agents.events import Agent
from vibes_lsp.ingest.event_log import (
    NO_AGENT,
    LoggedEvent,
    read_event_log,
)
from vibes_lsp.ingest.fold import fold_events, wait_until_folded
from vibes_lsp.ingest.hook import store_event

if TYPE_CHECKING:
    from collections.abc import Iterable

CLAUDE: Final = Agent.CLAUDE_CODE.value
COPILOT: Final = Agent.COPILOT_CLI.value
NOTHING: Final = "nothing to record"
UNKNOWN: Final = "no agent that is known sends such a payload"
NO_JSON: Final = "the payload is no JSON object"
NOT_HERE: Final = "no edited file belongs to this trail"
NO_LINES: Final = "the edited lines are unknown"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = new_project(tmp_path / "project")
    made.file("a.py", "a = 1\nb = 2\n")
    made.file("image.py", b"\x00\x01\xff\xfe" * 100)
    (made.root / "folder.py").mkdir()
    return made


def run_hook(data: Iterable[bytes], folder: Path) -> None:
    """Run the hook as an agent does."""
    with subprocess.Popen(
        [sys.executable, "-m", "vibes_lsp", "hook"],
        cwd=folder,
        env=clean_environment({"PYTHONPATH": str(Path(__file__).resolve().parents[2])}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for part in data:
            process.stdin.write(part)
        process.stdin.close()
        assert (process.stdout.read(), process.wait(300)) == (b"", 0)


def claude(project: Project, **members: Any) -> dict[str, Any]:
    """Return the payload of an edit of Claude Code, with some members replaced."""
    return {
        "session_id": "253351ad",
        "transcript_path": "/nowhere/253351ad.jsonl",
        "cwd": project.root.as_posix(),
        "prompt_id": "p1",
        "hook_event_name": "PostToolUse",
        "tool_name": "Edit",
        "tool_input": given(project),
        "tool_response": {"originalFile": "a = 0\nb = 2\n", "structuredPatch": []},
        "tool_use_id": "t1",
        **members,
    }


def given(project: Project, path: str = "a.py", **members: Any) -> dict[str, Any]:
    file = path if path.startswith("/") else f"{project.root.as_posix()}/{path}"
    return {"file_path": file, "old_string": "a = 0", "new_string": "a = 1", **members}


def copilot(project: Project, path: str, old: str, new: str) -> dict[str, Any]:
    """Return the payload of an edit of Copilot CLI, whose lines are searched in the file."""
    return {
        "sessionId": "8d4f",
        "timestamp": 1795336304916,
        "cwd": project.root.as_posix(),
        "toolName": "edit",
        "toolArgs": {"path": f"{project.root.as_posix()}/{path}", "old_str": old, "new_str": new},
        "toolResult": {"resultType": "success", "textResultForLlm": "done"},
    }


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


def logged_after(project: Project, data: bytes) -> LoggedEvent:
    """Return what the log says of a payload that the hook got."""
    run_hook([data], project.root)
    wait_until_folded(project.recorder.directory)
    [logged] = read_event_log(project.recorder.directory)
    return logged


def test_a_good_payload_is_logged_without_its_text(project: Project) -> None:
    logged = logged_after(project, encoded(claude(project)))
    assert (logged.agent, logged.event, logged.recorded) == (CLAUDE, "PostToolUse Edit", True)
    assert logged.outcome == "a.py: lines 1 by original text"
    assert len(project.records("line")) == 1


BAD: Final[dict[str, tuple[str, str, Any]]] = {
    "truncated": (NO_AGENT, NO_JSON, lambda p: encoded(claude(p))[:300]),
    "empty object": (NO_AGENT, UNKNOWN, lambda _: b"{}"),
    "list": (NO_AGENT, NO_JSON, lambda _: b"[1, 2]"),
    "invalid UTF-8": (
        NO_AGENT,
        NO_JSON,
        lambda p: encoded(claude(p)).replace(b"a = 1", b"\xff\xfe"),
    ),
    "deep nesting": (
        NO_AGENT,
        NO_JSON,
        lambda p: encoded(claude(p))[:-1] + b', "x": ' + b"[" * 10**5 + b"]" * 10**5 + b"}",
    ),
    "wrong types": (
        CLAUDE,
        NOTHING,
        lambda p: encoded(claude(p, tool_input=[1], tool_response="x", prompt_id={})),
    ),
    "event of a wrong type": (NO_AGENT, UNKNOWN, lambda p: encoded(claude(p, hook_event_name=7))),
    "session of a wrong type": (NO_AGENT, UNKNOWN, lambda p: encoded(claude(p, session_id=[]))),
    "session that is no text": (CLAUDE, NOTHING, lambda p: encoded(claude(p, session_id="\ud800"))),
    "folder of a wrong type": (CLAUDE, NOTHING, lambda p: encoded(claude(p, cwd=7))),
    "relative folder": (CLAUDE, NOTHING, lambda p: encoded(claude(p, cwd="."))),
    "unknown tool": (CLAUDE, NOTHING, lambda p: encoded(claude(p, tool_name="Teleport"))),
    "unknown event": (
        CLAUDE,
        NOTHING,
        lambda p: encoded(claude(p, hook_event_name="PreBreakfast")),
    ),
    "path outside": (
        CLAUDE,
        NOT_HERE,
        lambda p: encoded(claude(p, tool_input=given(p, "../b.py"))),
    ),
    "path of the system": (
        CLAUDE,
        NOT_HERE,
        lambda p: encoded(claude(p, tool_input=given(p, "/etc/passwd"))),
    ),
    "path of the trail": (
        CLAUDE,
        NOT_HERE,
        lambda p: encoded(claude(p, tool_input=given(p, ".ai-audit/config.json"))),
    ),
    "NUL in a path": (
        CLAUDE,
        NOT_HERE,
        lambda p: encoded(claude(p, tool_input=given(p, "a\0.py"))),
    ),
    "absent file": (COPILOT, NO_LINES, lambda p: encoded(copilot(p, "absent.py", "a", "b"))),
    "binary file": (COPILOT, NO_LINES, lambda p: encoded(copilot(p, "image.py", "a", "b"))),
    "folder as a file": (COPILOT, NO_LINES, lambda p: encoded(copilot(p, "folder.py", "a", "b"))),
    "enormous numbers": (
        CLAUDE,
        NO_LINES,
        lambda p: encoded(
            claude(
                p,
                tool_input=given(p, old_string="x", new_string="y"),
                tool_response={"structuredPatch": [{"newStart": 10**30, "lines": ["-x", "+y"]}]},
            )
        ),
    ),
    "numbers beyond the limit": (
        NO_AGENT,
        NO_JSON,
        lambda p: encoded(claude(p))[:-1] + b', "n": ' + b"9" * 10_000 + b"}",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_payload_claims_no_line_and_is_logged(project: Project, name: str) -> None:
    agent, outcome, payload = BAD[name]
    config = (project.root / ".ai-audit/config.json").read_bytes()
    logged = logged_after(project, payload(project))
    assert logged.agent == agent
    assert outcome in logged.outcome
    assert logged.recorded == (outcome == NO_LINES)
    assert project.records("line") == []
    assert (project.root / ".ai-audit/config.json").read_bytes() == config


def test_100_megabytes_are_read_to_their_end_and_dropped(project: Project) -> None:
    head, tail = encoded(claude(project, prompt="SPLIT")).split(b"SPLIT")
    run_hook([head, *[b"x" * (1 << 20)] * 100, tail], project.root)
    [stored] = project.recorder.directory.waiting_events.glob("*-large.json")
    assert stored.stat().st_size == 4096
    wait_until_folded(project.recorder.directory)
    [logged] = read_event_log(project.recorder.directory)
    assert logged.outcome == "the payload has more than 32 MiB"
    assert project.records() == []


def test_lone_surrogates_are_recorded_as_what_is_on_disk(project: Project) -> None:
    content = "a = '\ud800'\n"
    project.file("c.py", content.encode("utf-8", "replace"))
    created: dict[str, Any] = {"type": "create", "originalFile": None, "structuredPatch": []}
    members = {"file_path": f"{project.root.as_posix()}/c.py", "content": content}
    logged = logged_after(
        project,
        encoded(claude(project, tool_name="Write", tool_input=members, tool_response=created)),
    )
    assert logged.outcome == "c.py: lines 1 by new file"
    assert [each["file_path"] for each in project.records("line")] == ["c.py"]


def test_the_same_session_id_of_two_agents_is_two_sessions(project: Project) -> None:
    events = [
        claude(project),
        {**copilot(project, "a.py", "b = 1", "b = 2"), "sessionId": "253351ad"},
    ]
    for event in events:
        store_event(encoded(event), lambda: str(project.root))
    fold_events(project.recorder.directory)
    tools = {
        project.entry(session["environment_hash"])["tool_name"]: session["session_id"]
        for session in project.records("session")
    }
    assert len(set(tools.values())) == 2
    lines = {line["line_start"]: line["session_id"] for line in project.records("line")}
    assert lines == {1: tools[CLAUDE], 2: tools[COPILOT]}


def test_a_folder_in_the_input_of_a_tool_hides_not_that_of_the_agent(
    project: Project, tmp_path: Path
) -> None:
    for folder in (tmp_path / "elsewhere", new_project(tmp_path / "other").root):
        folder.mkdir(exist_ok=True)
        asked = claude(project, hook_event_name="UserPromptSubmit", prompt_id=folder.name)
        asked = {"first": {"cwd": str(folder)}, **asked, "prompt": folder.name}
        store_event(encoded(asked), os.getcwd)
    assert fold_events(project.recorder.directory) == 2
    prompts = [entry["prompt_text"] for entry in project.entries("prompt").values()]
    assert sorted(prompts) == ["elsewhere", "other"]


def test_the_log_keeps_the_last_events_of_each_agent(project: Project) -> None:
    directory = project.recorder.directory
    store_event(encoded(copilot(project, "a.py", "b = 1", "b = 2")), lambda: str(project.root))
    for number in range(50):
        unknown = claude(project, tool_name=f"Tool{number}")
        store_event(encoded(unknown), lambda: str(project.root))
    fold_events(directory)
    store_event(b"{", lambda: str(project.root))
    fold_events(directory)
    logged = read_event_log(directory)
    assert [each.agent for each in logged] == [COPILOT, *[CLAUDE] * 20, NO_AGENT]
    assert [each.event for each in logged[1:-1]] == [
        f"PostToolUse Tool{number}" for number in range(30, 50)
    ]


def test_the_log_has_no_text_of_prompts_and_only_its_owner_reads_it(project: Project) -> None:
    directory = project.recorder.directory
    event = claude(project, hook_event_name="UserPromptSubmit", prompt="Use the blue one.")
    store_event(encoded(event), lambda: str(project.root))
    fold_events(directory)
    [log] = directory.agent_events.iterdir()
    assert b"UserPromptSubmit" in log.read_bytes()
    assert b"blue" not in log.read_bytes()
    if sys.platform != "win32":
        assert directory.agent_events.stat().st_mode & 0o777 == 0o700


def test_a_damaged_log_is_read_as_far_as_it_is_whole(project: Project) -> None:
    directory = project.recorder.directory
    store_event(encoded(claude(project)), lambda: str(project.root))
    fold_events(directory)
    [log] = directory.agent_events.glob("*.jsonl")
    log.write_bytes(b'{"agent": 5}\n\xff\n[]\n' + log.read_bytes() + b'{"agent": "x"')
    assert [each.agent for each in read_event_log(directory)] == [CLAUDE]
