"""A real coding agent that edits a file while an editor shows it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.agents.codex import Codex
from tests.agents.session import running_model
from tests.agents.story import START, Replace
from tests.agents.wire_formats import Answer
from tests.editors.waiting import TIMEOUT

PROMPT: Final = "Say what is in the second line."
FILE: Final = "notes.md"
EDIT: Final = Replace(FILE, "beta\n", "beta one\nbeta two\n", START[FILE])
EDITED: Final = {2, 3}
"""The lines that the edit writes."""


class AgentEdit:
    """An agent that edits a file and then waits for the end of the test.

    Attributes:
        project: The folder that the editor opens.
    """

    def __init__(self, project: Path) -> None:
        self.project = project
        self.is_seen = threading.Event()
        self.begin = threading.Event()

    def seconds(self) -> float:
        """Return the time since the edit was written."""
        return time.time() - (self.project / FILE).stat().st_mtime

    def wait(self, _result: str) -> Answer:
        """Answer when the editor shows the edit, so that the agent cannot end before."""
        self.is_seen.wait(TIMEOUT)
        return Answer("Done.")


@contextmanager
def agent_that_edits(folder: Path) -> Iterator[AgentEdit]:
    """Prepare Codex; it gets its prompt when the test asks for it, and ends with the test."""
    with (
        running_model(Codex, folder, {PROMPT: [[EDIT]]}, level="medium") as (driver, model),
        ThreadPoolExecutor(1) as pool,
    ):
        edit = AgentEdit(driver.sandbox.project)
        model.script = {PROMPT: [*model.script[PROMPT][:-1], edit.wait]}

        def run() -> int:
            edit.begin.wait(TIMEOUT)
            return driver.give(PROMPT).returncode

        done = pool.submit(run)
        try:
            yield edit
        finally:
            edit.is_seen.set()
            edit.begin.set()
        assert done.result() == 0
