"""A repository whose commits run hooks, with a stub of `vibes` that says how it was called."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

STUB = '#!/bin/sh\necho "vibes $*" >> "$TOLD"\nexit 0\n'
OTHER = '#!/bin/sh\necho "other $*" >> "$TOLD"\ncat >> "$TOLD"\nexit ${OTHER_EXIT:-0}\n'
CALL = "vibes backfill --pre-commit --audit-dir ./.ai-audit"


class Hooked:
    """A repository whose commits find a stub of `vibes` on PATH; what runs says so in one file."""

    def __init__(self, root: Path, path: Path, told: Path) -> None:
        self.root, self.told = root, told
        self.repository = Repository(root)
        self.stub = executable(path / "vibes", STUB)
        self.hook = root / ".git" / "hooks" / "pre-commit"
        self.before = root / ".git" / "hooks" / "pre-commit.before-vibes"

    def commit(self, folder: Path | None = None) -> list[str]:
        """Commit, and return what was said by what ran."""
        self.told.unlink(missing_ok=True)
        repository = self.repository if folder is None else Repository(folder)
        repository.write("file", os.urandom(8).hex())
        repository.commit("A change")
        return self.said()

    def said(self) -> list[str]:
        return self.told.read_text().splitlines() if self.told.exists() else []

    def run(
        self, *arguments: str, given: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the hook itself, as git would."""
        self.told.unlink(missing_ok=True)
        return subprocess.run(
            [self.hook, *arguments],
            cwd=self.root,
            input=given,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )


def executable(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    return file


def health(done: Done) -> tuple[str, str]:
    [step] = [step for step in done.json["steps"] if step["about"] == "git hook"]
    return step["health"], step["message"]
