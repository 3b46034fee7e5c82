"""The review queue of a project: `vibes.queue`, at once or in parts while files are read."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from lsprotocol import types

from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.lsp.extensions import CommandName
from vibes_lsp.lsp.server import Server
from vibes_lsp.model.members import Members
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.found_annotations import FoundAnnotation
from vibes_lsp.reports.placement_texts import age_and_reasons
from vibes_lsp.reports.review_queue import ReviewProgress, review_progress
from vibes_lsp.risk.policy import Policy
from vibes_lsp.trail.trail import Trail

_MAX_QUEUE: Final = 1000
_PART_INTERVAL: Final = 0.25
"""Seconds between two parts: often enough to be watched, seldom enough to cost little."""


@dataclass(frozen=True, slots=True)
class QueueArguments:
    """The argument of `vibes.queue`.

    Attributes:
        uri: A file or folder of the project; by default the first workspace folder.
        limit: The largest number of placements to return, without a token.
        partialResultToken: Send the queue in parts, as `$/progress` with this token.
    """

    uri: str | None = None
    limit: int = 200
    partialResultToken: types.ProgressToken | None = None  # noqa: N815  # its name on the wire


class _Cancelled(Exception):
    """The client has cancelled the request."""


class _Parts:
    """Gathers what is found, file by file, and sends it in parts.

    Args:
        root: The project's folder.
        send: Sends a part; called in the thread that searches. None to send none.
    """

    def __init__(self, root: Path, send: Callable[[dict[str, Any]], None] | None) -> None:
        self.is_cancelled = threading.Event()
        self.sent: set[tuple[str, str]] = set()
        self._root = root
        self._send = send
        self._waiting: list[FoundAnnotation] = []
        self._reviewed = 0
        self._last = 0.0

    def add(self, progress: ReviewProgress) -> None:
        """Add what one file has, and send a part if it is time.

        Raises:
            _Cancelled: The request was cancelled.
        """
        if self.is_cancelled.is_set():
            raise _Cancelled
        if self._send is None:
            return
        self._waiting += progress.waiting
        self._reviewed += progress.reviewed
        if time.monotonic() - self._last >= _PART_INTERVAL:
            self.flush()

    def flush(self) -> None:
        """Send what was not sent yet."""
        if self._send is None:
            return
        self.sent.update(map(_key, self._waiting))
        self._send(
            {"placements": _with_uris(self._root, self._waiting), "reviewed": self._reviewed}
        )
        self._waiting = []
        self._last = time.monotonic()


def register(server: Server) -> None:
    """Offer the command."""

    @server.command(CommandName.QUEUE)
    async def queue(ls: Server, arguments: QueueArguments) -> dict[str, Any]:
        """Return `{placements, total, reviewed}`: the review queue of the project, as saved.

        The highest score comes first. `limit` is at most 1000.
        """
        project = await ls.indexed_project(arguments.uri)
        loop, root = asyncio.get_running_loop(), project.directory.project
        token = arguments.partialResultToken

        def send(token: types.ProgressToken, part: dict[str, Any]) -> None:
            loop.call_soon_threadsafe(ls.progress, types.ProgressParams(token, part))

        parts = _Parts(root, None if token is None else partial(send, token))
        work = partial(
            _search,
            project.snapshot.trail,
            project.snapshot.policy,
            parts,
            use_git=ls.settings.use_git,
        )
        try:
            found = await ls.run_in_thread(work)
        except OutdatedIndex:  # with what was sent already
            found = await ls.run_in_thread(work)
        finally:
            parts.is_cancelled.set()  # ends the search, if that is not done
        waiting = found.waiting
        counts = {"total": len(waiting), "reviewed": found.reviewed}
        if token is None:
            chosen = waiting[: max(0, min(arguments.limit, _MAX_QUEUE))]
            return {"placements": _with_uris(root, chosen), **counts}
        if parts.sent == set(map(_key, waiting)):
            return {"placements": [], **counts}
        return {"placements": _with_uris(root, waiting), "isWhole": True, **counts}


def _key(found: FoundAnnotation) -> tuple[str, str]:
    summary = found.summary
    return summary.file_path, summary.annotation_id


def _with_uris(root: Path, found: Sequence[FoundAnnotation]) -> list[Members]:
    now = datetime.now(UTC)
    return [
        {**facts, **age_and_reasons(facts, now), "uri": (root / str(facts["filePath"])).as_uri()}
        for facts in (each.facts for each in found)
    ]


def _search(beside: Trail, policy: Policy, parts: _Parts, *, use_git: bool) -> ReviewProgress:
    """Search all files, in a thread with a trail of its own; git is asked."""
    trail = Trail(beside.directory, uses_saved=True)
    with ProjectLocator(trail, use_git=use_git, use_cache=True) as locator:
        locator.refresh({})
        found = review_progress(locator, Scorer(trail, policy), parts.add)
    parts.flush()
    return found
