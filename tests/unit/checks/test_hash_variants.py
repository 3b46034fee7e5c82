"""Under which name each known variant of a hash is counted (R2, R3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.trails import SOURCES
from vibes_lsp.model.hashing import ContextVariant, IdVariant

if TYPE_CHECKING:
    from tests.unit.checks.projects import Project

PARAMETERS = {"temperature": 1.0, "top_p": None}
ENTRIES = [
    ("spec", "spec"),
    ("no-type", "no-type"),
    ("ascii", "ascii"),
    ("null-dropped", "null-dropped"),
    ("js-number", "js-number"),
    ("replacer", "replacer"),
    ("environment-unknown", "environment-unknown"),
    ("no-type+ascii", "ascii"),
    ("no-type+null-dropped", "null-dropped"),
    ("ascii+js-number", "js-number"),
    ("no-type+replacer", "replacer"),
    ("no-type+environment-unknown", "environment-unknown"),
]
IDS = [
    ("spec", "spec"),
    ("less-anchors", "less-anchors"),
    ("less-commit", "less-commit"),
    ("less-commit-member", "less-commit"),
    ("less-risk", "less-risk"),
    ("ascii", "ascii"),
    ("less-anchors+less-commit", "less-commit"),
    ("less-anchors+less-risk", "less-risk"),
    ("less-risk+ascii", "ascii"),
]


@pytest.mark.parametrize(("variant", "counted"), ENTRIES)
def test_an_entry_counts_under_the_last_variant_that_it_needs(
    project: Project, variant: str, counted: str
) -> None:
    project.writer.environment(
        tool="Größe", parameters=PARAMETERS, tool_notes=None, variant=variant
    )
    before = {name.value: 0 for name in ContextVariant} | {"spec": 8}
    report = project.report()
    assert report.context_hashes == before | {counted: before[counted] + 1}
    assert report.passed


@pytest.mark.parametrize(("variant", "counted"), IDS)
def test_a_record_counts_under_the_last_variant_that_it_needs(
    project: Project, variant: str, counted: str
) -> None:
    risk: dict[str, Any] = {
        "risk_score": 0.5,
        "risk_factors": [{"signal": "temperature", "value": 0.5, "weight": 0.1, "reason": "Größe"}],
    }
    project.line(text=SOURCES["src/auth.py"], id_variant=variant, tool_note="Größe", **risk)
    before = {name.value: 0 for name in IdVariant} | {"spec": 26}
    report = project.report()
    assert report.annotation_ids == before | {counted: before[counted] + 1}
    assert report.passed


def test_a_tampered_copy_of_a_record_is_counted_beside_the_sound_one(project: Project) -> None:
    record = project.writer.files.record(project.trail.modified)
    project.writer.record({**record, "line_end": 99})
    report = project.report()
    assert (report.annotation_ids["spec"], report.annotation_ids["mismatch"]) == (25, 1)


def test_almost_equal_ids_are_different_records(project: Project) -> None:
    before = project.report()
    record = project.writer.files.record(project.trail.created)
    for digits in ("0", "1", "1"):
        project.writer.record({**record, "annotation_id": "a" * 20 + digits + "b" * 43})
    report = project.report()
    assert report.records["line"] == before.records["line"] + 2
    assert report.annotation_ids["mismatch"] == 2
