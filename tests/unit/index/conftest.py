"""A repository with a trail, and its history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository, TrailWriter

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.fixture
def writer(tmp_path: Path) -> TrailWriter:
    """A trail whose clock starts an hour after that of the repository."""
    writer = TrailWriter(tmp_path)
    writer.environment()
    return writer
