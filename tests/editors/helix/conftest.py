"""Helix with the documented configuration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from typing_extensions import override

from tests.editors.conftest import Enter
from tests.editors.documented import block
from tests.editors.terminal import Terminal, environment
from tests.requirements import require_editor

Open = Callable[[Path, str], Terminal]

_ESCAPE: Final = "\x1b[27u"
"""The key as `CSI u` has it: a plain escape and the next key are Alt, if both are read at once."""


class Helix(Terminal):
    """A terminal with Helix."""

    @override
    def keys(self, *keys: str) -> None:
        for key in keys:
            if key == "Escape":
                self.text(_ESCAPE)
            else:
                super().keys(key)


@pytest.fixture
def open_helix(enter: Enter, tmp_path_factory: pytest.TempPathFactory) -> Open:
    """Opens a file in a new Helix."""

    def opens(folder: Path, file: str) -> Terminal:
        helix = require_editor("hx-forky")
        home = tmp_path_factory.mktemp("home")
        settings = home / "config/helix"
        settings.mkdir(parents=True)
        headings = ("Helix", "Audit files in Helix", "Settings in Helix")
        documented = "".join(block("other-editors.md", each, "toml") for each in headings)
        (settings / "languages.toml").write_text(documented, encoding="utf-8")
        own = {"XDG_CONFIG_HOME": str(home / "config"), "XDG_CACHE_HOME": str(home / "cache")}
        return enter(Helix([str(helix), file], folder, environment(**own)))

    return opens
