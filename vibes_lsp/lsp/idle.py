"""Notices that a document was left alone for a while after a change; what it begins then may fail without harm to what comes after."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from vibes_lsp.errors import report

_logger = logging.getLogger(__name__)

PAUSE: Final = 0.2
"""Seconds without a change after which nobody is typing."""


class Idle:
    """Begins something for each document that was changed, once it is changed no more.

    Args:
        begin: What to begin, given the document's URI.
        pause: Seconds.
    """

    def __init__(
        self, begin: Callable[[str], Coroutine[Any, Any, None]], pause: float = PAUSE
    ) -> None:
        self._begin = begin
        self._pause = pause
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._running: set[asyncio.Task[None]] = set()

    def changed(self, uri: str) -> None:
        """Wait for the pause after this change, no longer for one after an earlier."""
        self.closed(uri)
        self._waiting[uri] = asyncio.get_running_loop().call_later(self._pause, self._start, uri)

    def closed(self, uri: str) -> None:
        """Wait no longer."""
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()

    def postpone(self) -> None:
        """Begin nothing before another pause."""
        for uri in list(self._waiting):
            self.changed(uri)

    def stop(self) -> None:
        """Begin nothing any more."""
        for uri in list(self._waiting):
            self.closed(uri)

    def _start(self, uri: str) -> None:
        del self._waiting[uri]
        task = asyncio.get_running_loop().create_task(self._run(uri))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run(self, uri: str) -> None:
        try:
            await self._begin(uri)
        except Exception as error:  # noqa: BLE001  # nobody waits for it who could be told
            _logger.error("in the background: %s", report(error).message)  # noqa: TRY400  # the traceback is in the report
