"""Read what changed on disk and look up git history, and refresh the client by that."""

from __future__ import annotations

from functools import partial
from typing import Final

from lsprotocol import types

from vibes_lsp.lsp.state.debouncer import Debouncer
from vibes_lsp.lsp.state.projects import Project
from vibes_lsp.lsp.state.refresh import refresh_documents
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.store.waiting import waiting_place

POLLING_INTERVAL: Final = 0.5
"""Seconds between two looks at the trails, for a client that does not watch files."""


def poll_trails(server: Server) -> Debouncer[str]:
    """Return what has a client that watches no files ask again, once it is scheduled.

    Neovim watches no files on Linux: what an agent writes there after the last request would not
    be seen before the next one. Some `stat` calls for each trail, file and knowledge base.
    """

    async def look(key: str) -> None:
        try:
            await refresh_outdated(server)
            await server.knowledge.refresh()
        finally:
            polling.schedule(key)

    polling = Debouncer(look, POLLING_INTERVAL)
    return polling


async def refresh_outdated(ls: Server, *, everything: bool = False) -> None:
    """Read what changed on disk, refresh the client, and look up git history again.

    Args:
        ls: The server.
        everything: Whether the client has to ask about all documents again.
    """
    outdated = ls.projects.outdated_documents()
    await refresh_documents(ls, ls.documents.uris() if everything else outdated)
    for project in ls.projects.all():
        if project.snapshot.history.is_done:
            await look_up_history(ls, project)


async def look_up_history(ls: Server, project: Project) -> None:
    """Look up git history for the open documents of a project, in a thread.

    The client is refreshed when answers change. One lookup at a time: a change meanwhile is covered
    by one more lookup at the end.
    """
    coverage, opened_in = project.coverage, ls.projects.opened_in
    if project.is_indexing or coverage.running.locked():
        return
    async with coverage.running:
        while request := coverage.request(
            opened_in(project),
            project.snapshot.renamed,
            use_git=ls.settings.use_git,
            use_notes=ls.settings.notes,
        ):
            history = await ls.run_in_thread(partial(project.history.look_up, request))
            project.accept_history(request, history)
            if request.texts or project.is_outdated:
                await _refresh_outdated_in(ls, project)
            if request.of_all_files:
                await _say_what_is_late(ls, project)


async def _refresh_outdated_in(ls: Server, project: Project) -> None:
    """Refresh the open documents of a project whose answers were provisional or are outdated."""
    opened = [document.uri for _, document in ls.projects.opened_in(project)]
    uris = opened if project.is_outdated else ls.projects.provisional_in(project)
    project.mark_published()
    await refresh_documents(ls, uris)


async def _say_what_is_late(ls: Server, project: Project) -> None:
    """Show once which edits no hook has written into their commit (R29)."""
    place = waiting_place(project.directory)
    if place is None or not place.records.is_file():
        return
    # Imported late: a server for whose trails nothing waits starts without it.
    from vibes_lsp.maintenance.late_edits import late_notice  # noqa: PLC0415

    notice = await ls.run_in_thread(partial(late_notice, project.directory))
    if notice and notice != project.late_notice:
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, notice))
    project.late_notice = notice
