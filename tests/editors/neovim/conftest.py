"""Three versions of Neovim, each from a Debian suite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.editors.conftest import Enter
from tests.editors.neovim.program import Neovim
from tests.requirements import require_editor
from tests.server.project import Project

OLD, STABLE, NEW = "bookworm", "trixie", "forky"
"""Debian suites of Neovim 0.7, 0.10, and 0.12 or newer."""
Open = Callable[..., Neovim]


@pytest.fixture
def open_neovim(enter: Enter) -> Open:
    """Opens a file in a new Neovim of a suite."""

    def opens(suite: str, folder: Path, file: str, init: str = "", **rest: Any) -> Neovim:
        program = require_editor(f"nvim-{suite}")
        return enter(Neovim(program, folder, file, init, **rest))

    return opens


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder with a trail that has an environment and no annotation yet."""
    project = Project(tmp_path / "project")
    project.config()
    project.environment()
    return project
