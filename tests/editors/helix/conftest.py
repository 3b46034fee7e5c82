"""A real Helix with the documented configuration; what was on the screen is left in a file when a test fails."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.editors.conftest import went_wrong
from tests.editors.documented import block
from tests.editors.terminal import Terminal
from tests.requirements import require

Open = Callable[[Path, str], Terminal]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What drives an editor is slow, and only Linux has all that it takes."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(300))
            item.add_marker(pytest.mark.skipif(sys.platform != "linux", reason="the editors are installed on Linux only"))


@pytest.fixture
def open_helix(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    """Opens a file in Helix, started in a folder."""
    opened: list[Terminal] = []
    with ExitStack() as stack:

        def opens(folder: Path, file: str) -> Terminal:
            helix = require("hx-forky", "is the editor; `make editors` installs it")
            home = tmp_path_factory.mktemp("home")
            settings = home / "config/helix"
            settings.mkdir(parents=True)
            documented = block("helix.md", "Helix", "toml") + block("helix.md", "Settings", "toml")
            (settings / "languages.toml").write_text(documented, encoding="utf-8")
            environment = {
                **os.environ,
                "LC_ALL": "C.UTF-8",
                "PATH": f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}",
                "XDG_CONFIG_HOME": str(home / "config"),
                "XDG_CACHE_HOME": str(home / "cache"),
            }
            terminal = stack.enter_context(Terminal([str(helix), file], folder, environment))
            opened.append(terminal)
            return terminal

        yield opens
        if went_wrong(request.node):
            for number, terminal in enumerate(opened):
                terminal.picture(f"{request.node.name}-{number}")
