"""The commands that ask about a trail: `vibes.show`, `vibes.check`, `vibes.queue`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from vibes_lsp.checks.context import open_context
from vibes_lsp.checks.report import check_trail
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.lookup import look_up, look_up_exact
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp.server import Server, answered
from vibes_lsp.model.members import Members
from vibes_lsp.reports.review_queue import review_queue
from vibes_lsp.reports.show import found_as_json
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.audit_dir import AuditDir

_LONGEST_QUEUE = 1000


@dataclass(frozen=True, slots=True)
class ShowArguments:
    """What `vibes.show` takes: an id or a unique prefix of one; `uri` picks the trail where there are several."""

    id: str
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class CheckArguments:
    """What `vibes.check` takes: a file or folder whose trail is meant; by default the first workspace folder's."""

    uri: str | None = None


@dataclass(frozen=True, slots=True)
class QueueArguments:
    """What `vibes.queue` takes: a file or folder whose trail is meant, by default the first workspace folder's; how many at most."""

    uri: str | None = None
    limit: int = 200


def register(server: Server) -> None:
    """Offer the commands."""

    @server.command("vibes.show")
    async def show(ls: Server, arguments: ShowArguments) -> dict[str, Any]:
        trail = answered(lambda: ls.project(arguments.uri).read()).snapshot.trail
        whole = answered(lambda: look_up_exact(trail, arguments.id))
        if whole is not None:
            return answered(lambda: found_as_json(trail, whole))
        work = partial(_searched, trail.directory, arguments.id)
        return await asyncio.get_running_loop().run_in_executor(ls.thread_pool, answered, work)

    @server.command("vibes.check")
    async def check(ls: Server, arguments: CheckArguments) -> dict[str, Any]:
        directory = answered(lambda: ls.project(arguments.uri)).directory
        async with ls.checking:
            return await asyncio.get_running_loop().run_in_executor(
                ls.thread_pool, answered, partial(_checked, directory)
            )

    @server.command("vibes.queue")
    async def queue(ls: Server, arguments: QueueArguments) -> dict[str, Any]:
        project = answered(lambda: ls.project(arguments.uri).read())
        work = partial(
            _queue, project.directory, project.snapshot.policy, use_git=ls.settings.use_git
        )
        waiting = await asyncio.get_running_loop().run_in_executor(ls.thread_pool, answered, work)
        shown_ones = waiting[: max(0, min(arguments.limit, _LONGEST_QUEUE))]
        root = project.directory.project
        return {
            "placements": [
                {**each, "uri": (root / str(each["filePath"])).as_uri()} for each in shown_ones
            ],
            "total": len(waiting),
        }


def _searched(directory: AuditDir, prefix: str) -> Members:
    """Return what a prefix of an id names, with its edges; in a thread, with a trail of its own, for the whole log is read."""
    trail = Trail(directory)
    trail.refresh()
    return found_as_json(trail, look_up(trail, prefix))


def _checked(directory: AuditDir) -> Members:
    """Return what a check of a trail finds, as of `vibes check --json`; in a thread, for every record is read."""
    return check_trail(open_context(directory, datetime.now(UTC))).as_json()


def _queue(directory: AuditDir, policy: Policy, *, use_git: bool) -> list[Members]:
    """Return what waits for a review; in a thread, with a trail of its own, for all files are read and git is asked about them."""
    trail = Trail(directory)
    with ProjectLocator(trail, use_git=use_git) as locator:
        locator.refresh({})
        return review_queue(locator, Scorer(trail, policy))
