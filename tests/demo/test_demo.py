"""`make demo` exits 0 and shows what the README describes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.requirements import REPOSITORY


def test_the_demonstration_shows_hover_lenses_problems_and_tampering(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "COLUMNS": "120"}
    run = subprocess.run(
        [sys.executable, "-m", "tests.demo"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        env=environment,
    )
    shown = run.stdout.decode()
    assert run.returncode == 0, shown + run.stderr.decode()
    assert "edited since: 4 of 5 lines unchanged" in shown
    assert " ago · critical risk · not reviewed" in shown
    assert "risk 0.84 critical, not reviewed: " in shown
    assert "error[hash-mismatch]" in shown
    assert "error[base-record]" in shown
    server = re.search(r"cmd=\{'([^']+)'\}", shown)
    assert server is not None
    assert f'"vibes.server.path": "{server[1]}"' in shown
    assert subprocess.run(
        [server[1], "--version"], capture_output=True, check=True
    ).stdout.startswith(b"vibes-lsp ")
    folder = re.search(r"^  cd (.+)$", shown, re.MULTILINE)
    assert folder is not None
    assert (Path(folder[1]) / ".ai-audit").is_dir()
