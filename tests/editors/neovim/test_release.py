"""What a user gets: the released plugin unpacked as the page says, in a profile that is empty, with the server of the released package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.editors.documented import block
from tests.editors.neovim.conftest import NEW, STABLE, Open
from tests.packaging.building import BIN, build, lend_dependencies
from tests.requirements import REPOSITORY, require, require_editor


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the programs that the wheel installs."""
    folder = tmp_path_factory.mktemp("installed")
    wheel, _ = build(folder / "dist")
    venv.create(folder / "environment")
    lend_dependencies(folder / "environment")
    programs = folder / "environment" / BIN
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(programs / "python"),
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        str(wheel),
    ]
    subprocess.run(pip, check=True)
    return programs


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_the_archive_unpacked_as_documented_works_with_the_wheel(
    open_neovim: Open, tmp_path: Path, server: Path, suite: str
) -> None:
    make, *rest = block("neovim.md", "The plugin", "sh").splitlines()
    require("make", "builds the plugin")
    subprocess.run(["sh", "-euc", make], cwd=REPOSITORY, check=True)
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs/nvim").symlink_to(require_editor(f"nvim-{suite}"))
    (tmp_path / "dist").mkdir()
    shutil.copy(REPOSITORY / "dist/vibes.nvim.tar.gz", tmp_path / "dist")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NVIM"))
    }
    environment |= {
        "HOME": str(tmp_path),
        "PATH": f"{tmp_path}/programs{os.pathsep}{os.environ['PATH']}",
    }
    subprocess.run(["sh", "-euc", "\n".join(rest)], cwd=tmp_path, env=environment, check=True)
    subprocess.run(
        [server / "vibes", "demo", "shop"], cwd=tmp_path, check=True, capture_output=True
    )

    editor = open_neovim(
        suite, tmp_path / "shop", "src/auth.py", data=tmp_path / ".local/share", scripts=server
    )
    editor.until(lambda: editor.signs().get(23) == "■", "signs")
    editor.hover(24, 8, "Store passwords safely")
    editor.command("checkhealth vibes")
    editor.terminal.shows(
        f"{server}/vibes-lsp: vibes-lsp 0.", "options are valid", "src/auth.py: attached"
    )
    editor.command("help :Vibes-record")
    editor.terminal.shows("Records that an AI wrote or changed the lines")
