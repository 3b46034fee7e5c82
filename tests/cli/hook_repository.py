"""A repository with hooks and a stub of `vibes` that logs how it is called."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import CommandResult

STUB = '#!/bin/sh\necho "vibes $*" >> "$CALL_LOG"\nexit 0\n'
OTHER = '#!/bin/sh\necho "other $*" >> "$CALL_LOG"\ncat >> "$CALL_LOG"\nexit ${OTHER_EXIT:-0}\n'
CALL = "vibes backfill --pre-commit --audit-dir ./.ai-audit"


class HookRepository:
    """A repository whose commits run a stub of `vibes`; all hooks log their calls."""

    def __init__(self, root: Path, path: Path, call_log: Path) -> None:
        self.root, self.call_log = root, call_log
        self.repository = Repository(root)
        self.stub = executable(path / "vibes", STUB)
        self.hook = root / ".git" / "hooks" / "pre-commit"
        self.before = root / ".git" / "hooks" / "pre-commit.before-vibes"

    def commit(self, folder: Path | None = None) -> list[str]:
        """Commit, and return the calls that were logged."""
        self.call_log.unlink(missing_ok=True)
        repository = self.repository if folder is None else Repository(folder)
        repository.write("file", os.urandom(8).hex())
        repository.commit("A change")
        return self.calls()

    def calls(self) -> list[str]:
        return self.call_log.read_text().splitlines() if self.call_log.exists() else []

    def run(
        self, *arguments: str, given: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the hook itself, as git would."""
        self.call_log.unlink(missing_ok=True)
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


def health(done: CommandResult) -> tuple[str, str]:
    [step] = [step for step in done.json["steps"] if step["about"] == "git hook"]
    return step["health"], step["message"]
