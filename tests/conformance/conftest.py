"""The trail that most tests start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import CompleteTrail, complete

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def trail(tmp_path: Path) -> CompleteTrail:
    """A trail at high assurance about which nothing is to be found; its project is no git repository."""
    return complete(tmp_path / "project", "high")
