"""Record and flush in a pause what programs and completions left: no request waits for it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

from vibes_lsp.errors import UnreadableFile, VibesError, report
from vibes_lsp.git.given_up_commits import take_back
from vibes_lsp.git.project_files import read_source
from vibes_lsp.ingest.hook import has_waiting_events
from vibes_lsp.lsp.state.debouncer import Debouncer
from vibes_lsp.lsp.state.projects import Project
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.updates import refresh_outdated
from vibes_lsp.store.waiting import has_mark

_logger = logging.getLogger(__name__)

FLUSH_PAUSE: Final = 2.0
"""Seconds without a record and without a change of any document, after which a trail is flushed."""

EVENTS_PAUSE: Final = 0.1
"""Seconds after an agent's event before it is recorded, with those that follow at once."""

REFRESH_PAUSE: Final = 0.02
"""Seconds after a record before the client is told to refresh.

The answer goes out first, and a burst of records causes one refresh.
"""


class BackgroundFlush:
    """Flushes what was recorded once a trail is left alone.

    Pending completions go to the log, the journal to the manifest, and everything to disk.

    Args:
        server: The server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._flushes = Debouncer(self._flush, FLUSH_PAUSE)
        self._refreshes = Debouncer(self._refresh, REFRESH_PAUSE)
        self._events = Debouncer(self._fold_events, EVENTS_PAUSE)

    def schedule(self, project: Project) -> None:
        """Flush a trail in the next pause; refresh the client once the command is answered."""
        self._flushes.schedule(project)
        self.schedule_refresh(project)

    def schedule_refresh(self, project: Project) -> None:
        """Refresh the client once the request is answered: it may not watch the trail."""
        self._refreshes.schedule(project)

    def postpone(self) -> None:
        """Begin the pause again: the user is typing."""
        self._flushes.postpone()

    def schedule_pending(self, uri: str) -> None:
        """Record what other programs left in a document's project: completions and events."""
        owner = self._server.projects.owner(uri)
        self.schedule_events()
        if owner is not None and owner[0].pending:
            self.schedule(owner[0])

    def schedule_events(self) -> None:
        """Record the events of agents that wait in any project.

        A commit that was given up is undone at the same time (R4).
        """
        for project in self._server.projects.all():
            directory = project.directory
            if has_waiting_events(str(directory.waiting_events)) or has_mark(directory):
                self._events.schedule(project)

    async def flush_document(self, uri: str) -> None:
        """Record the pending completions of a document that was saved or closed."""
        owner = self._server.projects.owner(uri)
        if owner is None or not owner[0].pending:
            return
        project, path = owner
        texts = self._server.projects.open_texts(project)
        with suppress(UnreadableFile):
            texts = {path: read_source(project.directory.project, path).content, **texts}
        await self._run(
            project, partial(project.recorder.record_pending_completions, texts, paths={path})
        )

    def flush_all(self) -> None:
        """Flush everything, and wait for it."""
        self._flushes.stop()
        self._refreshes.stop()
        self._events.stop()
        for project in self._server.projects.all():
            try:
                project.close()
                if project.has_recorder:
                    _flush(project, self._server.projects.open_texts(project))
                    project.recorder.close()
            except Exception as error:  # noqa: BLE001  # the others are flushed
                failure = error if isinstance(error, VibesError) else report(error)
                _logger.warning("%s is not flushed: %s", project.directory.path, failure.message)

    async def _refresh(self, _project: Project) -> None:
        await refresh_outdated(self._server)

    async def _fold_events(self, project: Project) -> None:
        if not project.is_indexing:
            await self._run(project, partial(_fold_events, project))

    async def _flush(self, project: Project) -> None:
        if project.is_indexing:
            return
        texts = self._server.projects.open_texts(project)
        if await self._run(project, partial(_flush, project, texts)):
            self.schedule(project)

    async def _run(self, project: Project, flush: Callable[[], bool]) -> bool:
        """Return whether anything is pending after a flush in a thread."""
        try:
            is_pending = await self._server.run_in_thread(flush)
        except VibesError as error:  # nothing is lost: it stays pending
            _logger.warning("%s is not flushed: %s", project.directory.path, error.message)
            is_pending = bool(project.pending)
        await refresh_outdated(self._server)
        return is_pending


def _fold_events(project: Project) -> bool:
    """Record the events of agents that wait; return False, as nothing is pending after it.

    Raises:
        VibesError: It cannot be written.
    """
    # Imported late: a server that only reads starts without it.
    from vibes_lsp.ingest.fold import fold_events  # noqa: PLC0415

    take_back(project.directory)
    fold_events(project.directory)
    return False


def _flush(project: Project, texts: Mapping[str, str]) -> bool:
    """Flush what was recorded here, and what programs that ended left pending.

    Returns:
        Whether anything is pending still: of another program that may go on.

    Raises:
        VibesError: It cannot be written.
    """
    # Imported late: a server that only reads starts without it.
    from vibes_lsp.recording.recorder import ABANDONED_AFTER  # noqa: PLC0415

    project.recorder.record_pending_completions(texts, others_after=ABANDONED_AFTER)
    project.recorder.flush()
    return project.recorder.has_pending_completions()
