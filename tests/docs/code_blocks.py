"""Code blocks of documentation pages, and runs of them with `vibes` on the path."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from typing import TYPE_CHECKING

from tests import forked
from tests.requirements import require

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def code_blocks(page: str, language: str) -> list[str]:
    """Return the contents of a page's code blocks in a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def run_program(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, with `vibes` on the path."""
    places = [str(forked.program().parent), sysconfig.get_path("scripts")]
    path = os.pathsep.join([*places, os.environ.get("PATH", "")])
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def run_shell(script: str, folder: Path, options: str = "-eu") -> subprocess.CompletedProcess[str]:
    """Run a shell script in a folder, with `vibes` on the path."""
    shell = require("sh", "runs the documented shell commands")
    return run_program([shell, options, "-c", script], folder)
