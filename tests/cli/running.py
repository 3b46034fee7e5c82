"""Running `vibes`: as its users do, in a process of its own; or within this one, where a story needs many runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

SCRIPT: Final = Path(sys.prefix) / ("Scripts/vibes.exe" if os.name == "nt" else "bin/vibes")


@dataclass(frozen=True)
class Done:
    """How a run ended: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON text."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """Standard output by lines, which only a newline ends."""
        return self.out.removesuffix("\n").split("\n")


Vibes: TypeAlias = Callable[..., Done]
"""Runs `vibes` within this process, with `cwd` as its working folder."""


def vibes(*arguments: str | Path, cwd: Path, **environment: str) -> Done:
    """Run `vibes` in a process of its own, 80 columns wide; what it writes must be UTF-8."""
    done = subprocess.run(
        [SCRIPT, *arguments],
        cwd=cwd,
        env=surroundings(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return Done(done.returncode, decoded(done.stdout), decoded(done.stderr))


def surroundings(more: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment without what would colour or widen the output."""
    passing = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES")
    return {name: value for name, value in os.environ.items() if name not in passing} | {
        "COLUMNS": "80",
        **more,
    }


def decoded(output: bytes) -> str:
    """Return output as text, newlines as on Unix."""
    return output.decode("utf-8").replace(os.linesep, "\n")


def as_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have tables fit into the width that the environment names, without colours."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
