"""What waits beside the log: only what a program of ours can have put there counts, and shows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.unit.recording.projects import new_project
from tests.unit.recording.test_completing import ORIGIN, PUT
from vibes_lsp.index.pending_completions import PendingCompletions as Waiting

if TYPE_CHECKING:
    from pathlib import Path


def having(found: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return what is held with other members of its annotation."""
    record, *edges = found["records"]
    return {**found, "records": [{**record, **members}, *edges]}


def test_what_is_not_ours_neither_waits_nor_shows(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    project.recorder.execute(replace(PUT, final=False).request(ORIGIN))
    [file] = (project.root / ".ai-audit/spool/held").iterdir()
    waiting = Waiting(project.recorder.directory)
    whole = json.loads(file.read_bytes())
    for content in (b"", b"{}", b"[", json.dumps({**whole, "records": 1}).encode()):
        file.write_bytes(content)
        assert waiting.refresh()
        assert not waiting
    for other in (
        having(whole, type="edge"),
        having(whole, file_path="b.py"),
        having(whole, action="rebase_orphan"),
    ):
        file.write_text(json.dumps(other))
        waiting.refresh()
        assert waiting.lineages_in("a.py") == waiting.lineages_in("b.py") == []
    file.write_text(json.dumps(whole))
    waiting.refresh()
    assert waiting
    assert len(waiting.lineages_in("a.py")) == 1
