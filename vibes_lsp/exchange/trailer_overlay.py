"""Show which agent a commit's trailers name, for lines that nothing better is known of.

A trailer is about a whole commit: some of its lines may be a person's. So it is labelled as such,
is no annotation, and counts nowhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from vibes_lsp.anchors.line_map import LineMap
from vibes_lsp.anchors.text import Text
from vibes_lsp.history.agent_trailers import AgentTrailer, read_agent_trailers
from vibes_lsp.history.blame import blame_file
from vibes_lsp.history.repository import Repository
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.model.members import Members

_MAX_KEPT: Final = 64
"""Files whose trailers are kept."""


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
        self._head: str | None = None
        self._repository: Repository | None = None
        self._trailers: dict[str, AgentTrailer] = {}
        self._files: dict[str, FileTrailers | None] = {}

    def of(self, paths: Collection[str]) -> dict[str, FileTrailers]:
        """Return the trailers of files; files without any are left out."""
        if not self._refresh():
            return {}
        found = {path: self._of_file(path) for path in paths}
        return {path: each for path, each in found.items() if each is not None}

    def _refresh(self) -> bool:
        """Read the trailers of new commits; return whether there are any."""
        repository, head = self._locator.repository, self._locator.head()
        if repository is None or head is None:
            return False
        if (repository, head) != (self._repository, self._head):
            known = self._head if repository == self._repository else None
            is_later = known is not None and repository.is_ancestor(known, head)
            new = read_agent_trailers(repository, head, known if is_later else None)
            self._repository, self._head = repository, head
            self._trailers = {**(self._trailers if is_later else {}), **(new or {})}
            self._files = {}
        return bool(self._trailers)

    def _of_file(self, path: str) -> FileTrailers | None:
        if path not in self._files:
            while len(self._files) >= _MAX_KEPT:
                del self._files[next(iter(self._files))]
            self._files[path] = self._blame(path)
        return self._files[path]

    def _blame(self, path: str) -> FileTrailers | None:
        moments = [
            each.moment
            for each in self._locator.file_versions(path)
            if each.commit in self._trailers
        ]
        if not moments or self._repository is None or self._head is None:
            return None
        name = self._repository.prefix_of(self._locator.trail.directory.project) + path
        blame = blame_file(self._repository, name, self._head, min(moments))
        text = next((text for _, text in self._locator.versions_of(path)), None)
        if blame is None or text is None:
            return None
        lines = {
            number: trailer
            for number, line in enumerate(blame.lines(), 1)
            if (trailer := self._trailers.get(line.commit)) is not None
        }
        return FileTrailers(text, lines) if lines else None
