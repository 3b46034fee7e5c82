"""What waits in the spool is untrusted: no files from git, and no person's name."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.trails import Repository
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import store_event

if TYPE_CHECKING:
    from pathlib import Path

SESSION = "9e107d9d-372b"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


def payload(folder: Path, event: str, **members: Any) -> dict[str, Any]:
    """Return a payload of Claude Code."""
    return {
        "session_id": SESSION,
        "transcript_path": f"/nowhere/{SESSION}.jsonl",
        "cwd": folder.as_posix(),
        "prompt_id": "p1",
        "hook_event_name": event,
        **members,
    }


def written(project: Project, **members: Any) -> dict[str, Any]:
    """Return the payload of a new file with one line."""
    return payload(
        project.root,
        "PostToolUse",
        tool_name="Write",
        tool_input={"file_path": (project.root / "b.py").as_posix(), "content": "b = 1\n"},
        tool_response={"type": "create", "originalFile": None, "structuredPatch": []},
        tool_use_id="t1",
        **members,
    )


def store(project: Project, value: object) -> None:
    store_event(json.dumps(value).encode(), lambda: str(project.root))


def waiting(project: Project) -> list[Path]:
    return sorted(project.recorder.directory.waiting_events.iterdir())


def git(project: Project, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=project.root, check=True, capture_output=True)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no permissions of others")
def test_an_event_that_others_can_read_is_not_from_a_hook(project: Project) -> None:
    store(project, payload(project.root, "UserPromptSubmit", prompt="x"))
    [file] = waiting(project)
    file.chmod(0o644)  # as git and archives make files
    assert fold_events(project.recorder.directory) == 0
    assert project.records() == []


def test_many_tracked_events_do_not_keep_others_waiting(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vibes_lsp.ingest.spool._MAX_BATCH", 2)
    for number in range(3):
        store(project, payload(project.root, "UserPromptSubmit", prompt=f"branch {number}"))
    Repository(project.root)
    git(project, "add", "-f", ".ai-audit/spool/events")
    for number in range(3):
        prompt = payload(project.root, "UserPromptSubmit", prompt=f"own {number}")
        store(project, {**prompt, "prompt_id": f"own {number}"})
    assert fold_events(project.recorder.directory) == 3
    prompts = sorted(each["prompt_text"] for each in project.entries("prompt").values())
    assert prompts == ["own 0", "own 1", "own 2"]


def test_no_payload_makes_a_persons_session(project: Project) -> None:
    project.file("b.py", "b = 1\n")
    child = {"agent_id": "a1", "agent_type": "human"}
    store(project, written(project, model="none", **child))
    fold_events(project.recorder.directory)
    [line] = project.records("line")
    assert project.entry(line["environment_hash"])["model_name"] == "unknown"
    starts = [each for each in project.records("session") if each["event"] == "start"]
    assert len(starts) == 2
    assert all(each.get("agent_type") != "human" for each in starts)
