"""Make the client ask again: the trails that it watches, and its outdated answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from lsprotocol import types

from vibes_lsp.errors import AuditDirNotFound
from vibes_lsp.lsp.conversion import path_of
from vibes_lsp.lsp.extensions import KNOWLEDGE_CHANGED, PROVENANCE_CHANGED
from vibes_lsp.lsp.features import diagnostics
from vibes_lsp.lsp.projects import Project
from vibes_lsp.lsp.server import Server
from vibes_lsp.store.audit_dir import find_audit_dir
from vibes_lsp.store.waiting import waiting_place

_logger = logging.getLogger(__name__)
_AUDIT_FILES: Final = "**/{.ai-audit,.git/ai-audit}/**"
"""The trails, and what waits for their commits (R29)."""
_KNOWLEDGE_FILES: Final = "**/.vouch/**"


async def refresh_project(ls: Server, project: Project | None = None) -> None:
    """Tell the client that the answers about a project, by default all, are outdated."""
    uris = (
        ls.documents.uris()
        if project is None
        else [document.uri for _, document in ls.projects.opened_in(project)]
    )
    for each in ls.projects.all() if project is None else [project]:
        each.mark_published()
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
        path = path_of(uri)
        if path is None or not (self._can_watch and self._declares("relative_pattern_support")):
            return
        try:
            directory = find_audit_dir(path)
            place = waiting_place(directory)
        except (AuditDirNotFound, OSError):
            return
        folders = [folder for folder in map(path_of, self._server.folders) if folder is not None]
        # a linked work tree has its trail in the client's folder, but what waits elsewhere
        for watched in (directory.path, *(() if place is None else (place.folder.resolve(),))):
            if watched in self._watched or any(watched.is_relative_to(each) for each in folders):
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
