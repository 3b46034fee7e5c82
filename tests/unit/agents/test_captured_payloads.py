"""Captured sessions of real agents, replayed: the trail has what their scripts made them do."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.cli.run_vibes import vibes
from tests.unit.agents.captured import (
    FILES,
    add_transcripts,
    payloads,
    timed_payloads,
    versions,
)
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import store_event
from vibes_lsp.model.vocabulary import SESSION_FILE

if TYPE_CHECKING:
    from pathlib import Path

PROMPT: Final = "Tidy the project. [[script:main]]"
SUB_PROMPT: Final = "Write the file sub.txt. [[script:sub]]"
SECOND_PROMPT: Final = "One more file, please. [[script:second]]"
EDITS: Final = {
    ("src/new.py", 1, 5, "create"),
    ("app.py", 2, 2, "modify"),
    ("app.py", 6, 6, "modify"),
    ("notes.txt", 2, 3, "modify"),
    ("app.py", 10, 10, "modify"),
    ("app.py", 17, 17, "modify"),
    ("sub.txt", 1, 1, "create"),
    ("second.txt", 1, 1, "create"),
}
THROUGH_SHELL: Final = ("app.py", 17, 17, "modify")
"""Codex's script does this edit through the shell; no payload follows it, but its session file."""
TOOLS: Final = {
    "claude": ("Claude Code", "claude-sonnet-4-5"),
    "codex-code": ("Codex", "gpt-6.1-sol"),
    "codex-direct": ("Codex", "gpt-5.5"),
    "gemini": ("Gemini CLI", "gemini-2.5-pro"),
    "copilot-edit": ("Copilot CLI", "unknown"),
    "copilot-patch": ("Copilot CLI", "unknown"),
    "qwen": ("Qwen Code", "qwen3-coder-plus"),
    "opencode-edit": ("opencode", "fake-model-1"),
    "opencode-patch": ("opencode", "gpt-5.4"),
    "cline": ("Cline", "unknown"),
}
COMMANDS: Final = {
    "echo from shell > shell.txt && wc -l notes.txt": 0,
    "echo to-stderr >&2; exit 3": 3,
}
FINDINGS: Final = {
    "qwen": {"session-open"},
    "opencode": {"session-open"},
    "cline": {"prompts-absent"},
}
"""What `vibes check` reports, beside notes, as the agent's payloads lack it."""
PAIRS: Final = [(agent, step) for agent in TOOLS for step in (False, True)]


@pytest.fixture(
    scope="module", params=PAIRS, ids=lambda pair: f"{pair[0]}-{'each' if pair[1] else 'all'}"
)
def replayed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Project]:
    """Replay a session, and record after each event or after all of them; tests only read it."""
    agent, at_each = request.param
    tmp_path = tmp_path_factory.mktemp("replayed")
    project = new_project(tmp_path / "project", tracked_extensions=[".py", ".txt"])
    lay_files(project, FILES)
    add_transcripts(agent, tmp_path)
    texts = versions()
    waiting = project.recorder.directory.waiting_events
    for payload, disk, start in timed_payloads(agent, tmp_path):
        store_event(json.dumps(payload, ensure_ascii=False).encode(), os.getcwd)
        for stored in waiting.glob(f"*-{os.getpid()}-*.json"):
            stored.rename(waiting / f"{start:020d}-1-{stored.stem.rpartition('-')[2]}.json")
        if at_each:
            lay_files(project, {name: texts[disk[name]] for name in FILES if name in disk})
            fold_events(
                project.recorder.directory,
                now=partial(datetime.fromtimestamp, start / 1e9 + 1, UTC),
            )
    fold_events(
        project.recorder.directory, now=partial(datetime.fromtimestamp, start / 1e9 + 1, UTC)
    )
    return agent, project


def lay_files(project: Project, files: dict[str, str]) -> None:
    """Make the project's files those that are given."""
    for name in FILES:
        if name in files:
            project.file(name, files[name])
        else:
            (project.root / name).unlink(missing_ok=True)


def tool_and_model(project: Project, key: str) -> tuple[str, str]:
    environment = project.entry(key)
    return environment["tool_name"], environment["model_name"]


def test_every_edit_of_the_script_is_recorded_once(replayed: tuple[str, Project]) -> None:
    _, project = replayed
    found = [
        (each["file_path"], each["line_start"], each["line_end"], each["action"])
        for each in project.records("line")
    ]
    assert sorted(found) == sorted(EDITS)
    assert not [
        each for each in project.entries("command").values() if each["command_type"] == "file_write"
    ]


def test_tool_and_model_are_those_of_the_session(replayed: tuple[str, Project]) -> None:
    agent, project = replayed
    for record in project.records("line"):
        tool, model = tool_and_model(project, record["environment_hash"])
        assert tool == TOOLS[agent][0]
        is_subagent_of_qwen = agent == "qwen" and record["file_path"] == "sub.txt"
        assert model == ("unknown" if is_subagent_of_qwen else TOOLS[agent][1])


def test_edits_have_their_prompts(replayed: tuple[str, Project]) -> None:
    agent, project = replayed
    prompts = project.entries("prompt")
    for record in project.records("line"):
        asked = prompts.get(record.get("prompt_hash", ""), {}).get("prompt_text", "").strip('"')
        if agent == "cline":  # no payload has the prompt
            assert asked == ""
        elif record["file_path"] == "second.txt":
            assert asked == SECOND_PROMPT
        elif record["file_path"] != "sub.txt" or agent == "gemini":  # which marks no subagent
            assert asked == PROMPT
        else:
            assert asked in (SUB_PROMPT, "")


def test_the_subagent_has_a_session_of_its_own(replayed: tuple[str, Project]) -> None:
    agent, project = replayed
    sessions = {record["file_path"]: record["session_id"] for record in project.records("line")}
    if agent == "gemini":
        assert sessions["sub.txt"] == sessions["app.py"]
        return
    assert sessions["sub.txt"] != sessions["app.py"]
    assert (sessions["app.py"], sessions["sub.txt"]) in project.edges("delegated_to")


def test_commands_have_their_exit_codes(replayed: tuple[str, Project]) -> None:
    _, project = replayed
    found = {
        each["command_text"]: each.get("command_exit_code")
        for each in project.entries("command").values()
        if each["command_type"] == "shell"
    }
    for command, code in COMMANDS.items():
        assert found[command] == code


def test_the_edit_through_the_shell_is_marked(replayed: tuple[str, Project]) -> None:
    agent, project = replayed
    marked = {
        (each["file_path"], each["line_start"], each["line_end"], each["action"])
        for each in project.records("line")
        if project.entry(each["environment_hash"]).get("tool_extensions") == [SESSION_FILE]
    }
    assert marked == ({THROUGH_SHELL} if agent.startswith("codex") else set())


def test_nothing_waits_afterwards(replayed: tuple[str, Project]) -> None:
    _, project = replayed
    assert not any(project.recorder.directory.waiting_events.iterdir())
    starts = [each for each in project.records("session") if each["event"] == "start"]
    assert len({each["session_id"] for each in starts}) == len(starts)


def test_a_replay_of_the_same_payloads_changes_nothing(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project", tracked_extensions=[".py", ".txt"])
    lay_files(project, FILES)
    logs: list[Any] = []
    for _ in range(2):
        for payload, _ in payloads("copilot-edit", tmp_path):
            store_event(json.dumps(payload).encode(), os.getcwd)
        fold_events(project.recorder.directory)
        logs.append(project.records())
    assert logs[0] == logs[1]


def test_the_trail_is_valid_and_the_lines_are_found(replayed: tuple[str, Project]) -> None:
    agent, project = replayed
    lay_files(project, FILES)
    project.recorder.close()
    expected = FINDINGS.get(agent.partition("-")[0], set())
    for arguments in (["check", "--json"], *(["blame", name, "--json"] for name in FILES)):
        done = vibes(*arguments, cwd=project.root)
        assert done.err == ""
        found = done.json
        if "findings" in found:
            severe = (each for each in found["findings"] if each["severity"] != "note")
            assert {each["check"] for each in severe} == expected
        states = {each["state"] for each in found.get("placements", ())}
        assert states <= {"exact", "moved"}
