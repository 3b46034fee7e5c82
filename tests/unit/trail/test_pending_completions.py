"""Pending completions: files in another format are ignored."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.unit.recording.projects import new_project
from tests.unit.recording.test_inline_completions import ORIGIN, PUT
from vibes_lsp.trail.pending_completions import PendingCompletions

if TYPE_CHECKING:
    from pathlib import Path


def with_members(found: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return the content of a file with changed members of its annotation."""
    record, *edges = found["records"]
    return {**found, "records": [{**record, **members}, *edges]}


def test_files_in_another_format_are_ignored(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    project.recorder.execute(replace(PUT, final=False).request(ORIGIN))
    [file] = (project.root / ".ai-audit/spool/held").iterdir()
    pending = PendingCompletions(project.recorder.directory)
    content_of_file = json.loads(file.read_bytes())
    for content in (b"", b"{}", b"[", json.dumps({**content_of_file, "records": 1}).encode()):
        file.write_bytes(content)
        pending.refresh()
        assert not pending
    for other in (
        with_members(content_of_file, type="edge"),
        with_members(content_of_file, file_path="b.py"),
        with_members(content_of_file, action="rebase_orphan"),
    ):
        file.write_text(json.dumps(other))
        pending.refresh()
        assert pending.lineages_in("a.py") == pending.lineages_in("b.py") == []
    file.write_text(json.dumps(content_of_file))
    assert pending.refresh()
    assert not pending.refresh()
    assert pending
    assert len(pending.lineages_in("a.py")) == 1
