"""Check a trail: a small one in a thread, a large one by `vibes check`, with progress.

A thread that checks for minutes would delay every answer of the server.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

from vibes_lsp.errors import CheckFailed
from vibes_lsp.lsp.state.child_process import run_vibes
from vibes_lsp.lsp.state.projects import MAX_READ, size_of
from vibes_lsp.lsp.state.server import Server, shown_progress
from vibes_lsp.model.members import Members
from vibes_lsp.store.audit_dir import AuditDir


async def check_project(server: Server, directory: AuditDir) -> Members:
    """Return what `vibes check --json` prints.

    Raises:
        VibesError: The trail cannot be checked.
    """
    if size_of(directory.log, directory.manifest) < MAX_READ:
        return await server.run_in_thread(partial(check, directory))
    async with shown_progress(server, "Checking the audit trail"):
        return (await run_vibes(directory, "check", failure=CheckFailed))[1]


def check(directory: AuditDir) -> Members:
    """Check a trail and return the report."""
    # Imported late: the server starts without the checks.
    from vibes_lsp.checks.context import open_context  # noqa: PLC0415
    from vibes_lsp.checks.report import check_trail  # noqa: PLC0415

    return check_trail(open_context(directory, datetime.now(UTC))).as_json()
