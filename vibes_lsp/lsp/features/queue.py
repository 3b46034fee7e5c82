"""What waits for a review: `vibes.queue`, at once or in parts while files are read.

`vibes.files` has the numbers that a file tree shows.
"""

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

from vibes_lsp.errors import OutdatedIndex, UnreadableFile
from vibes_lsp.lsp.protocol.extensions import CommandName
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.model.members import Members
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.found_annotations import FoundAnnotation
from vibes_lsp.reports.placement_texts import age_and_reasons
from vibes_lsp.reports.review_queue import ReviewProgress, review_progress, summarise_file

_MAX_QUEUE: Final = 1000
_MAX_FILES: Final = 1000
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


@dataclass(frozen=True, slots=True)
class FilesArguments:
    """The argument of `vibes.files`: files of any project."""

    uris: list[str]


class _Cancelled(Exception):
    """The client has cancelled the request."""


class _Preview:
    """Sends what is found, file by file, until the answer has all.

    Args:
        root: The project's folder.
        send: Sends a part; called in the thread that searches. None to send none.
    """

    def __init__(self, root: Path, send: Callable[[dict[str, Any]], None] | None) -> None:
        self.is_cancelled = threading.Event()
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
        self._waiting += progress.waiting
        self._reviewed += progress.reviewed
        if self._send is not None and time.monotonic() - self._last >= _PART_INTERVAL:
            rows = _with_uris(self._root, self._waiting)
            self._send({"placements": rows, "reviewed": self._reviewed})
            self._waiting, self._reviewed, self._last = [], 0, time.monotonic()


def register(server: Server) -> None:
    """Offer the commands."""

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

        preview = _Preview(root, None if token is None else partial(send, token))
        try:
            progress = await ls.search(
                project, lambda locator, scorer: review_progress(locator, scorer, preview.add)
            )
        finally:
            preview.is_cancelled.set()  # ends the search, if that is not done
        waiting = progress.waiting
        counts = {"total": len(waiting), "reviewed": progress.reviewed}
        if token is None:
            chosen = waiting[: max(0, min(arguments.limit, _MAX_QUEUE))]
            return {"placements": _with_uris(root, chosen), **counts}
        return {"placements": _with_uris(root, waiting), "isWhole": True, **counts}

    @server.command(CommandName.FILES)
    async def files(ls: Server, arguments: FilesArguments) -> dict[str, Any]:
        """Return `{files}`, the numbers of files that have AI lines or wait for a review, as saved.

        Each is `{uri, filePath, lines, verifiedLines, claimedLines, editedLines, share, waiting,
        band}`: `waiting` is the number of annotations in the review queue, `band` their highest
        risk band or null. At most 1000 files are looked at.
        """
        await ls.projects.until_indexed(arguments.uris[:_MAX_FILES])
        summaries: list[Members] = []
        for project, uris in ls.projects.owners(arguments.uris[:_MAX_FILES]):
            numbers = await ls.search(project, partial(_summaries, list(uris)))
            summaries += ({**summary, "uri": uris[str(summary["filePath"])]} for summary in numbers)
        return {"files": summaries}


def _with_uris(root: Path, found_annotations: Sequence[FoundAnnotation]) -> list[Members]:
    now = datetime.now(UTC)
    return [
        {**facts, **age_and_reasons(facts, now), "uri": (root / str(facts["filePath"])).as_uri()}
        for facts in (annotation.facts for annotation in found_annotations)
    ]


def _summaries(paths: Sequence[str], locator: ProjectLocator, scorer: Scorer) -> list[Members]:
    """Return the numbers of those files that have annotations.

    A path may be that of a folder, or of a file that cannot be read.
    """
    summaries: list[Members] = []
    for path in paths:
        try:
            summary = summarise_file(locator, scorer, path)
        except OutdatedIndex:  # not of this file
            raise
        except UnreadableFile:
            continue
        if summary is not None:
            summaries.append(summary.as_json())
    return summaries
