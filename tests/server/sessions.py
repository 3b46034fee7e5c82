"""Sessions of one test's own, for what a client says at the start: folders, options, settings."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

from lsprotocol import types

from tests import forked
from tests.server.conftest import START
from tests.server.editor import Editor, EditorClient
from tests.server.profiles import capabilities_of

_SERVER: Final = (
    f"import os, sys; os.dup2(os.open(sys.argv.pop(), os.O_WRONLY | os.O_CREAT), 2); {START}"
)
_LOG: Final = "server.log"


@contextlib.asynccontextmanager
async def session(
    place: Path,
    folders: Sequence[Path],
    *,
    profile: str = "vscode_current",
    options: object = None,
    settings: object = None,
    experimental: object = None,
    watches: types.DidChangeWatchedFilesClientCapabilities | None = None,
    is_killed: bool = False,
) -> AsyncIterator[Editor]:
    """Run a server until the end of the block; what it logs is in `log_of(place)`.

    Args:
        place: An existing folder, for the log.
        folders: The workspace folders; there may be none.
        profile: What the client can do.
        options: Its `initializationOptions`.
        experimental: Its `experimental` capabilities.
        watches: What files it can watch, if not as the profile has it.
        is_killed: Whether the test kills the server.
        settings: What it answers when it is asked for section `vibes`; None for nothing.
    """
    client = EditorClient()
    client.profile = profile
    if settings is not None:
        client.set_configuration(settings, section="vibes")
    capabilities = capabilities_of(profile)
    capabilities.experimental = (
        experimental if experimental is not None else capabilities.experimental
    )
    if watches is not None:
        assert capabilities.workspace is not None
        capabilities.workspace.did_change_watched_files = watches
    log = str(place / _LOG)
    if is_killed or os.name == "nt":
        await client.start_io(sys.executable, "-c", _SERVER, log)
    else:
        script = 'exec "$0" 2> "$1"'
        await client.start_io("sh", "-c", script, str(forked.program("vibes-lsp")), log)
    try:
        await client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities,
                root_uri=folders[0].as_uri() if folders else None,
                workspace_folders=[as_folder(each) for each in folders],
                initialization_options=options,
            )
        )
        editor = Editor(client)
        await editor.begun()
        yield editor
        await client.shutdown_session()
    finally:
        server = client._server
        if server is not None and server.returncode is None:  # the test failed
            assert server.stdin is not None
            server.stdin.close()  # a signal would end only what stands in for a forked server
        await client.stop()  # type: ignore[no-untyped-call]  # of pytest-lsp


def as_folder(path: Path) -> types.WorkspaceFolder:
    """Return a folder as a client names it."""
    return types.WorkspaceFolder(uri=path.as_uri(), name=path.name)


def log_of(place: Path) -> str:
    """Return what a server logged, once its session is over."""
    return (place / _LOG).read_text(encoding="utf-8")
