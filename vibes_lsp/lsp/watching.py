"""Has the client watch the audit files: all below its folders, and those of trails that lie elsewhere, as above a folder."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from vibes_lsp.errors import AuditDirNotFound
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.uris import path_of
from vibes_lsp.store.layout import find_audit_dir

_logger = logging.getLogger(__name__)
_EVERY: Final = "**/.ai-audit/**"


class Watching:
    """Knows what the client watches; where it cannot, every answer looks for itself.

    Args:
        server: The server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._watched: set[Path] = set()

    async def begin(self) -> None:
        """Have all trails below the client's folders watched, and those above them."""
        if self._capabilities is None:
            return
        await self._register("vibes-audit-files", _EVERY)
        for folder in self._server.folders:
            await self.include(folder)

    async def include(self, uri: str) -> None:
        """Have the trail that owns a file or folder watched, where it is in none of the client's folders and the client can watch there."""
        path = path_of(uri)
        if path is None or self._capabilities is None or not self._capabilities.relative_pattern_support:
            return
        try:
            directory = find_audit_dir(path).path
        except (AuditDirNotFound, OSError):
            return
        folders = [folder for folder in map(path_of, self._server.folders) if folder is not None]
        if directory in self._watched or any(directory.is_relative_to(folder) for folder in folders):
            return
        self._watched.add(directory)
        await self._register(f"vibes-audit-files-{len(self._watched)}", types.RelativePattern(directory.as_uri(), "**"))

    @property
    def _capabilities(self) -> Any:
        workspace = self._server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        return watching if watching is not None and watching.dynamic_registration else None

    async def _register(self, identifier: str, pattern: str | types.RelativePattern) -> None:
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(pattern)])
        registration = types.Registration(identifier, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        try:
            await self._server.client_register_capability_async(types.RegistrationParams([registration]))
        except JsonRpcException as error:
            _logger.warning("the client does not watch files: %s", error.message)
