"""Checks of whole trails: of a large one in a process of its own, with progress.

A thread that checks a large trail would delay every answer of the server.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Final

from vibes_lsp.errors import CheckFailed
from vibes_lsp.lsp.child_process import CHECK, run_task
from vibes_lsp.lsp.child_work import check
from vibes_lsp.lsp.projects import MAX_READ
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.shown_progress import shown_progress
from vibes_lsp.model.members import Members, text
from vibes_lsp.store.audit_dir import AuditDir

_TITLE: Final = "Checking the audit trail"
_SHARES: Final = {"log": (0, 15), "lineages": (15, 25), "records": (25, 90), "entries": (90, 99)}
"""The part of the progress that each step of a check takes, in percent."""


async def check_project(server: Server, directory: AuditDir, path: str | None = None) -> Members:
    """Return what `vibes check --json` prints, or only the first findings about one file.

    Raises:
        VibesError: The trail cannot be checked.
    """
    if not _is_large(directory):
        return await server.run_in_thread(partial(check, directory, path))
    return await _check_in_process(server, directory, path)


def _is_large(directory: AuditDir) -> bool:
    size = 0
    for file in (directory.log, directory.manifest):
        with suppress(OSError):
            size += file.stat().st_size
    return size >= MAX_READ


async def _check_in_process(server: Server, directory: AuditDir, path: str | None) -> Members:
    async with shown_progress(server, _TITLE) as show:

        def show_step(step: str, percentage: int) -> None:
            if step in _SHARES:
                first, last = _SHARES[step]
                show(first + (last - first) * percentage // 100, step)

        paths = () if path is None else (path,)
        result = await run_task(CHECK, directory, *paths, show=show_step)
    problem = text(result, "problem")
    if problem is not None:
        raise CheckFailed(problem)
    return result
