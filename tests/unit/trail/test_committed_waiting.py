"""A file of waiting records that git tracks is not read: a commit may have brought it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.trails import Repository, TrailWriter
from tests.unit.trail.trails import ENVIRONMENT
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.waiting import records_in_journal
from vibes_lsp.trail.trail import Trail


def test_waiting_records_count_until_git_tracks_them(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write("a.py", "1\n")
    writer = TrailWriter(tmp_path)
    annotation = writer.line("a.py", 1, 1, environment=ENVIRONMENT)
    repository.commit("One")
    directory = AuditDir(tmp_path / ".ai-audit")
    record = json.loads((directory.log).read_text(encoding="utf-8").splitlines()[-1])
    assert record["annotation_id"] == annotation
    waiting = records_in_journal(directory)
    waiting.parent.mkdir(parents=True, exist_ok=True)
    waiting.write_text(f"{json.dumps({**record, 'annotation_id': 'e' * 64})}\n", encoding="utf-8")
    trail = Trail(directory)

    def waits() -> int:
        trail.refresh()
        return len(trail.log.waiting_lines())

    assert waits() == 1
    repository.git("add", "--force", ".ai-audit/wal/waiting")
    assert waits() == 0
    assert waits() == 0
    repository.git("rm", "--cached", "--quiet", ".ai-audit/wal/waiting")
    assert waits() == 1
    trail.close()
