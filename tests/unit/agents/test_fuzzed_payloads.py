"""No payload, however damaged, stops the recording, or records something that is not the agent's.

`VIBES_FUZZED_PAYLOADS` sets how many are tried, `VIBES_FUZZ_SEED` which ones.
"""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import pytest

from tests.unit.agents.fuzzed_payloads import fuzzed
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.agents.all_agents import read_event
from vibes_lsp.agents.edited_lines import ResolvedEdit, resolve_edits
from vibes_lsp.agents.events import Agent, FilesEdited
from vibes_lsp.agents.sender import parse_payload
from vibes_lsp.errors import MalformedJson
from vibes_lsp.ingest.event_log import read_event_log
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import store_event

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.agents.generated_edits import GeneratedEdit

COUNT: Final = int(os.environ.get("VIBES_FUZZED_PAYLOADS", "600"))
SEED: Final = int(os.environ.get("VIBES_FUZZ_SEED", "1"))
BATCH: Final = 100
EACH_PROJECT: Final = 1000


def later() -> datetime:
    """Return a time at which no agent is about to save a file."""
    return datetime.now(UTC) + timedelta(seconds=2)


def check_lines(resolved: ResolvedEdit | None) -> None:
    """Lines that are claimed are in the text, in order, and apart."""
    if resolved is None:
        return
    last = 0
    for each in resolved.ranges:
        assert last < each.start <= each.end
        last = each.end
    assert last <= resolved.after.count("\n") + 1


def check_pure_part(data: bytes, edit: GeneratedEdit) -> None:
    """Reading and resolving raise nothing but that a payload is not JSON."""
    try:
        event = read_event(parse_payload(data))
    except MalformedJson:
        return
    if event is not None and isinstance(event.action, FilesEdited):
        by_file: dict[str, list[int]] = {}
        for number, each in enumerate(event.action.edits):
            by_file.setdefault(each.path, []).append(number)
        for numbers in by_file.values():
            edits = [event.action.edits[number] for number in numbers]
            for saved in (edit.saved, None):
                for resolved in resolve_edits(edits, saved):
                    check_lines(resolved)


def check_trail(project: Project) -> None:
    """What is recorded is of a known agent, in its own session, and about the project's files."""
    tools: dict[str, str] = {}
    entries = project.entries()
    for session in project.records("session"):
        if session["event"] == "start":
            tool = entries[session["environment_hash"]]["tool_name"]
            assert tools.setdefault(session["session_id"], tool) == tool
    assert set(tools.values()) <= {agent.value for agent in Agent}
    for line in project.records("line"):
        assert line["action"] in ("create", "modify")
        assert entries[line["environment_hash"]]["tool_name"] == tools[line["session_id"]]
        parts = line["file_path"].split("/")
        assert not {"", "..", ".git", ".ai-audit"} & set(parts)
        assert 1 <= line["line_start"] <= line["line_end"]


@pytest.mark.timeout(600 + COUNT // 20)
def test_damaged_payloads_record_nothing_wrong(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    for begin in range(0, COUNT, EACH_PROJECT):
        project = new_project(tmp_path / f"project-{begin}")
        directory = project.recorder.directory
        before = {each: each.read_bytes() for each in directory.path.iterdir() if each.is_file()}
        for start in range(begin, min(begin + EACH_PROJECT, COUNT), BATCH):
            for number in range(start, min(start + BATCH, COUNT)):
                data, edit = fuzzed(rng, project.root.as_posix())
                try:
                    check_pure_part(data, edit)
                except Exception as error:
                    error.add_note(f"seed {SEED}, payload {number}: {data[:3000]!r}")
                    raise
                if edit.saved is not None and rng.random() < 0.5:
                    project.file(edit.path, edit.saved.encode("utf-8", "surrogatepass"))
                store_event(data, lambda root=project.root: str(root))  # type: ignore[misc]
            fold_events(directory, now=later)
            assert list(directory.waiting_events.iterdir()) == []
        check_trail(project)
        logged = read_event_log(directory)
        assert logged
        assert not [each for each in logged if each.outcome.startswith("internal error")]
        unchanged = [each for each in before if each.name in ("config.json", ".gitignore")]
        assert all(each.read_bytes() == before[each] for each in unchanged)
