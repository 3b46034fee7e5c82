"""What happens when a document is opened, changed, saved, closed or renamed.

The protocol layer has opened, changed or closed the document in `Documents` before a handler here
runs.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from lsprotocol import types

from vibes_lsp.lsp.documents.config_file import config_document
from vibes_lsp.lsp.state.background_flush import BackgroundFlush
from vibes_lsp.lsp.state.debouncer import Debouncer
from vibes_lsp.lsp.state.file_watchers import FileWatchers
from vibes_lsp.lsp.state.knowledge_bases import is_knowledge_file
from vibes_lsp.lsp.state.refresh import (
    clear_diagnostics,
    push_diagnostics,
    refresh_documents,
)
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.updates import look_up_history, refresh_outdated

TYPING_PAUSE: Final = 0.2
"""Seconds without a change, after which the user has stopped typing."""
_EVERY_FILE: Final = types.FileOperationFilter(types.FileOperationPattern("**/*"))


def register(  # noqa: C901  # a list of handlers
    server: Server, flush: BackgroundFlush, watchers: FileWatchers
) -> Debouncer[str]:
    """Follow the client's documents; return what locates them again after a pause in typing."""
    relocations = Debouncer(partial(_relocate, server, flush), TYPING_PAUSE)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        uri = params.text_document.uri
        if ls.documents.is_refused(uri):
            ls.warn_too_large(uri)
            return
        flush.schedule_pending(uri)
        await push_diagnostics(ls, uri)
        await _look_up_history(ls, uri)
        await watchers.watch(uri)
        await watchers.watch_knowledge(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        """Touch no file: this runs for every key."""
        uri = params.text_document.uri
        relocations.schedule(uri)
        ls.documents.set_typing(uri, now=True)
        ls.cancel_diagnostics(uri)
        flush.postpone()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        uri = params.text_document.uri
        ls.documents.save(uri)
        owner = ls.projects.owner(uri)
        if owner is not None and owner[0].directory.waiting_events.is_dir():
            # Imported late: a server starts without what records.
            from vibes_lsp.ingest.command_files import note_saved_file  # noqa: PLC0415

            note_saved_file(owner[0].directory, owner[1])
        await flush.flush_document(uri)
        flush.schedule_events()
        if is_knowledge_file(uri):
            await ls.knowledge.refresh([uri])
        await push_diagnostics(ls, uri)
        if owner is not None:
            owner[0].coverage.add_change()
            await look_up_history(ls, owner[0])

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        relocations.cancel(uri)
        ls.projects.discard(uri)
        ls.knowledge.discard(uri)
        ls.answers.discard(uri)
        ls.cancel_diagnostics(uri)
        clear_diagnostics(ls, uri)
        await flush.flush_document(uri)

    @server.feature(
        types.WORKSPACE_DID_RENAME_FILES, types.FileOperationRegistrationOptions([_EVERY_FILE])
    )
    async def did_rename(ls: Server, params: types.RenameFilesParams) -> None:
        for file_rename in params.files:
            _rename(ls, file_rename.old_uri, file_rename.new_uri)
        await refresh_outdated(ls)
        for file_rename in params.files:
            await _look_up_history(ls, file_rename.new_uri)

    return relocations


async def _look_up_history(ls: Server, uri: str) -> None:
    owner = ls.projects.owner(uri)
    if owner is not None:
        await look_up_history(ls, owner[0])


async def _relocate(ls: Server, flush: BackgroundFlush, uri: str) -> None:
    """In the pause after typing: read the disk, and publish what no answer has said yet."""
    ls.documents.set_typing(uri, now=False)
    before = ls.projects.last_snapshot(uri)
    snapshot = ls.projects.snapshot(uri)
    is_outdated = (
        before is not None and snapshot is not None and before.placements != snapshot.placements
    )
    await ls.knowledge.relocate(uri)
    flush.schedule_events()  # the change may be that of an agent
    has_own_findings = is_knowledge_file(uri) or config_document(ls, uri) is not None
    if is_outdated or has_own_findings:
        await refresh_documents(ls, [uri])
    else:
        await push_diagnostics(ls, uri)


def _rename(ls: Server, old: str, new: str) -> None:
    """Rename a file or folder within a project."""
    before, after = ls.projects.owner(old), ls.projects.owner(new)
    if before is not None and after is not None and before[0] is after[0]:
        before[0].rename(before[1], after[1])
