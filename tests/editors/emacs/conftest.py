"""Emacsen of two ages, each from a suite of Debian."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.editors.conftest import Enter
from tests.editors.documented import block
from tests.editors.emacs.program import Emacs
from tests.requirements import require_editor

OLD, STABLE = "bookworm", "trixie"
"""Where Emacs 28, with eglot as a package, and Emacs 30, which has it, come from. The older one also has `markdown-mode`, and so asks for Markdown."""
Open = Callable[[str, Path, str], Emacs]


@pytest.fixture
def open_emacs(enter: Enter) -> Open:
    """Opens a file of a folder in the Emacs of a suite, with the documented `init.el`; each call is one Emacs."""

    def opens(suite: str, folder: Path, file: str) -> Emacs:
        program = require_editor(f"emacs-nox-{suite}")
        init = block("emacs.md", "Emacs", "elisp") + block("emacs.md", "Settings", "elisp")
        return enter(Emacs(program, folder, file, init))

    return opens
