"""Runs `vibes kb` in a project, as an agent or as another person."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.editors.terminal import SCRIPTS


def run_kb(project: Path, *arguments: str, actor: str = "codex") -> str:
    """Return what a command of `vibes kb` prints.

    Args:
        project: Where it runs.
        arguments: The command and its arguments.
        actor: Who acts.
    """
    done = subprocess.run(
        [SCRIPTS / "vibes", "kb", *arguments],
        cwd=project,
        env={**os.environ, "VOUCH_AGENT": actor},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
