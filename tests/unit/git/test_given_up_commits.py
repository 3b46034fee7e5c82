"""What the hook added to a commit that was given up leaves the log, and nothing else does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.trails import Repository, TrailWriter
from vibes_lsp.git.given_up_commits import Mark, take_back, write_mark
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.git_folders import read_head
from vibes_lsp.store.waiting import waiting_place

if TYPE_CHECKING:
    from pathlib import Path


def test_a_record_is_taken_back_whole(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "project")
    directory = AuditDir(TrailWriter(repository.path).root / ".ai-audit")
    repository.commit("First")
    place = waiting_place(directory)
    assert place is not None
    own, other = (b'{\r"annotation_id":"%d",\r"type":"line"}\n' % number for number in (1, 2))
    directory.log.write_bytes(own + other)
    write_mark(place, Mark(read_head(place.root), records=("1",)))
    assert take_back(directory)
    assert directory.log.read_bytes() == other
