"""What is said of commits, such as in their notes, shown for the lines that they brought (R31)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Generic, TypeVar

from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.line_origins import LineOrigin, line_origins
from vibes_lsp.git.repository import Repository

Said = TypeVar("Said")

_FIRST_AGENTS: Final = datetime(2023, 1, 1, tzinfo=UTC)
"""No tool wrote the notes or trailers that we read before: git need not look at older commits."""


@dataclass(frozen=True, slots=True)
class BroughtLines(Generic[Said]):
    """What is said of the commits that brought the lines of a file.

    Attributes:
        text: The file as HEAD has it.
        lines: What is said of a line, by its number, 1-based.
    """

    text: Text
    lines: Mapping[int, Said]

    def at(self, text: Text, line: int) -> Said | None:
        """Return what is said of a line of a text, which may have been edited since."""
        return self._lines_in(text).get(line)

    def runs(self, text: Text, without: Collection[int]) -> list[tuple[int, int, Said]]:
        """Return neighbouring lines of which the same is said, first and last, but for some."""
        runs: list[tuple[int, int, Said]] = []
        for line, said in self._lines_in(text).items():
            if line in without:
                continue
            last = runs[-1] if runs else None
            if last is not None and last[1] == line - 1 and last[2] == said:
                runs[-1] = (last[0], line, said)
            else:
                runs.append((line, line, said))
        return runs

    def _lines_in(self, text: Text) -> Mapping[int, Said]:
        """Return what is said of the lines of a text, in order."""
        if text.content == self.text.content:
            return self.lines
        places = came_from(self.text.lines, text.lines)
        return {
            number: self.lines[place + 1]
            for number, place in enumerate(places, 1)
            if place + 1 in self.lines
        }


@dataclass(frozen=True, slots=True)
class BlamedFile:
    """A file as HEAD has it.

    Attributes:
        text: Its text.
        origins: Where its lines come from; None for those from before all agents.
    """

    text: Text
    origins: Sequence[LineOrigin | None]

    def brought(self, said_of: Callable[[LineOrigin], Said | None]) -> BroughtLines[Said] | None:
        """Return what is said of the lines; None if nothing."""
        lines = {
            number: said
            for number, origin in enumerate(self.origins, 1)
            if origin is not None and (said := said_of(origin)) is not None
        }
        return BroughtLines(self.text, lines) if lines else None


def committed_file(repository: Repository, project: Path, path: str) -> BlamedFile | None:
    """Return a file of a project as HEAD has it; None if HEAD has none, or git fails.

    Args:
        repository: The repository.
        project: The project's folder.
        path: The file, relative to it.
    """
    head, name = repository.head(), repository.prefix_of(project) + path
    content = None if head is None else repository.objects.contents(f"{head}:{name}")
    if head is None or content is None:
        return None
    try:
        origins = line_origins(repository, name, head, since=_FIRST_AGENTS)
    except HistoryUnavailable:
        return None
    return BlamedFile(Text.from_bytes(content), origins)
