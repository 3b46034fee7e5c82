"""Provisional answers about open files, while a large trail is read for the first time.

Only hovers and placements that are shown use them. All that records, reviews, checks or gates
waits for the trail.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from vibes_lsp.errors import VibesError
from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp.child_process import end_process, start_module
from vibes_lsp.lsp.documents import Document, Documents
from vibes_lsp.lsp.knowledge_bases import RunInThread
from vibes_lsp.lsp.projects import Project, Projects
from vibes_lsp.lsp.snapshots import DocumentSnapshot, TrailSnapshot, snapshot_of_document
from vibes_lsp.lsp.temporary_folder import TemporaryFolder
from vibes_lsp.patience import EXCERPT
from vibes_lsp.store.audit_dir import AuditDir

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Excerpt:
    """The excerpt about one file, and the last snapshot that was made of it."""

    trail: TrailSnapshot
    document: Document | None = None
    revision: int = -1
    snapshot: DocumentSnapshot | None = None


class Excerpts:
    """The excerpts of trails that are being read.

    Args:
        documents: The open documents.
        projects: The trails.
        run: Runs a function in a thread.
        tell: Tells the client to ask again about a document.
    """

    def __init__(
        self,
        documents: Documents,
        projects: Projects,
        run: RunInThread,
        tell: Callable[[str], None],
    ) -> None:
        self._documents = documents
        self._projects = projects
        self._run = run
        self._tell = tell
        self._folders: dict[Path, TemporaryFolder] = {}  # of excerpts, by audit directory
        self._tasks: dict[tuple[Path, str], asyncio.Task[_Excerpt | None]] = {}
        self._known: dict[tuple[Path, str], _Excerpt] = {}
        self._turn = asyncio.Lock()  # one process at a time

    def prepare(self, uri: str) -> None:
        """Begin the excerpt about a document before a request asks for it.

        Only the first document of a trail: an excerpt delays the process that reads the trail.
        """
        owner = self._projects.owner(uri)
        if owner is None or not owner[0].is_loading:
            return
        project, path = owner
        if all(directory != project.directory.path for directory, _ in self._tasks):
            self._task(project, path)

    async def snapshot(self, uri: str) -> DocumentSnapshot | None:
        """Return an open document by its excerpt.

        None without one, if it takes too long, and if the trail was read in the meantime.
        """
        document, owner = self._documents.get(uri), self._projects.owner(uri)
        if document is None or owner is None or not owner[0].is_loading:
            return None
        project, path = owner
        task = self._task(project, path)
        if not task.done():
            await asyncio.wait([task], timeout=EXCERPT.limit)
        if not task.done():
            task.add_done_callback(lambda _: self._tell(uri))
            return None
        found = None if task.cancelled() else task.result()
        if found is None or not project.is_loading:
            return None
        return self._placed((project.directory.path, path), found, document)

    def discard(self, project: Project) -> None:
        """Delete the excerpts of a trail that was read."""
        directory = project.directory.path
        for key in [key for key in self._tasks if key[0] == directory]:
            self._known.pop(key, None)
            self._tasks.pop(key).cancel()
        folder = self._folders.pop(directory, None)
        if folder is not None:
            folder.remove()

    def stop(self) -> None:
        """Delete all excerpts."""
        for project in self._projects.all():
            self.discard(project)

    def _task(self, project: Project, path: str) -> asyncio.Task[_Excerpt | None]:
        """Return the task that reads the excerpt about a file, begun once."""
        key = project.directory.path, path
        task = self._tasks.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._read(project, path))
            self._tasks[key] = task
        return task

    async def _read(self, project: Project, path: str) -> _Excerpt | None:
        directory = project.directory
        async with self._turn:
            try:
                if directory.path not in self._folders:
                    self._folders[directory.path] = TemporaryFolder()
                folder = self._folders[directory.path].path
                target = AuditDir(Path(tempfile.mkdtemp(dir=folder)))
                process = await start_module(
                    "vibes_lsp.index.excerpt",
                    *(str(directory.path), path, str(target.path)),
                    reads_errors=False,
                )
            except (OSError, VibesError) as error:
                _logger.warning("no excerpt of the audit trail: %s", error)
                return None
            try:
                if await process.wait() != 0:
                    return None
                trail = Trail(directory, excerpt=target)
                await self._run(partial(trail.refresh))
            except VibesError as error:
                _logger.warning("no excerpt of the audit trail: %s", error.message)
                return None
            finally:
                if process.returncode is None:
                    await end_process(process)
        return _Excerpt(replace(project.snapshot, trail=trail, is_excerpt=True))

    def _placed(
        self, key: tuple[Path, str], excerpt: _Excerpt, document: Document
    ) -> DocumentSnapshot | None:
        last = self._known.get(key, excerpt)
        if last.document is not document or last.revision != document.revision:
            trail, path = excerpt.trail, key[1]
            history = trail.file_history(path, is_open=True)
            placements = tuple(trail.place(path, document.text, history))
            snapshot = snapshot_of_document(trail, path, document, placements, is_provisional=True)
            last = _Excerpt(trail, document, document.revision, snapshot)
            self._known[key] = last
        return last.snapshot
