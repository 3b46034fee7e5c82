"""Work on the files of a project in two processes, each of which asks a git of its own.

What git answered the forked one is cached, and its failures are counted, as if this one had asked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

from vibes_lsp.history.commit_resolution import ResolvedCommit
from vibes_lsp.history.git import add_failures, failure_count
from vibes_lsp.history.git_cache import NotedFact
from vibes_lsp.index.forked_work import map_in_order
from vibes_lsp.index.moves import FoundMovedOut
from vibes_lsp.index.project_locator import ProjectLocator

_T = TypeVar("_T")
_R = TypeVar("_R")
_NAMES_AT_ONCE: Final = 32
"""Files whose gone text is looked for at once; fewer than `LineageCache` keeps."""


def map_files(
    locator: ProjectLocator, work: Callable[[_T], _R], items: Sequence[_T]
) -> Iterator[_R]:
    """Yield the result for each item in order; see `map_in_order`.

    Args:
        locator: The project's locator. What both processes need of git's history was read.
        work: A function that may ask the locator.
        items: The items.
    """
    cache, parent = locator.cache(), os.getpid()
    locator.head()  # read once: it may move

    def noted(item: _T) -> tuple[_R, int, list[NotedFact]]:
        if os.getpid() == parent:
            return work(item), 0, []
        if cache is not None:
            cache.noted_facts()
        failures = failure_count()
        result = work(item)
        return result, failure_count() - failures, [] if cache is None else cache.noted_facts()

    for result, failures, facts in map_in_order(noted, items):
        if failures:
            add_failures(failures)
        if cache is not None:
            cache.put_noted(facts)
        yield result


def find_moved_out(
    locator: ProjectLocator, names: Sequence[str]
) -> Iterator[tuple[str, FoundMovedOut]]:
    """Yield what is gone from files, and resolve the commits of their annotations.

    Both need the lineages of a file, so that these are built once.

    Args:
        locator: The project's locator.
        names: Recorded names of files, of which git's history was read.
    """
    resolved = locator.resolved_commits

    def find(some: Sequence[str]) -> tuple[list[FoundMovedOut], dict[str, ResolvedCommit]]:
        known = len(resolved)
        found = [locator.moved_out.find(name) for name in some]
        locator.resolve_all_commits(some)
        new = islice(reversed(resolved.items()), len(resolved) - known)
        return found, dict(new)

    batches = [
        names[start : start + _NAMES_AT_ONCE] for start in range(0, len(names), _NAMES_AT_ONCE)
    ]
    for some, (found, commits) in zip(batches, map_files(locator, find, batches), strict=True):
        locator.put_resolved(some, commits)
        yield from zip(some, found, strict=True)
