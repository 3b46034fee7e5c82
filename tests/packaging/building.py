"""Builds the Python package, and an environment that has it and nothing of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.requirements import REPOSITORY

BIN = "Scripts" if os.name == "nt" else "bin"


def build(into: Path, source: Path = REPOSITORY) -> tuple[Path, Path]:
    """Return the wheel and the source archive, built of a source tree."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(into)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (wheel,), (archive,) = into.glob("*.whl"), into.glob("*.tar.gz")
    return wheel, archive


def lend_dependencies(environment: Path) -> None:
    """Let a virtual environment see what this one has installed, so that nothing need be downloaded.

    The package itself is no part of it: Python follows the link by which it is installed here in this environment only.
    """
    purelib = sysconfig.get_path(
        "purelib", vars={"base": str(environment), "platbase": str(environment)}
    )
    (Path(purelib) / "dependencies.pth").write_text(
        f"{sysconfig.get_path('purelib')}\n", encoding="utf-8"
    )
