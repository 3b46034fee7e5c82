"""A pre-commit hook whose work is done in this process: for subjects that are libraries."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

_SCRIPT: Final = """\
#!/bin/sh
printf '%s\\n' "$PWD" "$(git rev-parse --absolute-git-dir)" "$GIT_INDEX_FILE" > '{questions}'
read -r code < '{answers}'
exit "$code"
"""
_END: Final = "end"


class Committing(NamedTuple):
    """A commit that is being made.

    Attributes:
        root: The top of the work tree.
        git_dir: Git's folder of the work tree.
        staged: The index that becomes the commit.
    """

    root: Path
    git_dir: Path
    staged: Path

    @property
    def environment(self) -> dict[str, str]:
        """What git needs to work with this index."""
        return {
            "GIT_DIR": str(self.git_dir),
            "GIT_WORK_TREE": str(self.root),
            "GIT_INDEX_FILE": str(self.staged),
        }


class InProcessHook:
    """The hook of all work trees of one history, until `close`.

    Args:
        folder: Where it may have files.
        prepare: What is done before each commit; an exception stops the commit.

    Attributes:
        failures: The exceptions that were raised.
    """

    def __init__(self, folder: Path, prepare: Callable[[Committing], None]) -> None:
        self.failures: list[Exception] = []
        self._prepare = prepare
        self._questions, self._answers = folder / "questions", folder / "answers"
        for pipe in (self._questions, self._answers):
            os.mkfifo(pipe)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def install(self, hooks: Path) -> None:
        """Install the hook.

        Args:
            hooks: The folder of a repository's hooks.
        """
        hooks.mkdir(parents=True, exist_ok=True)
        file = hooks / "pre-commit"
        file.write_text(
            _SCRIPT.format(questions=self._questions, answers=self._answers), encoding="utf-8"
        )
        file.chmod(0o755)

    def close(self) -> None:
        """End the thread."""
        self._questions.write_text(f"{_END}\n", encoding="utf-8")
        self._thread.join()

    def _serve(self) -> None:
        while (words := self._questions.read_text("utf-8").splitlines()) != [_END]:
            root, git_dir, index = words
            code = 0
            try:
                self._prepare(Committing(Path(root), Path(git_dir), Path(root, index)))
            except Exception as error:  # noqa: BLE001  # a test asks for it
                self.failures.append(error)
                code = 1
            self._answers.write_text(f"{code}\n", encoding="utf-8")
