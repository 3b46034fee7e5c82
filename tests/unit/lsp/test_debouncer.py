"""A document counts as left alone only after the last of its changes."""

from __future__ import annotations

import asyncio

from vibes_lsp.lsp.background import Debouncer


class Begun:
    """Remembers what was begun, and waits for it."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self._more = asyncio.Event()

    async def __call__(self, uri: str) -> None:
        self.uris.append(uri)
        self._more.set()

    async def until(self, uri: str) -> None:
        async with asyncio.timeout(60):
            while uri not in self.uris:
                self._more.clear()
                await self._more.wait()


async def test_many_changes_in_a_row_begin_one_thing_after_the_last() -> None:
    begun = Begun()
    waiting = Debouncer(begun, 0)
    for uri in ("a", "a", "b", "a"):
        waiting.schedule(uri)
    await begun.until("a")
    assert begun.uris == ["b", "a"]


async def test_a_document_that_was_closed_begins_nothing() -> None:
    begun = Begun()
    waiting = Debouncer(begun, 0)
    waiting.schedule("a")
    waiting.cancel("a")
    waiting.cancel("never changed")
    waiting.schedule("b")
    await begun.until("b")
    assert begun.uris == ["b"]


async def test_a_change_after_the_pause_begins_it_again() -> None:
    begun = Begun()
    waiting = Debouncer(begun, 0)
    waiting.schedule("a")
    await begun.until("a")
    begun.uris.clear()
    waiting.schedule("a")
    await begun.until("a")
    assert begun.uris == ["a"]
