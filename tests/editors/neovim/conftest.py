"""Neovims of three ages, each from a suite of Debian; what was on the screen is left in a file when a test fails."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.editors.conftest import went_wrong
from tests.editors.neovim.program import Neovim
from tests.requirements import require

OLD, STABLE, NEW = "bookworm", "trixie", "forky"
"""Where Neovim 0.7, 0.10 and 0.12 or newer come from."""
Open = Callable[..., Neovim]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What drives an editor is slow, and only Linux has all that it takes."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(300))
            item.add_marker(pytest.mark.skipif(sys.platform != "linux", reason="the editors are installed on Linux only"))


@pytest.fixture
def open_neovim(request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens a file in the Neovim of a suite; each call is one Neovim."""
    opened: list[Neovim] = []
    with ExitStack() as stack:

        def opens(suite: str, folder: Path, file: str, init: str = "", **rest: Any) -> Neovim:
            program = require(f"nvim-{suite}", "is the editor; `make editors` installs it")
            editor = stack.enter_context(Neovim(program, folder, file, init, **rest))
            opened.append(editor)
            return editor

        yield opens
        if went_wrong(request.node):
            for number, editor in enumerate(opened):
                editor.terminal.picture(f"{request.node.name}-{number}")
                request.node.add_report_section("teardown", f"Neovim {number}", editor.account())
