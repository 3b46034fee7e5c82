"""Runs `vibes` in a process of its own; the fixture `run_vibes` runs it in this process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests import forked
from tests.forked import SCRIPT

__all__ = ["SCRIPT", "CommandResult", "RunVibes", "vibes"]


@dataclass(frozen=True)
class CommandResult:
    """Exit code and output of a run."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """The lines of standard output, split at newlines only."""
        return self.out.removesuffix("\n").split("\n")


RunVibes: TypeAlias = Callable[..., CommandResult]
"""Runs `vibes` in this process, in the folder `cwd`."""


def vibes(
    *arguments: str | Path, cwd: Path, given: str | bytes = b"", **environment: str
) -> CommandResult:
    """Run `vibes` in a process of its own, 80 columns wide, with UTF-8 output.

    Args:
        *arguments: The arguments.
        cwd: The working directory.
        given: Its standard input.
        **environment: More environment variables.
    """
    done = forked.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        environment=clean_environment(environment),
        given=given.encode() if isinstance(given, str) else given,
    )
    return CommandResult(done.returncode, decode_output(done.stdout), decode_output(done.stderr))


def clean_environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without variables that change colour, width or pager of the output."""
    passing = (
        *("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES"),
        *("GIT_PAGER", "PAGER", "LESS", "LV", "MORE"),
    )
    return {name: value for name, value in os.environ.items() if name not in passing} | {
        "COLUMNS": "80",
        **more,
    }


def decode_output(output: bytes) -> str:
    """Return output as text with Unix line ends."""
    return output.decode("utf-8").replace(os.linesep, "\n")


def simulate_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit tables into the width that the environment gives, without colours."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
