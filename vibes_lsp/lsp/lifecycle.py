"""The server's life: what the client can do, what the user chose, documents that come and go, trails that change on disk."""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from vibes_lsp.errors import AuditDirNotFound, VibesError
from vibes_lsp.history.derived import DerivedCommit
from vibes_lsp.history.repository import open_repository
from vibes_lsp.index.commits import derive_commits
from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp.features import diagnostics
from vibes_lsp.lsp.messages import PROVENANCE_CHANGED
from vibes_lsp.lsp.projects import path_of
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.settings import read_settings
from vibes_lsp.store.layout import AuditDir, find_audit_dir

_logger = logging.getLogger(__name__)
_LARGE = 4 << 20
"""A log of this many bytes is read in a thread, with progress."""


def register(server: Server) -> None:  # noqa: C901  # a list of handlers
    """Follow the client through its life."""

    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        ls.settings = read_settings(params.initialization_options)
        ls.documents.encoding = ls.workspace.position_encoding or types.PositionEncodingKind.Utf16
        if _pulls(params.capabilities):
            diagnostics.register(ls)

    @server.feature(types.INITIALIZED)
    async def initialized(ls: Server, _params: types.InitializedParams) -> None:
        before = ls.settings
        await _configure(ls, None)
        if ls.settings != before:  # documents may be open by now
            await _tell(ls)
        await _watch(ls)
        for folder in list(ls.workspace.folders.values()):
            await _load(ls, folder.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.added:
            await _load(ls, folder.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration(ls: Server, params: types.DidChangeConfigurationParams) -> None:
        await _configure(ls, params.settings)
        await _tell(ls)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(ls: Server, _params: types.DidChangeWatchedFilesParams) -> None:
        if ls.projects.news():
            await _tell(ls)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        await _push(ls, params.text_document.uri)
        await _derive(ls, params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        await _push(ls, params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        await _push(ls, params.text_document.uri)
        await _derive(ls, params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        ls.projects.forget(params.text_document.uri)
        ls.publishing.pop(params.text_document.uri, None)
        if not _pulls(ls.client_capabilities):
            ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))

    @server.feature(types.SHUTDOWN)
    def shutdown(ls: Server, *_params: Any) -> None:
        ls.said_goodbye = True

    @server.feature(types.EXIT)
    def left(ls: Server, *_params: Any) -> None:
        ls.exit_code = 0 if ls.said_goodbye else 1


def _pulls(capabilities: types.ClientCapabilities) -> bool:
    return capabilities.text_document is not None and capabilities.text_document.diagnostic is not None


async def _push(ls: Server, uri: str) -> None:
    if not _pulls(ls.client_capabilities):
        await diagnostics.publish(ls, uri)


async def _tell(ls: Server) -> None:
    """Say that answers given before may be wrong now, in every way the client understands."""
    for project in ls.projects.all():
        project.told = project.generation
    for uri in ls.documents.uris():
        ls.protocol.notify(PROVENANCE_CHANGED, {"uri": uri})
        await _push(ls, uri)
    workspace = ls.client_capabilities.workspace
    if workspace is None:
        return
    if workspace.code_lens is not None and workspace.code_lens.refresh_support:
        ls.workspace_code_lens_refresh(None)
    if _pulls(ls.client_capabilities) and workspace.diagnostics is not None and workspace.diagnostics.refresh_support:
        ls.workspace_diagnostic_refresh(None)


async def _configure(ls: Server, given: object) -> None:
    """Take settings from the client when it can be asked, else as given with the notification."""
    workspace = ls.client_capabilities.workspace
    if workspace is not None and workspace.configuration:
        items = [types.ConfigurationItem(section="vibes")]
        try:
            answers = await ls.workspace_configuration_async(types.ConfigurationParams(items))
        except JsonRpcException as error:
            _logger.warning("the client does not tell its settings: %s", error.message)
            return
        if answers and answers[0] is not None:
            ls.settings = read_settings(answers[0])
    elif given is not None:
        ls.settings = read_settings(given)


async def _watch(ls: Server) -> None:
    """Have the client watch the audit files; where it cannot, every answer looks for itself."""
    workspace = ls.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace is not None else None
    if watching is None or not watching.dynamic_registration:
        return
    options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher("**/.ai-audit/**")])
    registration = types.Registration("vibes-audit-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    try:
        await ls.client_register_capability_async(types.RegistrationParams([registration]))
    except JsonRpcException as error:
        _logger.warning("the client does not watch files: %s", error.message)


async def _load(ls: Server, uri: str) -> None:
    """Read a large trail ahead of the first question, in a thread, with progress."""
    path = path_of(uri)
    if path is None:
        return
    try:
        directory = find_audit_dir(path)
        size = directory.log.stat().st_size if directory.log.is_file() else 0
    except (AuditDirNotFound, OSError):
        return
    if size < _LARGE:
        return
    project = ls.projects.known(directory)
    project.loading = True
    token = await _begin_progress(ls)
    loop = asyncio.get_running_loop()

    def report(done: int) -> None:
        if token is not None:
            percentage = min(99, 100 * done // size)
            loop.call_soon_threadsafe(ls.work_done_progress.report, token, types.WorkDoneProgressReport(percentage=percentage))

    try:
        await loop.run_in_executor(ls.thread_pool, lambda: project.trail.refresh(progress=report))
    finally:
        project.loading = False
        if token is not None:
            ls.work_done_progress.end(token, types.WorkDoneProgressEnd())
            ls.work_done_progress.tokens.pop(token, None)  # pygls keeps them for ever
    project.generation += 1
    await _tell(ls)


async def _begin_progress(ls: Server) -> str | None:
    window = ls.client_capabilities.window
    if window is None or not window.work_done_progress:
        return None
    token = f"vibes-load-{uuid4()}"
    try:
        await ls.work_done_progress.create_async(token)
    except JsonRpcException as error:
        _logger.warning("the client shows no progress: %s", error.message)
        return None
    ls.work_done_progress.begin(token, types.WorkDoneProgressBegin("Reading the audit trail", percentage=0))
    return token


async def _derive(ls: Server, uri: str) -> None:
    """Look up the commits of annotations that record none, in a thread, and say so when any was found."""
    found = ls.projects.of(uri)
    if found is None or found[0].loading:
        return
    project = found[0]
    derived = await asyncio.get_running_loop().run_in_executor(ls.thread_pool, _derived, project.trail.directory)
    if derived != project.derived or not project.derived_known:
        project.derived, project.derived_known = derived, True
        project.generation += 1
        await _tell(ls)


def _derived(directory: AuditDir) -> dict[str, DerivedCommit]:
    """Work on a trail of its own: the one that answers stays on the loop."""
    repository = open_repository(directory.project)
    if repository is None:
        return {}
    try:
        trail = Trail(directory, nearest=repository.nearest_ancestor)
        trail.refresh()
        return derive_commits(trail.lineages(), repository, directory)
    except VibesError as error:
        _logger.warning("commits could not be derived: %s", error.message)
        return {}
