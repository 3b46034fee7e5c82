"""A pre-commit hook whose work is done in this process, which saves starting an interpreter."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from vibes_lsp.maintenance.pre_commit import PreparedTrail, prepare_commit

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

_SCRIPT = """\
#!/bin/sh
printf '%s\\n' "$GIT_INDEX_FILE" > '{ask}'
read -r answer < '{answer}'
"""
_END = "no index"


class Hook:
    """The hook of one repository, until `close`.

    Attributes:
        prepared: What each run did.
        failures: The exceptions it raised.
    """

    def __init__(self, root: Path, now: Callable[[], datetime]) -> None:
        self.prepared: list[PreparedTrail] = []
        self.failures: list[BaseException] = []
        self._root, self._now = root, now
        self._ask, self._answer = (root / ".git" / name for name in ("ask", "answer"))
        for pipe in (self._ask, self._answer):
            os.mkfifo(pipe)
        file = root / ".git/hooks/pre-commit"
        file.parent.mkdir(exist_ok=True)
        file.write_text(_SCRIPT.format(ask=self._ask, answer=self._answer), encoding="utf-8")
        file.chmod(0o755)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._ask.write_text(f"{_END}\n", encoding="utf-8")
        self._thread.join()

    def _serve(self) -> None:
        while (index := self._ask.read_text(encoding="utf-8").strip()) != _END:
            try:
                self.prepared += prepare_commit(
                    self._root, {"GIT_INDEX_FILE": index}, now=self._now
                )
            except BaseException as error:  # noqa: BLE001  # checked after the commit
                self.failures.append(error)
            self._answer.write_text("done\n", encoding="utf-8")
