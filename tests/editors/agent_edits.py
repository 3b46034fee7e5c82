"""A real coding agent that edits a file twice while an editor shows it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.agents.codex import Codex
from tests.agents.session import running_model
from tests.agents.story import START, Replace
from tests.agents.wire_formats import Answer
from tests.waiting import TIMEOUT

PROMPT: Final = "Limit the stock."
FILE: Final = "inventory.py"
_FIRST: Final = Replace(FILE, "STOCK = {}\n", "STOCK = {}\nLIMIT = 100\nSHELF = 7\n", START[FILE])
_SECOND: Final = Replace(FILE, "return list(STOCK)\n", "return sorted(STOCK)\n", _FIRST.after)
FIRST_LINES: Final = {2, 3}
"""The lines that the first edit writes."""
ALL_LINES: Final = {*FIRST_LINES, 24}
"""The lines of both edits."""


class AgentEdits:
    """An agent that waits with each step until the test has seen the one before.

    Attributes:
        project: The folder that the editor opens.
        is_begun: Set by the test to give the agent its prompt.
        is_first_seen: Set by the test for the second edit: the editor's server runs now.
        is_second_seen: Set by the test to let the agent end.
    """

    def __init__(self, project: Path) -> None:
        self.project = project
        self.is_begun = threading.Event()
        self.is_first_seen = threading.Event()
        self.is_second_seen = threading.Event()

    def seconds(self) -> float:
        """Return the time since the file was written."""
        return time.time() - (self.project / FILE).stat().st_mtime

    def end(self) -> None:
        """Let the agent go on to its end, also after a failure."""
        for event in (self.is_begun, self.is_first_seen, self.is_second_seen):
            event.set()


@contextmanager
def agent_that_edits(folder: Path) -> Iterator[AgentEdits]:
    """Prepare Codex; it ends with the test at the latest."""
    with (
        running_model(Codex, folder, {PROMPT: [[_FIRST], [_SECOND]]}, level="medium") as (
            driver,
            model,
        ),
        ThreadPoolExecutor(1) as pool,
    ):
        edits = AgentEdits(driver.sandbox.project)
        first, second, done = model.script[PROMPT]
        assert isinstance(second, Answer)
        assert isinstance(done, Answer)
        model.script = {
            PROMPT: [
                first,
                _after(edits.is_first_seen, second),
                _after(edits.is_second_seen, done),
            ]
        }

        def run() -> int:
            edits.is_begun.wait(TIMEOUT)
            return driver.give(PROMPT).returncode

        running = pool.submit(run)
        try:
            yield edits
        finally:
            edits.end()
        assert running.result() == 0


def _after(event: threading.Event, answer: Answer) -> Callable[[str], Answer]:
    """Return a turn of the model that waits for an event."""

    def turn(_result: str) -> Answer:
        event.wait(TIMEOUT)
        return answer

    return turn
