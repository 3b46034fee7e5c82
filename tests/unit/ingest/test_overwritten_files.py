"""A file that an agent calls new is new only if git did not have it before."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import pytest

from tests.trails import Repository
from tests.unit.agents.generated_edits import FOLDER, GeneratedEdit
from tests.unit.agents.payload_kinds import KINDS
from tests.unit.agents.published_edits import cursor
from tests.unit.agents.tool_calls import as_bytes
from tests.unit.recording.projects import new_project
from vibes_lsp.agents.all_agents import read_event
from vibes_lsp.agents.edited_lines import resolve_edit, why_unresolved
from vibes_lsp.agents.events import FilesEdited
from vibes_lsp.ingest import hook
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import store_event
from vibes_lsp.ingest.spool import without_overwrites

if TYPE_CHECKING:
    from pathlib import Path

UNPROVEN: Final = [
    "codex-create",
    "copilot-create",
    "copilot-capital-create",
    "cursor-create",
    "windsurf-create",
    "amp-create",
]
"""Kinds of payloads that also report a file that was overwritten."""
PROVEN: Final = [
    "claude-create",
    "gemini-create",
    "opencode-create",
    "cline-create",
    "vscode-create",
]
NAME: Final = "src/new.py"
LINES: Final = ["one", "two"]
TEXT: Final = "one\ntwo\n"
EDIT: Final = GeneratedEdit(NAME, None, LINES, frozenset(LINES), replaced=("", TEXT))
START: Final = datetime(2026, 2, 3, 9, tzinfo=UTC)


def has_lines(kind: str, root: Path, moment: datetime) -> bool:
    """Return whether the lines of an edit that reports a new file are known."""
    payload = as_bytes(KINDS[kind].report([EDIT])).decode().replace(FOLDER, root.as_posix())
    event = read_event(json.loads(payload))
    assert event is not None
    action = without_overwrites(event, moment).action
    assert isinstance(action, FilesEdited)
    [edit] = action.edits
    resolved = resolve_edit(edit, TEXT)
    if resolved is None:
        assert why_unresolved(edit, TEXT) == "the text before the edit is not known"
        return False
    assert [(each.start, each.end) for each in resolved.ranges] == [(1, 2)]
    return True


@pytest.mark.parametrize("kind", UNPROVEN)
def test_lines_of_a_file_that_was_committed_before_are_not_claimed(
    kind: str, tmp_path: Path
) -> None:
    repository = Repository(tmp_path)
    assert has_lines(kind, tmp_path, START)  # before the first commit
    repository.commit("Start")
    repository.write(NAME, "one\n")
    repository.commit("Add the file")
    assert has_lines(kind, tmp_path, START)
    assert not has_lines(kind, tmp_path, START + timedelta(minutes=2))
    repository.git("rm", "-q", NAME)
    repository.commit("Delete it")
    assert not has_lines(kind, tmp_path, START + timedelta(seconds=90))
    assert has_lines(kind, tmp_path, START + timedelta(minutes=3))


def test_a_file_of_a_merged_branch_was_committed_before(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit("Start")
    repository.switch("topic", create=True)
    repository.write(NAME, "one\n")
    repository.commit("Add the file")
    repository.switch("main")
    repository.write("other.py", "x\n")
    repository.commit("Another file")
    repository.merge("topic")
    assert has_lines("codex-create", tmp_path, START + timedelta(seconds=30))
    assert not has_lines("codex-create", tmp_path, START + timedelta(seconds=150))


def test_a_file_in_a_folder_that_is_gone_was_committed_before(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    file = repository.write(NAME, "one\n")
    repository.commit("Add the file")
    file.unlink()
    file.parent.rmdir()
    assert not has_lines("codex-create", tmp_path, START + timedelta(minutes=1))


@pytest.mark.parametrize("kind", UNPROVEN)
def test_without_git_a_file_that_is_called_new_is_new(kind: str, tmp_path: Path) -> None:
    assert has_lines(kind, tmp_path, START)


@pytest.mark.parametrize("kind", PROVEN)
def test_a_proof_in_the_payload_is_enough(kind: str, tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write(NAME, "one\n")
    repository.commit("Add the file")
    assert has_lines(kind, tmp_path, START + timedelta(minutes=2))


def test_a_file_that_a_patch_adds_over_another_is_recorded_without_lines(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    repository = Repository(tmp_path)
    repository.write(NAME, "one\n")
    repository.commit("Add the file")
    project.file(NAME, TEXT)
    payload = as_bytes(KINDS["codex-create"].report([EDIT])).decode()
    store_event(payload.replace(FOLDER, tmp_path.as_posix()).encode(), os.getcwd)
    fold_events(project.recorder.directory)
    assert project.records("line") == []
    [command] = project.entries("command").values()
    assert (command["command_text"], command["command_type"]) == (f"edit {NAME}", "file_write")


def test_an_empty_folder_in_a_payload_is_not_taken(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project")
    project.file(NAME, TEXT)
    payload = as_bytes({"cwd": "", **cursor([EDIT])}).decode()
    store_event(payload.replace(FOLDER, project.root.as_posix()).encode(), lambda: str(tmp_path))
    fold_events(project.recorder.directory)
    assert [each["line_end"] for each in project.records("line")] == [2]


def test_a_path_with_a_slash_before_the_drive_is_found_on_windows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("vibes_lsp.ingest.hook.os.name", "nt")
    assert hook._named_folders(b'{"workspace_roots": ["/c:/p"]}') == ["c:/p"]
