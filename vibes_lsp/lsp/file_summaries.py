"""How much of a file is an AI's, and how much of it waits: for the badges of a file tree.

Files are read as they are saved, in a thread, with a trail of its own that is read once and then
followed: a request costs what its own files cost.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from vibes_lsp.errors import OutdatedIndex, UnreadableFile
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.model.members import Members
from vibes_lsp.reports.review_queue import FileSummary, summarise_file
from vibes_lsp.risk.policy import Policy
from vibes_lsp.trail.trail import Trail


class FileSummaries:
    """Summarises files of one project, as the review queue has them.

    Args:
        beside: The server's trail of the project, with which the manifest is shared.
    """

    def __init__(self, beside: Trail) -> None:
        self._beside = beside
        self._lock = threading.Lock()
        self._locator: ProjectLocator | None = None
        self._uses_git = False

    def summarise(self, paths: Sequence[str], policy: Policy, *, use_git: bool) -> list[Members]:
        """Return the summaries of those files that have annotations, in the given order.

        Args:
            paths: Relative to the project, forward slashes.
            policy: How risk is scored.
            use_git: Whether to ask git where lines are.
        """
        with self._lock:
            locator = self._open(use_git=use_git)
            locator.refresh({})
            try:
                found = _summaries(locator, policy, paths)
            except OutdatedIndex:
                locator.refresh({})
                found = _summaries(locator, policy, paths)
            finally:
                locator.trail.end_answer()
            return [each.as_json() for each in found]

    def close(self) -> None:
        """End git's process."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._locator is not None:
            self._locator.close()
            self._locator = None

    def _open(self, *, use_git: bool) -> ProjectLocator:
        if self._locator is not None and self._uses_git != use_git:
            self._end()
        if self._locator is None:
            trail = Trail(self._beside.directory, shared_with=self._beside, uses_saved=True)
            self._locator, self._uses_git = ProjectLocator(trail, use_git=use_git), use_git
        return self._locator


def _summaries(locator: ProjectLocator, policy: Policy, paths: Sequence[str]) -> list[FileSummary]:
    scorer = Scorer(locator.trail, policy)
    found = (_summary(locator, scorer, path) for path in paths)
    return [each for each in found if each is not None]


def _summary(locator: ProjectLocator, scorer: Scorer, path: str) -> FileSummary | None:
    """Return the summary of a file; None if it has no annotation, is a folder or is unreadable."""
    try:
        return summarise_file(locator, scorer, path)
    except OutdatedIndex:  # not of this file
        raise
    except UnreadableFile:
        return None
