"""The programs that the pack runs against: this project, and the reference at two versions.

`VIBES_VOUCH_INIT` and `VIBES_VOUCH_SERVE` name the commands of another one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import pytest

from tests import forked
from tests.conformance.vouch.server import Commands, InThisProcess, Program

_TOOLS: Final = Path(__file__).parents[3] / ".tools"
_VIBES: Final = f"{sys.executable} -m vibes_lsp kb"
OURS: Final = Commands("vibes", f"{_VIBES} init", f"{_VIBES} serve --transport jsonl")
REFERENCES: Final = ("0.1.0", "1.5.0")
EACH_REFERENCE: Final = [pytest.param("0.1.0", marks=pytest.mark.nightly), "1.5.0"]
"""Parameters of tests with the reference: the old version's files are those of the new one."""


def ours() -> Commands:
    """Return our program, whose processes are forked."""
    command = f"{forked.program()} kb"
    return Commands("vibes", f"{command} init", f"{command} serve --transport jsonl")


def program_under_test() -> Program:
    """Return the program that the environment names, else ours, without processes."""
    init, serve = os.environ.get("VIBES_VOUCH_INIT"), os.environ.get("VIBES_VOUCH_SERVE")
    return Commands("another", init, serve) if init and serve else InThisProcess()


def reference_command(version: str) -> Path:
    """Return the command of the reference implementation; skip the test where it is absent."""
    command = _TOOLS / f"vouch-{version}" / "bin" / "vouch"
    if not command.exists():
        message = f"vouch-kb {version} is not installed: run make tools"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return command


def reference(version: str) -> Commands:
    """Return the reference implementation; skip the test where it is absent."""
    command = reference_command(version)
    return Commands(f"vouch-kb {version}", f"{command} init", f"{command} serve --transport jsonl")
