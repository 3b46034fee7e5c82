"""Fixtures: a complete trail, and what the recorder writes at each level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.recorded_trail import LEVELS, RecordedTrail, record_everything
from tests.conformance.trail_access import run_vibes
from tests.trails import CompleteTrail, complete

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def trail(tmp_path: Path) -> CompleteTrail:
    """A trail at high assurance without findings; its project is not a git repository."""
    return complete(tmp_path / "project", "high")


@pytest.fixture(scope="session")
def all_written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RecordedTrail]:
    """What the recorder writes at each level; read-only."""
    return {
        level: record_everything(tmp_path_factory.mktemp("written") / level, level)
        for level in LEVELS
    }


@pytest.fixture(params=LEVELS)
def written(request: pytest.FixtureRequest, all_written: dict[str, RecordedTrail]) -> RecordedTrail:
    """What the recorder writes, at each level in turn."""
    return all_written[request.param]


@pytest.fixture
def high(all_written: dict[str, RecordedTrail]) -> RecordedTrail:
    """What the recorder writes at the highest level."""
    return all_written["high"]


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a new key, at its place in a home folder."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    assert run_vibes(tmp_path, "keys", "generate").code == 0
    return tmp_path / "home" / ".vibescheck" / "keys"
