"""The trail of a public project: numbers that were counted independently."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.lookup import look_up
from vibes_lsp.trail.rows import LogLineKind
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path


def test_all_lines_of_a_real_trail_are_read(real_trail: Path) -> None:
    trail = Trail(AuditDir(real_trail))
    assert trail.refresh()
    kinds = {kind: count for kind in LogLineKind if (count := trail.count(kind))}
    assert kinds == {LogLineKind.LINE: 484, LogLineKind.SESSION: 168, LogLineKind.EDGE: 61}
    assert trail.line_count == 713
    assert trail.broken_lines() == []
    assert len(trail.manifest) == 2985
    lineages = trail.lineages()
    assert len(lineages) == 484
    assert sum(bool(lineage.superseded_by) for lineage in lineages) == 7


def test_every_record_and_entry_of_a_real_trail_is_found_by_its_id(real_trail: Path) -> None:
    trail = Trail(AuditDir(real_trail))
    trail.refresh()
    for line in range(1, trail.line_count + 1):
        record = trail.log.record(line)
        assert record is not None
        assert trail.log.by_id(record.id) == record
        assert look_up(trail, record.id[:20]).id == record.id
    assert all(trail.manifest.entry(key) for key in trail.manifest)


def test_lineages_of_each_file_equal_those_of_the_whole_trail(real_trail: Path) -> None:
    trail = Trail(AuditDir(real_trail))
    trail.refresh()
    by_file = [lineage for path in trail.annotated_paths() for lineage in trail.lineages_in(path)]
    assert sorted(by_file, key=lambda each: each.rank) == trail.lineages()
