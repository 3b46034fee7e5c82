"""Show which agent a commit's trailers name, for lines that nothing better is known of.

A trailer is about a whole commit: some of its lines may be a person's. So it is labelled as such,
is no annotation, and counts nowhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from vibes_lsp.exchange.brought_lines import BroughtLines, brought_lines
from vibes_lsp.history.agent_trailers import AgentTrailer, read_agent_trailers
from vibes_lsp.history.repository import Repository
from vibes_lsp.index.project_locator import ProjectLocator

_MAX_COMMITS: Final = 1 << 16
"""Commits whose trailers are kept."""


class TrailerOverlay:
    """Reads the trailers of the commits that lines come from; for one thread at a time.

    Args:
        locator: The project's locator, which reads git's history.
    """

    def __init__(self, locator: ProjectLocator) -> None:
        self._locator = locator
        self._repository: Repository | None = None
        self._trailers: dict[str, AgentTrailer | None] = {}

    def of(self, path: str) -> BroughtLines[AgentTrailer] | None:
        """Return the trailers of the lines of a file; None if there are none."""
        repository = self._locator.repository
        if repository is None:
            return None
        if repository != self._repository:
            self._repository, self._trailers = repository, {}
        versions = self._locator.file_versions(path)
        trailers = self._read(repository, [each.commit for each in versions])
        return brought_lines(
            self._locator,
            path,
            [each for each in versions if each.commit in trailers],
            lambda origin: trailers.get(origin.commit),
        )

    def _read(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, AgentTrailer]:
        """Return the trailers of those commits that have one; each commit is read once."""
        known = self._trailers
        new = [commit for commit in commits if commit not in known]
        cache = self._locator.cache()
        key = f"trailers {hashlib.sha256(''.join(new).encode()).hexdigest()}"
        saved = cache.get(key, list[AgentTrailer]) if new and cache else None
        found = (
            read_agent_trailers(repository, new)
            if saved is None
            else {each.commit: each for each in saved}
        )
        if found is not None:
            if cache is not None and new and saved is None:
                cache.put(key, list(found.values()))
            if len(known) > _MAX_COMMITS:
                known.clear()
            known.update({commit: found.get(commit) for commit in new})
        return {commit: each for commit in commits if (each := known.get(commit)) is not None}
