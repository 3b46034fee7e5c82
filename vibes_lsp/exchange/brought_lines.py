"""What is said of commits, such as in their notes, shown for the lines that they brought (R31)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.text import Text
from vibes_lsp.history.file_versions import Version
from vibes_lsp.history.line_origins import LineOrigin
from vibes_lsp.index.project_locator import ProjectLocator

Said = TypeVar("Said")


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
        found: list[tuple[int, int, Said]] = []
        for line, said in self._lines_in(text).items():
            if line in without:
                continue
            last = found[-1] if found else None
            if last is not None and last[1] == line - 1 and last[2] == said:
                found[-1] = (last[0], line, said)
            else:
                found.append((line, line, said))
        return found

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


def brought_lines(
    locator: ProjectLocator,
    path: str,
    versions: Sequence[Version],
    said_of: Callable[[LineOrigin], Said | None],
) -> BroughtLines[Said] | None:
    """Return what is said of the lines of a file that commits brought; None if nothing.

    Git blames the file only back to the oldest of these commits.

    Args:
        locator: The project's locator.
        path: The file, relative to the project.
        versions: The versions of the file that those commits made of which something is said.
        said_of: Returns what is said of a line of a commit.
    """
    moments = [version.moment for version in versions]
    blame = locator.blame(path, min(moments)) if moments else None
    text = next((text for _, text in locator.versions_of(path)), None) if blame else None
    if blame is None or text is None:
        return None
    lines = {
        number: said
        for number, origin in enumerate(blame, 1)
        if origin is not None and (said := said_of(origin)) is not None
    }
    return BroughtLines(text, lines) if lines else None
