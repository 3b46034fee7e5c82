"""Create the server with all its features, and follow it from `initialize` to `exit`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from vibes_lsp.lsp import text_sync
from vibes_lsp.lsp.features import (
    attestation,
    call_hierarchy,
    code_actions,
    code_lens,
    completion,
    definition,
    diagnostics,
    folding,
    hover,
    inlay_hints,
    knowledge,
    provenance,
    queue,
    recording,
    references,
    selection,
    show,
    symbols,
)
from vibes_lsp.lsp.protocol.settings import read_settings
from vibes_lsp.lsp.state.background_flush import REFRESH_PAUSE, BackgroundFlush
from vibes_lsp.lsp.state.debouncer import Debouncer
from vibes_lsp.lsp.state.file_watchers import FileWatchers
from vibes_lsp.lsp.state.indexing import Indexing
from vibes_lsp.lsp.state.knowledge_bases import is_knowledge_file
from vibes_lsp.lsp.state.refresh import pulls_diagnostics, refresh_knowledge
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.shown_documents import ShownDocuments
from vibes_lsp.lsp.state.updates import poll_trails, refresh_outdated

_logger = logging.getLogger(__name__)
_IN_SOME_FILES: Final[Mapping[str, Any]] = {
    "call_hierarchy": call_hierarchy,
    "completion": completion,
    "folding_range": folding,
}
"""Features that only some files have, by the client's capability to register them for those."""


def create_server() -> Server:
    """Return a server that is ready to be started. The process is left as it is.

    Diagnostics are registered once the client has said whether it pulls them.
    """
    server = Server()
    flush = BackgroundFlush(server)
    indexing = Indexing(server)
    server.projects.on_change = flush.schedule_refresh
    server.projects.on_large_log = indexing.start
    polling = poll_trails(server)
    changes = Debouncer(partial(refresh_knowledge, server), REFRESH_PAUSE)
    server.knowledge.on_change = lambda state: changes.schedule(str(state.path.parent))
    watchers = FileWatchers(server, partial(polling.schedule, ""))
    relocations = text_sync.register(server, flush, watchers)
    for feature in (
        hover,
        code_lens,
        code_actions,
        references,
        definition,
        selection,
        symbols,
        provenance,
        queue,
        diagnostics,
    ):
        feature.register(server)
    shown = show.register(server)
    attestation.register(server, shown)
    knowledge.register(server, shown)
    recording.register(server, flush.schedule)
    _register_workspace(server, flush, watchers, shown, indexing)

    @server.feature(types.SHUTDOWN)
    def shutdown(ls: Server, *_params: Any) -> None:
        relocations.stop()
        polling.stop()
        changes.stop()
        ls.attestations.stop()
        indexing.stop()
        flush.flush_all()
        shown.close()

    return server


def _register_workspace(  # noqa: C901  # a list of handlers
    server: Server,
    flush: BackgroundFlush,
    watchers: FileWatchers,
    shown: ShownDocuments,
    indexing: Indexing,
) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        ls.use_settings(read_settings(params.initialization_options))
        encoding = ls.workspace.position_encoding or types.PositionEncodingKind.Utf16
        ls.documents.encoding = encoding
        ls.root = ls.workspace.root_uri if params.workspace_folders is None else None
        if pulls_diagnostics(ls):
            diagnostics.register_pull(ls)
        for name, feature in _IN_SOME_FILES.items():
            if not ls.can_register(name):
                feature.register(ls)
        inlay_hints.declare(ls)

    @server.feature(types.INITIALIZED)
    async def initialized(ls: Server, _params: types.InitializedParams) -> None:
        before = ls.settings
        await _configure(ls, None)
        if ls.settings != before:  # documents may be open by now
            await refresh_outdated(ls, everything=True)
        await watchers.watch_folders()
        await shown.offer(ls)
        for name, feature in _IN_SOME_FILES.items():
            if ls.can_register(name):
                feature.register(ls)
                for number, options in enumerate(feature.REGISTRATIONS):
                    await ls.offer(feature.METHOD, options, f"{feature.METHOD}-{number}")
        await inlay_hints.offer(ls)
        for folder in ls.folders:
            indexing.prepare(folder)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def did_change_folders(
        _ls: Server, params: types.DidChangeWorkspaceFoldersParams
    ) -> None:
        for folder in params.event.added:
            indexing.prepare(folder.uri)
            await watchers.watch(folder.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(
        ls: Server, params: types.DidChangeConfigurationParams
    ) -> None:
        await _configure(ls, params.settings)
        await inlay_hints.offer(ls)
        await refresh_outdated(ls, everything=True)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def did_change_watched_files(
        ls: Server, params: types.DidChangeWatchedFilesParams
    ) -> None:
        flush.schedule_events()
        await ls.knowledge.refresh(
            [change.uri for change in params.changes if is_knowledge_file(change.uri)]
        )
        await refresh_outdated(ls)


async def _configure(ls: Server, settings: object) -> None:
    """Ask the client for its settings; if it cannot be asked, use those of the notification."""
    if ls.declared("workspace", "configuration"):
        items = [types.ConfigurationItem(section="vibes")]
        try:
            answers = await ls.workspace_configuration_async(types.ConfigurationParams(items))
        except JsonRpcException as error:
            _logger.warning("the client does not send its settings: %s", error.message)
            return
        if answers and answers[0] is not None:
            ls.use_settings(read_settings(answers[0]))
    elif settings is not None:
        ls.use_settings(read_settings(settings))
