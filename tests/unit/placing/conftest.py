"""A project whose edits are recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.requirements import require
from tests.trails import Repository, TrailWriter
from tests.unit.placing.projects import Project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    require("sh", "runs the hook")
    project = Project(tmp_path)
    yield project
    project.close()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.fixture
def writer(tmp_path: Path) -> TrailWriter:
    """A trail whose clock starts an hour after that of the repository."""
    writer = TrailWriter(tmp_path)
    writer.environment()
    return writer
