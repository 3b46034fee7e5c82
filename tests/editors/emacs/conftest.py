"""Emacsen of two ages, each from a suite of Debian; what was on the screen is left in a file when a test fails."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.editors.conftest import went_wrong
from tests.editors.documented import block
from tests.editors.emacs.program import Emacs
from tests.requirements import require

OLD, STABLE = "bookworm", "trixie"
"""Where Emacs 28, with eglot as a package, and Emacs 30, which has it, come from. The older one also has `markdown-mode`, and so asks for Markdown."""
Open = Callable[[str, Path, str], Emacs]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What drives an editor is slow, and only Linux has all that it takes."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(300))
            item.add_marker(pytest.mark.skipif(sys.platform != "linux", reason="the editors are installed on Linux only"))


@pytest.fixture
def open_emacs(request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens a file of a folder in the Emacs of a suite, with the documented `init.el`; each call is one Emacs."""
    opened: list[Emacs] = []
    with ExitStack() as stack:

        def opens(suite: str, folder: Path, file: str) -> Emacs:
            program = require(f"emacs-nox-{suite}", "is the editor; `make editors` installs it")
            init = block("emacs.md", "Emacs", "elisp") + block("emacs.md", "Settings", "elisp")
            editor = stack.enter_context(Emacs(program, folder, file, init))
            opened.append(editor)
            return editor

        yield opens
        if went_wrong(request.node):
            for number, editor in enumerate(opened):
                editor.terminal.picture(f"{request.node.name}-{number}")
