"""Have the client watch the files of trails and knowledge bases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from lsprotocol import types

from vibes_lsp.lsp.protocol.conversion import path_of
from vibes_lsp.lsp.state.projects import audit_dir_at
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.store.waiting import waiting_place

_AUDIT_FILES: Final = "**/{.ai-audit,.git/ai-audit}/**"
"""The trails, and what waits for their commits (R29)."""
_KNOWLEDGE_FILES: Final = "**/.vouch/**"


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
