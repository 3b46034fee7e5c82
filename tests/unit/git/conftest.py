"""A new git repository; a space in its path must not matter anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "a project")
