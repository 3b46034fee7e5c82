"""A repository with a trail, and its history."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository, TrailWriter
from vibes_lsp.history.project_history import ProjectHistory

if TYPE_CHECKING:
    from collections.abc import Iterator
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


@pytest.fixture
def history(tmp_path: Path) -> Iterator[ProjectHistory]:
    with ProjectHistory(tmp_path) as history:
        yield history


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which each process that is forked in the test is added."""
    forked: list[int] = []
    fork = os.fork

    def noted() -> int:
        forked.append(fork())
        return forked[-1]

    monkeypatch.setattr(os, "fork", noted)
    return forked
