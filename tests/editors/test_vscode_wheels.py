"""The wheels that the VS Code extension carries install without an index, and are all that the server needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.packaging.building import BIN
from tests.requirements import REPOSITORY, require
from vibes_lsp import __version__

WHEELS = REPOSITORY / "editors/vscode/dist/wheels"
PIP = "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('pip', run_name='__main__', alter_sys=True)"


def test_the_carried_wheels_install_without_an_index_and_the_server_runs(tmp_path: Path) -> None:
    wheels = require(WHEELS, "installs what the extension carries; `make vsix` fetches it")
    (pip,), (server,) = wheels.glob("pip-*.whl"), wheels.glob("vibes_lsp-*.whl")
    extension = (REPOSITORY / "editors/vscode/src/server/installation.ts").read_text("utf-8")
    assert PIP in extension
    environment = tmp_path / "server"
    python = str(environment / BIN / "python")
    offline = ["--isolated", "--no-index", "--find-links", str(wheels), "--no-cache-dir"]
    for command in (
        [sys.executable, "-I", "-m", "venv", "--without-pip", str(environment)],
        [python, "-I", "-c", PIP, str(pip), "install", *offline, f"{server}[attest]"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    program = environment / BIN / "vibes-lsp"
    shown = subprocess.run(
        [program, "--version"], env=clean, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == f"vibes-lsp {__version__}"
    vibes = environment / BIN / "vibes"
    subprocess.run(
        [vibes, "demo", str(tmp_path / "shop")], env=clean, capture_output=True, check=True
    )
    blamed = subprocess.run(
        [vibes, "blame", "src/auth.py"],
        cwd=tmp_path / "shop",
        env=clean,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert "def valid_email" in blamed.stdout
