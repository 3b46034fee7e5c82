"""What the checks know of lineages is what the lineages say, whatever the log contains."""

from __future__ import annotations

import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given

from tests.properties.logs import logs
from vibes_lsp.checks.context import open_context
from vibes_lsp.checks.lineages import all_facts
from vibes_lsp.model.vocabulary import IMPORTED_FROM, Action, EdgeType
from vibes_lsp.reports.statistics import CurrentEdits
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.lineage_commits import recorded_commit
from vibes_lsp.trail.records import read_edge
from vibes_lsp.trail.rows import LogLineKind
from vibes_lsp.trail.trail import Trail

NOW = datetime(2026, 2, 4, tzinfo=UTC)


@given(logs())
def test_facts_of_lineages_are_those_of_the_whole_lineages(log: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        audit = Path(folder) / ".ai-audit"
        audit.mkdir()
        (audit / "annotations.jsonl").write_bytes(log)
        context = open_context(AuditDir(audit), NOW)
        edges = map(read_edge, context.trail.log.records_of(LogLineKind.EDGE))
        caused = {edge.source for edge in edges if edge.type == EdgeType.CAUSED_BY}
        lineages = context.trail.lineages()
        uncaused = [
            each
            for each in lineages
            if each.action != Action.REVIEW and caused.isdisjoint(each.ids)
        ]
        uncommitted = [each for each in lineages if recorded_commit(each) is None]
        facts = all_facts(context)
    assert facts.count == len(lineages)
    assert facts.uncaused == len(uncaused)
    assert facts.first_uncaused == (uncaused[0].rank if uncaused else None)
    assert facts.imported == sum(IMPORTED_FROM in each.first.members for each in lineages)
    assert len(facts.uncommitted) + len(facts.joined_uncommitted) == len(uncommitted)
    assert facts.first_uncommitted == (uncommitted[0].rank if uncommitted else None)


@given(logs())
def test_counts_of_current_edits_are_those_of_the_lineages(log: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        audit = Path(folder) / ".ai-audit"
        audit.mkdir()
        (audit / "annotations.jsonl").write_bytes(log)
        trail = Trail(AuditDir(audit))
        trail.refresh()
        lineages = trail.lineages()
        edits = CurrentEdits(trail)
    current = [each for each in lineages if not each.superseded_by]
    assert (edits.lineages, edits.current) == (len(lineages), len(current))
    assert edits.files == {each.current.text("file_path") or "" for each in current}
    assert edits.actions == Counter(each.action or "unknown" for each in current)
    assert edits.levels == Counter(
        each.current.text("assurance_level") or "unknown" for each in current
    )
