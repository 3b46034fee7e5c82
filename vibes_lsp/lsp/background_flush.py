"""Brings what was recorded to rest when a trail is left alone: held completions to the log, the journal to the manifest, all to the disk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from vibes_lsp.errors import UnreadableFile, VibesError
from vibes_lsp.lsp.idle import Idle
from vibes_lsp.lsp.project import Project
from vibes_lsp.lsp.projects import Projects
from vibes_lsp.lsp.server import Server

_logger = logging.getLogger(__name__)

QUIET: Final = 2.0
"""Seconds without a record, and without a change of any document, after which a trail is left alone."""

ANSWERED: Final = 0.02
"""Seconds after a record in which its answer goes out, before anything is worked out that nobody waits for; of a burst of records is told once."""


class BackgroundFlush:
    """Knows which trails have something to bring to rest.

    Args:
        server: The server.
        tell: Looks for changes on disk, and says which answers given before may be wrong now.
    """

    def __init__(self, server: Server, tell: Callable[[Server], Coroutine[Any, Any, None]]) -> None:
        self._server = server
        self._tell = tell
        self._quiet = Idle(self._rest, QUIET)
        self._answered = Idle(self._say, ANSWERED)
        self._at_it: set[str] = set()

    def recorded(self, project: Project) -> None:
        """Wait for the pause after something was recorded; say so once the command is answered."""
        self._quiet.changed(str(project.trail.directory.path))
        self.noticed(project)

    def noticed(self, project: Project) -> None:
        """Say, once the question is answered, that a trail has changed: the client may not watch it, or not yet."""
        self._answered.changed(str(project.trail.directory.path))

    def typed(self) -> None:
        """Wait on: somebody is at work."""
        self._quiet.postpone()

    def opened(self, uri: str) -> None:
        """Look after what another program, which may be dead, holds of a document's project."""
        found = self._server.projects.of(uri)
        if found is not None and found[0].pending:
            self.recorded(found[0])

    async def left(self, uri: str) -> None:
        """Record what is held of a document that was saved or closed."""
        found = self._server.projects.of(uri)
        if found is None or not found[0].pending:
            return
        project, path = found
        texts = open_texts(self._server.projects, project)
        with suppress(UnreadableFile):
            texts = {path: project.saved(path).content, **texts}
        await self._settle(
            project, partial(project.recorder.completions.settle, texts, paths={path})
        )

    async def _say(self, _key: str) -> None:
        await self._tell(self._server)

    async def _rest(self, key: str) -> None:
        project = next(
            (each for each in self._server.projects.all() if str(each.trail.directory.path) == key),
            None,
        )
        if project is None or project.loading:
            return
        goes_on = (
            key in self._at_it
        )  # a second one would only wait for the first, and keep a thread from those who ask
        if not goes_on:
            self._at_it.add(key)
            try:
                goes_on = await self._settle(
                    project, partial(_rest, project, open_texts(self._server.projects, project))
                )
            finally:
                self._at_it.discard(key)
        if goes_on:
            self.recorded(project)

    async def _settle(self, project: Project, settle: Callable[[], bool]) -> bool:
        """Return what settling returned; when it failed, whether anything is held."""
        try:
            told = await asyncio.get_running_loop().run_in_executor(
                self._server.thread_pool, settle
            )
        except VibesError as error:  # nothing is lost: it waits where it is
            _logger.warning(
                "%s is not brought to rest: %s", project.trail.directory.path, error.message
            )
            told = bool(project.pending)
        await self._say("")
        return told

    def shut_down(self) -> None:
        """Bring everything to rest, and wait for it."""
        self._quiet.stop()
        self._answered.stop()
        for project in self._server.projects.all():
            try:
                project.close()
                if "recorder" in vars(project):
                    _rest(project, open_texts(self._server.projects, project))
                    project.recorder.close()
            except VibesError as error:
                _logger.warning(
                    "%s is not brought to rest: %s", project.trail.directory.path, error.message
                )
            except Exception:  # whatever is wrong with one project, the others come to rest
                _logger.exception("%s is not brought to rest", project.trail.directory.path)


def open_texts(projects: Projects, project: Project) -> dict[str, str]:
    """Return the open documents of a project as they are now, by path relative to it."""
    return {path: document.content for path, document in projects.opened_in(project)}


def _rest(project: Project, texts: Mapping[str, str]) -> bool:
    """Bring to rest what was recorded here, and what nobody holds any more; raises a `VibesError` when that cannot be written.

    Returns:
        Whether anything is still held, by another program whose time is not over.
    """
    from vibes_lsp.recording import FORGOTTEN  # noqa: PLC0415  # a server that only reads starts without it

    project.recorder.completions.settle(texts, others_after=FORGOTTEN)
    project.recorder.rest()
    return project.recorder.completions.are_waiting()
