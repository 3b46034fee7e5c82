"""Index large logs in a thread, with progress, one at a time.

The index is saved (`trail.index`), so that the next server opens it in a millisecond.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from vibes_lsp.errors import report
from vibes_lsp.lsp.state.projects import MAX_READ, Project, audit_dir_at, size_of
from vibes_lsp.lsp.state.server import Server, Show, shown_progress
from vibes_lsp.lsp.state.updates import look_up_history, refresh_outdated

_logger = logging.getLogger(__name__)


class Indexing:
    """Indexes the logs of a server that are too large to be read before an answer.

    Args:
        server: The server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()
        self._is_stopped = False

    def prepare(self, uri: str) -> None:
        """Index the log of a folder before the first request, if it is large."""
        directory = audit_dir_at(uri)
        if directory is not None and size_of(directory.log) >= MAX_READ:
            self._server.projects.refreshed(directory)

    def start(self, project: Project) -> None:
        """Index a log, once."""
        if project.begin_indexing():
            task = asyncio.get_running_loop().create_task(self._index_logged(project))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """Stop reading."""
        self._is_stopped = True
        for task in self._tasks:
            task.cancel()

    async def _index_logged(self, project: Project) -> None:
        try:
            async with self._turn:
                await self._index(project)
        except Exception as error:  # noqa: BLE001  # no request waits for it
            message = report(error).message  # with the traceback
            _logger.error("while the log was indexed: %s", message)  # noqa: TRY400

    async def _index(self, project: Project) -> None:
        server = self._server
        async with shown_progress(server, "Indexing the audit trail") as show:
            try:
                await self._read(project, show)
            finally:
                project.end_indexing()
        _logger.debug("the log of %s was indexed", project.directory.path)
        await refresh_outdated(server, everything=True)
        if server.projects.opened_in(project):  # git history was not looked up while it was read
            await look_up_history(server, project)

    async def _read(self, project: Project, show: Show) -> None:
        loop, size = asyncio.get_running_loop(), max(1, size_of(project.directory.log))

        def show_part(done: int) -> None:
            if self._is_stopped:
                raise asyncio.CancelledError
            loop.call_soon_threadsafe(show, min(99, 100 * done // size))

        await self._server.run_in_thread(partial(project.trail.refresh, progress=show_part))
