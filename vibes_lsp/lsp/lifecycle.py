"""The server's life cycle: capabilities, settings, documents that open and close, trails that change on disk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from vibes_lsp.errors import AuditDirNotFound
from vibes_lsp.lsp import showing
from vibes_lsp.lsp.background_flush import BackgroundFlush
from vibes_lsp.lsp.features import diagnostics
from vibes_lsp.lsp.idle import Idle
from vibes_lsp.lsp.interpreter import keep_what_is_there
from vibes_lsp.lsp.messages import PROVENANCE_CHANGED
from vibes_lsp.lsp.project import Project
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.settings import read_settings
from vibes_lsp.lsp.uris import path_of
from vibes_lsp.store.audit_dir import find_audit_dir

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
        if (
            path is None
            or self._capabilities is None
            or not self._capabilities.relative_pattern_support
        ):
            return
        try:
            directory = find_audit_dir(path).path
        except (AuditDirNotFound, OSError):
            return
        folders = [folder for folder in map(path_of, self._server.folders) if folder is not None]
        if directory in self._watched or any(
            directory.is_relative_to(folder) for folder in folders
        ):
            return
        self._watched.add(directory)
        await self._register(
            f"vibes-audit-files-{len(self._watched)}",
            types.RelativePattern(directory.as_uri(), "**"),
        )

    @property
    def _capabilities(self) -> Any:
        workspace = self._server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        return watching if watching is not None and watching.dynamic_registration else None

    async def _register(self, identifier: str, pattern: str | types.RelativePattern) -> None:
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(pattern)])
        registration = types.Registration(
            identifier, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options
        )
        try:
            await self._server.client_register_capability_async(
                types.RegistrationParams([registration])
            )
        except JsonRpcException as error:
            _logger.warning("the client does not watch files: %s", error.message)


_LARGE = 4 << 20
"""A log of this many bytes is read in a thread, with progress."""


def register(server: Server, resting: BackgroundFlush) -> None:  # noqa: C901, PLR0915  # a list of handlers
    """Follow the client through its life."""
    idle = Idle(partial(_locate_anew, server))
    watching = Watching(server)

    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        ls.choose(read_settings(params.initialization_options))
        ls.documents.encoding = ls.workspace.position_encoding or types.PositionEncodingKind.Utf16
        ls.root = ls.workspace.root_uri if params.workspace_folders is None else None
        if _pulls(params.capabilities):
            diagnostics.register(ls)

    @server.feature(types.INITIALIZED)
    async def initialized(ls: Server, _params: types.InitializedParams) -> None:
        before = ls.settings
        await _configure(ls, None)
        if ls.settings != before:  # documents may be open by now
            await tell(ls)
        await watching.begin()
        await showing.offer(ls)
        keep_what_is_there()
        for folder in ls.folders:
            await _load(ls, folder)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.added:
            await _load(ls, folder.uri)
            await watching.include(folder.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration(ls: Server, params: types.DidChangeConfigurationParams) -> None:
        await _configure(ls, params.settings)
        await tell(ls)
        await catch_up(ls)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(ls: Server, _params: types.DidChangeWatchedFilesParams) -> None:
        await catch_up(ls)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        resting.opened(params.text_document.uri)
        await _push(ls, params.text_document.uri)
        await _look_for(ls, params.text_document.uri)
        await watching.include(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(
        ls: Server, params: types.DidChangeTextDocumentParams
    ) -> None:  # nothing here looks at the disk
        idle.changed(params.text_document.uri)
        ls.documents.in_flux(params.text_document.uri, now=True)
        ls.publishing.pop(params.text_document.uri, None)  # what is being checked is an older text
        resting.typed()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        await resting.left(params.text_document.uri)
        await _push(ls, params.text_document.uri)
        found = ls.projects.of(params.text_document.uri)
        if found is not None:
            found[0].asked.changes += 1
            await _look(ls, found[0])

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        idle.closed(params.text_document.uri)
        ls.projects.forget(params.text_document.uri)
        ls.answers.forget(params.text_document.uri)
        ls.publishing.pop(params.text_document.uri, None)
        if not _pulls(ls.client_capabilities):
            ls.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(params.text_document.uri, [])
            )
        await resting.left(params.text_document.uri)

    every_file = types.FileOperationFilter(types.FileOperationPattern("**/*"))

    @server.feature(
        types.WORKSPACE_DID_RENAME_FILES, types.FileOperationRegistrationOptions([every_file])
    )
    async def renamed(ls: Server, params: types.RenameFilesParams) -> None:
        for project in {
            id(found): found
            for each in params.files
            if (found := _renamed(ls, each.old_uri, each.new_uri)) is not None
        }.values():
            await tell(ls, project)
        for each in params.files:
            await _look_for(ls, each.new_uri)

    @server.feature(types.SHUTDOWN)
    def shutdown(ls: Server, *_params: Any) -> None:
        ls.said_goodbye = True
        idle.stop()
        resting.shut_down()
        ls.showing.close()

    @server.feature(types.EXIT)
    def left(ls: Server, *_params: Any) -> None:
        ls.exit_code = 0 if ls.said_goodbye else 1


def _pulls(capabilities: types.ClientCapabilities) -> bool:
    """Whether a client is to ask for diagnostics: one that cannot be told to ask again would keep showing a risk that was reviewed."""
    workspace, document = capabilities.workspace, capabilities.text_document
    can_be_told = (
        workspace is not None
        and workspace.diagnostics is not None
        and bool(workspace.diagnostics.refresh_support)
    )
    return can_be_told and document is not None and document.diagnostic is not None


async def _push(ls: Server, uri: str) -> None:
    if not _pulls(ls.client_capabilities):
        await diagnostics.publish(ls, uri)


async def tell(ls: Server, only: Project | None = None) -> None:
    """Say that answers given before may be wrong now, in every way the client understands: about all documents, or those of a project."""
    uris = (
        ls.documents.uris()
        if only is None
        else [document.uri for _, document in ls.projects.opened_in(only)]
    )
    for project in ls.projects.all() if only is None else [only]:
        project.told = project.generation
    await tell_about(ls, uris)


async def catch_up(ls: Server) -> None:
    """Look for changes on disk; say which answers may be wrong by them, and ask history again."""
    await tell_about(ls, ls.projects.news())
    for project in ls.projects.all():
        if project.looked.is_done:
            await _look(ls, project)


async def tell_about(ls: Server, uris: Sequence[str]) -> None:
    """Say that answers about some documents may be wrong now, if there are any."""
    if not uris:
        return
    for uri in uris:
        ls.protocol.notify(PROVENANCE_CHANGED, {"uri": uri})
        await _push(ls, uri)
        await asyncio.sleep(0)  # whoever asks for something is answered in between
    workspace = ls.client_capabilities.workspace
    if workspace is None:
        return
    if workspace.code_lens is not None and workspace.code_lens.refresh_support:
        ls.workspace_code_lens_refresh(None)
    if _pulls(ls.client_capabilities):
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
            ls.choose(read_settings(answers[0]))
    elif given is not None:
        ls.choose(read_settings(given))


async def _load(ls: Server, uri: str) -> None:
    """Read a large trail ahead of the first question, in a thread, with progress; once, whatever folders and answers it serves."""
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
    if project.loading or project.trail.log.generation:
        return
    project.loading = True
    token = await _begin_progress(ls)
    loop = asyncio.get_running_loop()

    def report(done: int) -> None:
        if token is not None:
            percentage = min(99, 100 * done // size)
            loop.call_soon_threadsafe(
                ls.work_done_progress.report,
                token,
                types.WorkDoneProgressReport(percentage=percentage),
            )

    try:
        await loop.run_in_executor(ls.thread_pool, lambda: project.trail.refresh(progress=report))
    finally:
        project.loading = False
        if token is not None:
            ls.work_done_progress.end(token, types.WorkDoneProgressEnd())
            ls.work_done_progress.tokens.pop(token, None)  # pygls keeps them for ever
    keep_what_is_there()
    project.turn_over()
    await tell(ls)
    if ls.projects.opened_in(project):  # commits were not looked up while it was read
        await _look(ls, project)


async def _locate_anew(ls: Server, uri: str) -> None:
    """In the pause after typing: locate a document's annotations in a thread, and publish what a client is to be told."""
    ls.documents.in_flux(uri, now=False)
    ls.projects.of(uri)  # looks at the disk, which nothing did while somebody typed
    following = ls.projects.following(uri)
    is_news = False
    if following is not None and (snapshot := following.snapshot()) is not None:
        found = await asyncio.get_running_loop().run_in_executor(ls.thread_pool, snapshot.locate)
        is_news = following is ls.projects.following(uri) and following.take(snapshot, found)
    await (tell_about(ls, [uri]) if is_news else _push(ls, uri))


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
    ls.work_done_progress.begin(
        token, types.WorkDoneProgressBegin("Reading the audit trail", percentage=0)
    )
    return token


async def _look_for(ls: Server, uri: str) -> None:
    found = ls.projects.of(uri)
    if found is not None:
        await _look(ls, found[0])


async def _look(ls: Server, project: Project) -> None:
    """Ask git's history in a thread about all open documents of a project, and say so when answers are others by it.

    One look at a time: what changes meanwhile is served by one more look afterwards, so that none is overtaken.
    """
    asked = project.asked
    if asked.is_running or project.loading:
        return
    asked.is_running = True
    loop = asyncio.get_running_loop()
    try:
        while (
            project.wants_look(opened := ls.projects.opened_in(project))
            or asked.elsewhere < asked.until
        ):
            changes, texts = asked.changes, {path: document.text for path, document in opened}
            look = partial(
                project.history.look,
                texts,
                dict(project.renamed),
                list(project.nearest.asked),
                use_git=ls.settings.use_git,
            )
            looked = await loop.run_in_executor(ls.thread_pool, look)
            asked.until, asked.texts = changes, texts
            if project.take(looked):
                await tell(ls, project)
            else:
                await tell_about(ls, project.provisional())
            if not project.wants_look(ls.projects.opened_in(project)):
                project.elsewhere = await loop.run_in_executor(
                    ls.thread_pool, project.history.look_elsewhere
                )
                asked.elsewhere = changes
    finally:
        asked.is_running = False


def _renamed(ls: Server, old: str, new: str) -> Project | None:
    """Take in that the client renamed a file or folder within a project."""
    before, after = ls.projects.of(old), ls.projects.of(new)
    if before is None or after is None or before[0] is not after[0]:
        return None
    before[0].rename(before[1], after[1])
    return before[0]
