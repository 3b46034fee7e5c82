"""A task runs once the pause after the last change is over."""

from __future__ import annotations

import asyncio

from tests.waiting import TIMEOUT
from vibes_lsp.lsp.state.debouncer import Debouncer


class StartedKeys:
    """Collects the keys of tasks that ran."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self._more = asyncio.Event()

    async def __call__(self, uri: str) -> None:
        self.uris.append(uri)
        self._more.set()

    async def until(self, uri: str) -> None:
        async with asyncio.timeout(TIMEOUT):
            while uri not in self.uris:
                self._more.clear()
                await self._more.wait()


async def test_many_changes_start_one_task_after_the_last() -> None:
    started = StartedKeys()
    debouncer = Debouncer(started, 0)
    for uri in ("a", "a", "b", "a"):
        debouncer.schedule(uri)
    await started.until("a")
    assert started.uris == ["b", "a"]


async def test_a_cancelled_key_starts_no_task() -> None:
    started = StartedKeys()
    debouncer = Debouncer(started, 0)
    debouncer.schedule("a")
    debouncer.cancel("a")
    debouncer.cancel("never changed")
    debouncer.schedule("b")
    await started.until("b")
    assert started.uris == ["b"]


async def test_a_task_that_runs_at_the_stop_starts_no_other_one() -> None:
    ended = asyncio.Event()

    async def look(_key: str) -> None:
        looks.stop()
        looks.schedule("again")
        ended.set()

    looks = Debouncer(look, 0)
    looks.schedule("a")
    await ended.wait()
    assert looks._waiting == {}


async def test_a_change_after_the_pause_starts_the_task_again() -> None:
    started = StartedKeys()
    debouncer = Debouncer(started, 0)
    debouncer.schedule("a")
    await started.until("a")
    started.uris.clear()
    debouncer.schedule("a")
    await started.until("a")
    assert started.uris == ["a"]
