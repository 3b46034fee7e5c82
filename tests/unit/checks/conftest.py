"""Sound projects that each test may modify."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.checks.projects import LEVELS, Project, build, copied

if TYPE_CHECKING:
    from pathlib import Path

    from tests.trails import CompleteTrail


@pytest.fixture(scope="package")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CompleteTrail]:
    """A sound project of each level; tests get copies."""
    folder = tmp_path_factory.mktemp("sound")
    return {level: build(folder / level, level) for level in LEVELS}


@pytest.fixture
def project(templates: dict[str, CompleteTrail], tmp_path: Path) -> Project:
    """A sound project at level medium."""
    return copied(templates["medium"], tmp_path / "project")


@pytest.fixture
def reasoned(templates: dict[str, CompleteTrail], tmp_path: Path) -> Project:
    """A sound project at level high."""
    return copied(templates["high"], tmp_path / "project")
