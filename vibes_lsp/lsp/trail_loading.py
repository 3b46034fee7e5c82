"""Read large logs in a process of their own, with progress: no thread delays the answers.

The process saves the index (`index.saved_log`), which the server then opens in a millisecond. Where
it cannot be saved, the server reads the log in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from vibes_lsp.errors import AuditDirNotFound, MuchToRead, report
from vibes_lsp.lsp.background import look_up_history
from vibes_lsp.lsp.child_process import start_module
from vibes_lsp.lsp.conversion import path_of
from vibes_lsp.lsp.projects import MAX_READ, Project
from vibes_lsp.lsp.refresh import refresh_project
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.shown_progress import ShownProgress, begin_progress
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir

_logger = logging.getLogger(__name__)


class TrailLoading:
    """Loads the trails of a server whose logs are too large to be read before an answer.

    Args:
        server: The server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()  # one process at a time

    def prepare(self, uri: str) -> None:
        """Load the trail of a folder before the first request, if its log is large."""
        path = path_of(uri)
        if path is None:
            return
        try:
            directory = find_audit_dir(path)
            size = directory.log.stat().st_size if directory.log.is_file() else 0
        except (AuditDirNotFound, OSError):
            return
        if size >= MAX_READ:
            self._server.projects.refreshed(directory)

    def start(self, project: Project) -> None:
        """Load a trail, once."""
        if project.begin_loading():
            task = asyncio.get_running_loop().create_task(self._load_logged(project))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """End all processes."""
        for task in self._tasks:
            task.cancel()

    async def _load_logged(self, project: Project) -> None:
        try:
            async with self._turn:
                await self._load(project)
        except Exception as error:  # noqa: BLE001  # no request waits for it
            message = report(error).message  # with the traceback
            _logger.error("while the log was read: %s", message)  # noqa: TRY400

    async def _load(self, project: Project) -> None:
        server, directory = self._server, project.directory
        progress = await begin_progress(server, "Reading the audit trail")
        try:
            await _read(server, project, progress)
        finally:
            project.end_loading()
            server.excerpts.discard(project)
            if progress is not None:
                progress.end()
        _logger.debug("the log of %s was read", directory.path)
        await refresh_project(server)
        if server.projects.opened_in(project):  # git history was not looked up while it was read
            await look_up_history(server, project)


async def _read(server: Server, project: Project, progress: ShownProgress | None) -> None:
    """Read the log of a trail: by its saved index, else in a thread."""
    trail = project.snapshot.trail
    size = max(1, _size(project.directory))

    def show(done: int) -> None:
        if progress is not None:
            progress.show(min(99, 100 * done // size))

    if await _save_index(project.directory, show):
        try:
            trail.refresh(at_most=MAX_READ)
        except MuchToRead:  # the log was replaced since
            _logger.debug("the saved index is outdated")
        else:
            return
    loop = asyncio.get_running_loop()

    def show_from_thread(done: int) -> None:
        loop.call_soon_threadsafe(show, done)

    await loop.run_in_executor(server.thread_pool, lambda: trail.refresh(progress=show_from_thread))


def _size(directory: AuditDir) -> int:
    try:
        return directory.log.stat().st_size
    except OSError:
        return 0


async def _save_index(directory: AuditDir, show: Callable[[int], None]) -> bool:
    """Have another process save the index of a log; return whether it did."""
    try:
        process = await start_module(
            "vibes_lsp.index.save_index", str(directory.log.absolute()), reads_errors=False
        )
    except OSError as error:
        _logger.warning("no process can be started: %s", error)
        return False
    try:
        if process.stdout is not None:
            async for line in process.stdout:
                if line.strip().isdigit():
                    show(int(line))
        return await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()  # nothing is awaited: the server may be ending
