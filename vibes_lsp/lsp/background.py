"""Work that no request waits for: git history lookups, flushing, watching files.

What it changes, the client is told to ask for again.

Each piece is scheduled on the event loop and does its reading and writing in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from lsprotocol import types

from vibes_lsp.errors import UnreadableFile, VibesError, report
from vibes_lsp.git.given_up_commits import take_back
from vibes_lsp.git.project_files import read_source
from vibes_lsp.ingest.hook import has_waiting_events
from vibes_lsp.lsp.conversion import path_of
from vibes_lsp.lsp.extensions import KNOWLEDGE_CHANGED, PROVENANCE_CHANGED
from vibes_lsp.lsp.features import diagnostics
from vibes_lsp.lsp.projects import Project, Projects, audit_dir_at
from vibes_lsp.lsp.server import Server
from vibes_lsp.store.waiting import has_mark, waiting_place

_logger = logging.getLogger(__name__)
_K = TypeVar("_K")

_AUDIT_FILES: Final = "**/{.ai-audit,.git/ai-audit}/**"
"""The trails, and what waits for their commits (R29)."""
_KNOWLEDGE_FILES: Final = "**/.vouch/**"

FLUSH_PAUSE: Final = 2.0
"""Seconds without a record and without a change of any document, after which a trail is flushed."""

EVENTS_PAUSE: Final = 0.1
"""Seconds after an agent's event before it is recorded, with those that follow at once."""

POLLING_INTERVAL: Final = 0.5
"""Seconds between two looks at the trails, for a client that does not watch files."""
REFRESH_PAUSE: Final = 0.02
"""Seconds after a record before the client is told to refresh.

The answer goes out first, and a burst of records causes one refresh.
"""


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


def poll_trails(server: Server) -> Debouncer[str]:
    """Return what has a client that watches no files ask again, once it is scheduled.

    Neovim watches no files on Linux: what an agent writes there after the last request would not
    be seen before the next one. Some `stat` calls for each trail, file and knowledge base.
    """

    async def look(key: str) -> None:
        try:
            await refresh_outdated(server)
            await server.knowledge.refresh()
        finally:
            polling.schedule(key)

    polling = Debouncer(look, POLLING_INTERVAL)
    return polling


async def refresh_outdated(ls: Server) -> None:
    """Read what changed on disk, refresh the client, and look up git history again."""
    await refresh_documents(ls, ls.projects.outdated_documents())
    for project in ls.projects.all():
        if project.snapshot.history.is_done:
            await look_up_history(ls, project)


async def look_up_history(ls: Server, project: Project) -> None:
    """Look up git history for the open documents of a project, in a thread.

    The client is refreshed when answers change. One lookup at a time: a change meanwhile is covered
    by one more lookup at the end.
    """
    coverage, opened_in = project.coverage, ls.projects.opened_in
    if project.is_indexing or coverage.running.locked():
        return
    async with coverage.running:
        while request := coverage.request(
            opened_in(project),
            project.snapshot.renamed,
            use_git=ls.settings.use_git,
            use_notes=ls.settings.notes,
        ):
            history = await ls.run_in_thread(partial(project.history.look_up, request))
            project.accept_history(request, history)
            await _refresh_outdated_in(ls, project)
            if coverage.covers_all(opened_in(project)):
                look_up = partial(project.history.look_up_closed_files, request)
                closed = await ls.run_in_thread(look_up)
                if project.accept_closed_files(request, closed):
                    await refresh_project(ls, project)
            await _say_what_is_late(ls, project)


async def _refresh_outdated_in(ls: Server, project: Project) -> None:
    """Refresh the open documents of a project whose answers were provisional or are outdated."""
    opened = [document.uri for _, document in ls.projects.opened_in(project)]
    uris = opened if project.is_outdated else project.provisional_documents()
    project.mark_published()
    await refresh_documents(ls, uris)


async def _say_what_is_late(ls: Server, project: Project) -> None:
    """Show once which edits no hook has written into their commit (R29)."""
    place = waiting_place(project.directory)
    if place is None or not place.records.is_file():
        return
    # Imported late: a server for whose trails nothing waits starts without it.
    from vibes_lsp.maintenance.late_edits import late_notice  # noqa: PLC0415

    notice = await ls.run_in_thread(partial(late_notice, project.directory))
    if notice and notice != project.late_notice:
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, notice))
    project.late_notice = notice


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
        texts = open_texts(self._server.projects, project)
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
                    _flush(project, open_texts(self._server.projects, project))
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
        texts = open_texts(self._server.projects, project)
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


def open_texts(projects: Projects, project: Project) -> dict[str, str]:
    """Return the open documents of a project as they are now, by path relative to it."""
    return {path: document.content for path, document in projects.opened_in(project)}


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
    from vibes_lsp.recording import ABANDONED_AFTER  # noqa: PLC0415

    project.recorder.record_pending_completions(texts, others_after=ABANDONED_AFTER)
    project.recorder.flush()
    return project.recorder.has_pending_completions()


async def refresh_project(ls: Server, project: Project | None = None) -> None:
    """Tell the client that the answers about a project, by default all, are outdated."""
    uris = (
        ls.documents.uris()
        if project is None
        else [document.uri for _, document in ls.projects.opened_in(project)]
    )
    for outdated_project in ls.projects.all() if project is None else [project]:
        outdated_project.mark_published()
    await refresh_documents(ls, uris)


async def refresh_knowledge(ls: Server, project: str) -> None:
    """Tell the client that the answers about a knowledge base are outdated.

    Args:
        ls: The server.
        project: The folder of its project.
    """
    ls.protocol.notify(KNOWLEDGE_CHANGED, {"uri": Path(project).as_uri()})
    opened = [
        uri
        for uri in ls.documents.uris()
        if (path := path_of(uri)) is not None and path.is_relative_to(project)
    ]
    await _refresh_answers(ls, opened)


async def refresh_documents(ls: Server, uris: Sequence[str]) -> None:
    """Tell the client in every way it supports that answers about documents are outdated."""
    if not uris:
        return
    for uri in uris:
        ls.protocol.notify(PROVENANCE_CHANGED, {"uri": uri})
    await _refresh_answers(ls, uris)


async def _refresh_answers(ls: Server, uris: Sequence[str]) -> None:
    """Publish diagnostics, and have the client ask again for what it can be told to."""
    for uri in uris:
        await diagnostics.push(ls, uri)
        await asyncio.sleep(0)  # requests are answered in between
    if ls.declared("workspace", "code_lens", "refresh_support"):
        ls.workspace_code_lens_refresh(None)
    if ls.shows_inlay_hints and ls.declared("workspace", "inlay_hint", "refresh_support"):
        ls.workspace_inlay_hint_refresh(None)
    if diagnostics.is_pulled(ls):
        ls.workspace_diagnostic_refresh(None)


class FileWatchers:
    """Has the client watch the audit files; every answer looks at the disk all the same.

    Args:
        server: The server.
        poll: Called if the client does not watch files.
    """

    def __init__(self, server: Server, poll: Callable[[], None]) -> None:
        self._server = server
        self._poll = poll
        self._watched: set[Path] = set()
        self._watches_knowledge = False

    async def watch_folders(self) -> None:
        """Watch all trails below the client's folders, and those above them."""
        if not self._can_watch:
            self._poll()
            return
        await self._register("audit-files", _AUDIT_FILES)
        for folder in self._server.folders:
            await self.watch(folder)

    async def watch(self, uri: str) -> None:
        """Watch what the trail of a file or folder has outside the client's folders, if it can."""
        if not (self._can_watch and self._declares("relative_pattern_support")):
            return
        directory = audit_dir_at(uri)
        if directory is None:
            return
        place = waiting_place(directory)
        folders = [folder for folder in map(path_of, self._server.folders) if folder is not None]
        # a linked work tree has its trail in the client's folder, but what waits elsewhere
        for watched in (directory.path, *(() if place is None else (place.folder.resolve(),))):
            if watched in self._watched or any(
                watched.is_relative_to(folder) for folder in folders
            ):
                continue
            self._watched.add(watched)
            await self._register(
                f"audit-files-{len(self._watched)}", types.RelativePattern(watched.as_uri(), "**")
            )

    async def watch_knowledge(self, uri: str) -> None:
        """Watch knowledge bases from the first document on that belongs to one."""
        if not self._can_watch or self._server.knowledge.owner(uri) is None:
            return
        if not self._watches_knowledge:
            self._watches_knowledge = True
            await self._register("knowledge-files", _KNOWLEDGE_FILES)

    @property
    def _can_watch(self) -> bool:
        return self._declares("dynamic_registration")

    def _declares(self, name: str) -> bool:
        return bool(self._server.declared("workspace", "did_change_watched_files", name))

    async def _register(self, name: str, pattern: str | types.RelativePattern) -> None:
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(pattern)])
        await self._server.offer(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options, name)
