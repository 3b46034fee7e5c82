"""The story of a reviewer in Helix, as far as plain LSP goes: hover, problems, a code action that leaves its edge on disk."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.demo.workspace import build
from tests.editors.documented import block
from tests.editors.recorded import newest
from tests.editors.terminal import Terminal
from tests.requirements import require
from tests.trails.repository import Repository

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="the editors are installed on Linux only"),
]


def test_a_reviewer_sees_who_wrote_the_line_and_answers_for_it(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    helix = require("hx-forky", "is the editor; `make editors` installs it")
    workspace = build(tmp_path / "shop")
    Repository(workspace.root).git("config", "user.name", "Nobody Example")
    (workspace.root / "src/pyproject.toml").touch()  # what Helix takes for the root is neither the trail's folder, nor above it
    folder = tmp_path / "config/helix"
    folder.mkdir(parents=True)
    (folder / "languages.toml").write_text(block("helix.md", "Helix", "toml") + block("helix.md", "Settings", "toml"), encoding="utf-8")
    scripts = sysconfig.get_path("scripts")
    environment = {
        **os.environ,
        "LC_ALL": "C.UTF-8",
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    with Terminal([str(helix), "shop/src/auth.py"], tmp_path, environment) as terminal:
        try:
            _story(terminal, workspace.audit, workspace.hashing)
        except BaseException:
            terminal.picture(request.node.name)
            raise


def _story(terminal: Terminal, audit: Path, hashing: str) -> None:
    terminal.shows("def hash_password")
    terminal.text("23gg")
    terminal.shows("risk 0.84 critical")  # of the line under the cursor

    terminal.text("gg")
    terminal.text("O# one")
    terminal.keys("Escape")
    terminal.shows("▍# one", "24  def hash_password")
    terminal.text("24gg")
    terminal.shows("risk 0.84 critical")

    terminal.text(" k")
    terminal.shows("claude-opus-4-5", "Store passwords safely", "0.84 critical")
    terminal.keys("Escape")
    terminal.until(lambda: "Store passwords safely" not in terminal.screen(), "the hover to close")

    terminal.text(" d")
    terminal.shows("risk-critical")
    terminal.keys("Escape")
    terminal.until(lambda: "risk-critical" not in terminal.screen(), "the list to close")
    terminal.text(" a")
    terminal.shows("Mark reviewed", "Show prompt")
    terminal.keys("Enter")  # the first of them
    terminal.until(lambda: "risk 0.84" not in terminal.screen(), "the problem to go")
    edge = newest(audit, "reviewed_by")
    assert edge["source_ref"] == hashing
    assert edge["metadata"]["verdict"] == "approved"
    assert edge["metadata"]["reviewer"] == "Ada Example"  # as the settings say
