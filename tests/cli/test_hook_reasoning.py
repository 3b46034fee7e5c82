"""`vibes hook` as a process: an edit is recorded with its reasoning, where the level wants it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_hook import SESSION, encoded, run_hook, written
from tests.unit.recording.projects import new_project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes
    from tests.unit.recording.projects import Project

_TOKEN = "ghp_" + "a1B2" * 9


def session_file(folder: Path) -> Path:
    """Write a session file of Claude Code with the answer that made the call `t1`."""
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": f"A line is enough; {_TOKEN}.", "signature": "s"},
        {"type": "tool_use", "id": "t1", "name": "Write", "input": {}},
    ]
    path = folder / ".claude" / "projects" / "p" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    message = {"id": "m1", "role": "assistant", "model": "claude-sonnet-4-5"}
    lines = [{"type": "assistant", "message": {**message, "content": [each]}} for each in blocks]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def record(project: Project, transcript: Path) -> dict[str, Any]:
    """Record an edit through the hook, and return its annotation."""
    project.file("b.py", "b = 1\n")
    event = written(project) | {"transcript_path": str(transcript)}
    run_hook(encoded(event), project.root)
    run_hook(b"", project.root, "--wait")
    [line] = project.records("line")
    return dict(line)


def test_reasoning_is_taken_from_the_session_file_at_level_high(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    project = new_project(tmp_path / "project", level="high")
    line = record(project, session_file(tmp_path))
    reasoning = project.entry(line["reasoning_hash"])
    assert reasoning["reasoning_text"] == "A line is enough; [masked]."
    assert reasoning["reasoning_model"] == "claude-sonnet-4-5"
    assert _TOKEN.encode() not in project.written()
    found = run_vibes("check", "--json", cwd=project.root).json["findings"]
    assert "reasoning-absent" not in {each["check"] for each in found}


@pytest.mark.parametrize("level", ["low", "medium"])
def test_no_reasoning_is_taken_at_a_lower_level(tmp_path: Path, level: str) -> None:
    project = new_project(tmp_path / "project", level=level)
    record(project, session_file(tmp_path))
    assert project.entries("reasoning") == {}
    assert b"A line is enough" not in project.written()


def test_an_edit_whose_session_file_is_missing_is_recorded_without(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project", level="high")
    line = record(project, tmp_path / ".claude" / f"{SESSION}.jsonl")
    assert line.get("reasoning_hash") is None
