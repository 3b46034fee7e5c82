"""Projects to record into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.recording.projects import Project, new_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project at level medium."""
    return new_project(tmp_path / "project")
