"""A sound trail gives no finding, at any level, in a repository and without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import complete
from tests.unit.checks.projects import LEVELS, check, copied, seen, smallest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.trails import CompleteTrail


@pytest.mark.parametrize("level", LEVELS)
def test_a_sound_trail_gives_no_finding(
    templates: dict[str, CompleteTrail], tmp_path: Path, level: str
) -> None:
    report = copied(templates[level], tmp_path / "project").report()
    assert seen(report) == []
    assert (report.passed, report.hashes_pass, report.schema_passes) == (True, True, True)
    assert report.level == level


def test_a_sound_trail_gives_no_finding_without_a_repository(tmp_path: Path) -> None:
    complete(tmp_path, "high")
    assert seen(check(tmp_path)) == []


def test_a_sound_trail_still_holds_all_that_its_repository_does(
    templates: dict[str, CompleteTrail], tmp_path: Path
) -> None:
    assert copied(templates["high"], tmp_path / "project").seen(base="HEAD") == []


def test_the_smallest_trail_gives_no_finding_at_low(tmp_path: Path) -> None:
    smallest(tmp_path, "low")
    assert seen(check(tmp_path)) == []


def test_two_records_with_one_id_are_counted_once(
    templates: dict[str, CompleteTrail], tmp_path: Path
) -> None:
    project = copied(templates["low"], tmp_path / "project")
    project.writer.raw_log(project.writer.files.log.read_bytes())
    assert project.seen() == []
    assert project.report().records["line"] == 6
    assert project.report().annotation_ids["spec"] == 25
