"""A trail and its files are real files of the project: links to another project's are refused."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.ingest.hook import store_event

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

ANNOTATE = ("record", "annotate", "a.py:4-4", "--tool", "t", "--model", "m")


@pytest.fixture
def other(tmp_path: Path) -> Project:
    """Another project, with an annotation."""
    project = new_project(tmp_path / "other")
    project.annotate(project.session(), 4, 6)
    project.recorder.close()
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path / "project")
    Repository(project.root)
    return project


def test_a_linked_trail_is_neither_read_nor_written(
    project: Project, other: Project, run_vibes: RunVibes
) -> None:
    before = other.written()
    shutil.rmtree(project.root / ".ai-audit")
    (project.root / ".ai-audit").symlink_to(other.root / ".ai-audit")
    for arguments in (("log",), ("blame", "a.py"), ANNOTATE, ("check",), ("init",)):
        done = run_vibes(*arguments, cwd=project.root)
        assert done.code == 2
        assert "out" in done.err
    payload = {"session_id": "s", "cwd": str(project.root), "hook_event_name": "Stop"}
    assert store_event(json.dumps(payload).encode(), lambda: "/") == []
    assert "link out of the project" in run_vibes("doctor", cwd=project.root).out
    assert other.written() == before


@pytest.mark.parametrize("name", ["annotations.jsonl", "manifest.json", "config.json"])
def test_a_linked_file_is_refused_with_a_finding(
    project: Project, other: Project, run_vibes: RunVibes, name: str
) -> None:
    before = other.written()
    (project.root / ".ai-audit" / name).unlink()
    (project.root / ".ai-audit" / name).symlink_to(other.root / ".ai-audit" / name)
    done = run_vibes("check", "--json", cwd=project.root)
    messages = [
        each["message"]
        for each in json.loads(done.out)["findings"]
        if each["severity"] == "error" and each.get("file") == f".ai-audit/{name}"
    ]
    assert any("link out of the project" in message for message in messages), messages
    run_vibes(*ANNOTATE, cwd=project.root)
    assert other.written() == before


def test_a_linked_journal_is_not_read(
    project: Project, other: Project, run_vibes: RunVibes
) -> None:
    (other.root / ".ai-audit/wal").mkdir(exist_ok=True)
    entry = json.dumps({"type": "prompt", "prompt_text": "of another project"})
    (other.root / ".ai-audit/wal/entries.jsonl").write_text(f'{{"{"0" * 64}": {entry}}}\n')
    shutil.rmtree(project.root / ".ai-audit/wal", ignore_errors=True)
    (project.root / ".ai-audit/wal").symlink_to(other.root / ".ai-audit/wal")
    before = other.written()
    run_vibes(*ANNOTATE, cwd=project.root)
    run_vibes("check", cwd=project.root)
    assert b"of another project" not in (project.root / ".ai-audit/manifest.json").read_bytes()
    assert other.written() == before
