"""A repository with a trail, whose commits run the hook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.stories.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "work")
    made.init()
    return made
