"""Runs the programs of these tests, with limits from the environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.requirements import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Sequence


def number_from_environment(name: str, default: int) -> int:
    """Return a number that may be set from outside, such as `VIBES_CRASH_KILLS=1000`."""
    return int(os.environ.get(name, default))


def run_program(module: str, *arguments: object, before: Sequence[str] = ()) -> dict[str, float]:
    """Run a program of this package, which must succeed, and return its statistics."""
    command = [*before, sys.executable, "-m", f"tests.crash.{module}", *map(str, arguments)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:] or done.stdout[-4000:]
    seen: dict[str, float] = json.loads(done.stdout)
    return seen
