"""Run work in the background once some time has passed without another reason for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from vibes_lsp.errors import report

_logger = logging.getLogger(__name__)
_K = TypeVar("_K")


class Debouncer(Generic[_K]):
    """Runs a task for a key once some time has passed without another call for it.

    There is one task at a time for a key. One that fails is logged; the next one runs all the same.

    Args:
        run: The task, given the key.
        pause: Seconds.
    """

    def __init__(self, run: Callable[[_K], Coroutine[Any, Any, None]], pause: float) -> None:
        self._run = run
        self._pause = pause
        self._waiting: dict[_K, asyncio.TimerHandle] = {}
        self._running: dict[_K, asyncio.Task[None]] = {}
        self._is_stopped = False

    def schedule(self, key: _K) -> None:
        """Run the task after a pause from now, and not after one that began before."""
        self.cancel(key)
        if self._is_stopped:
            return
        self._waiting[key] = asyncio.get_running_loop().call_later(self._pause, self._start, key)

    def cancel(self, key: _K) -> None:
        """Do not run the task that waits for a key."""
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            waiting.cancel()

    def postpone(self) -> None:
        """Begin the pause of every waiting task again."""
        for key in list(self._waiting):
            self.schedule(key)

    def stop(self) -> None:
        """Cancel every waiting task, and schedule none any more."""
        self._is_stopped = True
        for key in list(self._waiting):
            self.cancel(key)

    def _start(self, key: _K) -> None:
        del self._waiting[key]
        if key in self._running:
            self.schedule(key)
        else:
            self._running[key] = asyncio.get_running_loop().create_task(self._run_logged(key))

    async def _run_logged(self, key: _K) -> None:
        try:
            await self._run(key)
        except Exception as error:  # noqa: BLE001  # no request waits for it
            message = report(error).message  # with the traceback
            _logger.error("in the background: %s", message)  # noqa: TRY400
        finally:
            del self._running[key]
