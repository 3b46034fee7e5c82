"""Progress of long work that the client shows, if it can."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from vibes_lsp.lsp.server import Server
from vibes_lsp.patience import PROGRESS

_logger = logging.getLogger(__name__)
Show: TypeAlias = Callable[[int, str | None], None]
"""Shows how much is done, in percent, and what is being done."""


@asynccontextmanager
async def shown_progress(server: Server, title: str) -> AsyncIterator[Show]:
    """Have the client show progress meanwhile; nothing is shown by one that cannot."""
    token, progress = f"vibes-{uuid4()}", server.work_done_progress
    if not await _is_shown(server, token):
        yield lambda _percentage, _message: None
        return
    progress.begin(token, types.WorkDoneProgressBegin(title, percentage=0))

    def show(percentage: int, message: str | None) -> None:
        progress.report(token, types.WorkDoneProgressReport(percentage=percentage, message=message))

    try:
        yield show
    finally:
        progress.end(token, types.WorkDoneProgressEnd())
        progress.tokens.pop(token, None)  # pygls never removes them


async def _is_shown(server: Server, token: str) -> bool:
    """Whether the client takes progress by a token, and says so in time."""
    if not server.declared("window", "work_done_progress"):
        return False
    try:
        async with asyncio.timeout(PROGRESS.limit):
            # the request is not cancelled: its answer may still come
            await asyncio.shield(server.work_done_progress.create_async(token))
    except TimeoutError:
        _logger.warning("the client shows no progress: it did not answer in time")
        return False
    except JsonRpcException as error:
        _logger.warning("the client shows no progress: %s", error.message)
        return False
    return True
