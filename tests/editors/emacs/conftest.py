"""Two versions of Emacs, each from a Debian suite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.editors.conftest import Enter
from tests.editors.documented import block
from tests.editors.emacs.program import Emacs
from tests.requirements import require_editor

OLD, STABLE = "bookworm", "trixie"
"""Debian suites of Emacs 28 (eglot and `markdown-mode` as packages) and Emacs 30.

With `markdown-mode`, eglot requests Markdown.
"""
Open = Callable[[str, Path, str], Emacs]


@pytest.fixture
def open_emacs(enter: Enter) -> Open:
    """Opens a file in a new Emacs of a suite, with the documented `init.el`."""

    def opens(suite: str, folder: Path, file: str) -> Emacs:
        program = require_editor(f"emacs-nox-{suite}")
        init = "".join(
            block("other-editors.md", heading, "elisp")
            for heading in ("Emacs", "Settings in Emacs")
        )
        return enter(Emacs(program, folder, file, init))

    return opens
