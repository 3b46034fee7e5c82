"""Show which agent a commit's trailers name, for lines that nothing better is known of.

A trailer is about a whole commit: some of its lines may be a person's. So it is labelled as such,
is no annotation, and counts nowhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.anchors.line_map import LineMap
from vibes_lsp.anchors.text import Text
from vibes_lsp.history.agent_trailers import AgentTrailer, read_agent_trailers
from vibes_lsp.history.file_versions import Version
from vibes_lsp.history.repository import Repository
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.model.members import Members

_MAX_KEPT: Final = 64
"""Files whose trailers are kept."""
_MAX_COMMITS: Final = 1 << 16
"""Commits whose trailers are kept."""


@dataclass(frozen=True, slots=True)
class FileTrailers:
    """The lines of a file that come from commits whose trailers name an agent.

    Attributes:
        text: The file as HEAD has it.
        lines: The trailers by line, 1-based.
    """

    text: Text
    lines: Mapping[int, AgentTrailer]

    def at(self, text: Text, line: int) -> AgentTrailer | None:
        """Return the trailer of a line of a text, which may have been edited since."""
        if not 1 <= line <= len(text.lines):
            return None
        if text.content == self.text.content:
            return self.lines.get(line)
        before = LineMap(self.text, text).old_line(line)
        return None if before is None else self.lines.get(before)

    def ranges(self, text: Text, without: Collection[int]) -> list[Members]:
        """Return the trailers of all lines of a text but some, as JSON."""
        line_map = LineMap(self.text, text)
        found: list[Members] = []
        previous: AgentTrailer | None = None
        for line in range(1, len(text.lines) + 1):
            before = None if line in without else line_map.old_line(line)
            trailer = None if before is None else self.lines.get(before)
            if trailer is not None and trailer == previous:
                found[-1]["lineEnd"] = line
            elif trailer is not None:
                found.append({"lineStart": line, "lineEnd": line, **trailer.as_json()})
            previous = trailer
        return found


class TrailerOverlay:
    """Reads the trailers of the commits that lines come from; for one thread at a time.

    Git blames only files that a commit with such a trailer changed, back to the oldest of these.

    Args:
        locator: The project's locator, which reads git's history.
    """

    def __init__(self, locator: ProjectLocator) -> None:
        self._locator = locator
        self._repository: Repository | None = None
        self._trailers: dict[str, AgentTrailer | None] = {}
        self._files: dict[str, tuple[Sequence[Version], FileTrailers | None]] = {}

    def of(self, paths: Collection[str]) -> dict[str, FileTrailers]:
        """Return the trailers of files; files without any are left out."""
        repository = self._locator.repository
        if repository is None:
            return {}
        if repository != self._repository:
            self._repository, self._trailers, self._files = repository, {}, {}
        found = {path: self._of_file(repository, path) for path in paths}
        return {path: each for path, each in found.items() if each is not None}

    def _of_file(self, repository: Repository, path: str) -> FileTrailers | None:
        versions = self._locator.file_versions(path)
        known = self._files.pop(path, None)
        if known is None or known[0] != versions:
            while len(self._files) >= _MAX_KEPT:
                del self._files[next(iter(self._files))]
            known = versions, self._blame(repository, path, versions)
        self._files[path] = known
        return known[1]

    def _blame(
        self, repository: Repository, path: str, versions: Sequence[Version]
    ) -> FileTrailers | None:
        trailers = self._read(repository, [each.commit for each in versions])
        moments = [each.moment for each in versions if each.commit in trailers]
        blame = self._locator.blame(path, min(moments)) if moments else None
        text = next((text for _, text in self._locator.versions_of(path)), None) if blame else None
        if blame is None or text is None:
            return None
        lines = {
            number: trailer
            for number, origin in enumerate(blame, 1)
            if origin is not None and (trailer := trailers.get(origin.commit)) is not None
        }
        return FileTrailers(text, lines) if lines else None

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
