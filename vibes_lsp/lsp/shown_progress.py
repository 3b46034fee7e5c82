"""Progress of long work that the client shows, if it can."""

from __future__ import annotations

import asyncio
import logging
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from vibes_lsp.lsp.server import Server
from vibes_lsp.patience import PROGRESS

_logger = logging.getLogger(__name__)


class ShownProgress:
    """Progress that the client shows.

    Args:
        server: The server.
        token: The client's token.
        title: What is done.
    """

    def __init__(self, server: Server, token: str, title: str) -> None:
        self._progress, self._token = server.work_done_progress, token
        self._progress.begin(token, types.WorkDoneProgressBegin(title, percentage=0))

    def show(self, percentage: int, message: str | None = None) -> None:
        """Show how much is done."""
        self._progress.report(
            self._token, types.WorkDoneProgressReport(percentage=percentage, message=message)
        )

    def end(self) -> None:
        """Show no more."""
        self._progress.end(self._token, types.WorkDoneProgressEnd())
        self._progress.tokens.pop(self._token, None)  # pygls never removes them


async def begin_progress(server: Server, title: str) -> ShownProgress | None:
    """Begin to show progress; None if the client shows none, or does not answer in time."""
    if not server.declared("window", "work_done_progress"):
        return None
    token = f"vibes-{uuid4()}"
    try:
        async with asyncio.timeout(PROGRESS.limit):
            # the request is not cancelled: its answer may still come
            await asyncio.shield(server.work_done_progress.create_async(token))
    except TimeoutError:
        _logger.warning("the client shows no progress: it did not answer in time")
        return None
    except JsonRpcException as error:
        _logger.warning("the client shows no progress: %s", error.message)
        return None
    return ShownProgress(server, token, title)
